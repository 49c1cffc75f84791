// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import io.timewheel.server.settings.Cidr;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.eclipse.jetty.client.Destination;
import org.eclipse.jetty.util.Promise;
import org.eclipse.jetty.util.SocketAddressResolver;
import org.jspecify.annotations.Nullable;

/**
 * Resolves the host of each connection, and returns only addresses that the policy admits. The
 * client connects to exactly the checked addresses.
 *
 * <p>All deliveries of a namespace to a host share one lookup. So a host whose name server does not
 * answer occupies only one thread.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the callers receive the failure of the lookup
final class CheckedResolver implements SocketAddressResolver {
  private final AddressPolicy policy;
  private final Lookups lookups;
  private final NameService names;
  private final Map<Name, Lookup> underWay = new ConcurrentHashMap<>();

  /** Looks up the addresses of a host. */
  interface NameService {
    /** Blocks until a name server answers. */
    InetAddress[] lookup(String host) throws UnknownHostException;
  }

  private record Name(String namespace, String host) {
    Name {
      host = host.toLowerCase(Locale.ROOT); // as the client asks for it
    }
  }

  /** A lookup that waits for a thread or for a name server. */
  private static final class Lookup {
    final CompletableFuture<List<InetAddress>> addresses = new CompletableFuture<>();
    volatile boolean begun;
  }

  CheckedResolver(AddressPolicy policy, Lookups lookups, NameService names) {
    this.policy = policy;
    this.lookups = lookups;
    this.names = names;
  }

  /** Resolves an address. The tag of the destination is the namespace. */
  @Override
  public void resolve(
      String host,
      int port,
      Map<String, Object> context,
      Promise<List<InetSocketAddress>> promise) {
    Destination destination = (Destination) context.get(Destination.CONTEXT_KEY);
    Object namespace = destination == null ? null : destination.getOrigin().getTag();
    lookup(new Name(String.valueOf(namespace), host))
        .whenComplete(
            (addresses, error) -> {
              if (error == null) {
                promise.succeeded(
                    addresses.stream().map(a -> new InetSocketAddress(a, port)).toList());
              } else {
                promise.failed(error instanceof CompletionException ? error.getCause() : error);
              }
            });
  }

  private CompletableFuture<List<InetAddress>> lookup(Name name) {
    Lookup mine = new Lookup();
    InetAddress literal = Cidr.address(withoutBrackets(name.host));
    if (literal != null) { // needs no name server
      complete(mine, name.host, host -> new InetAddress[] {literal});
      return mine.addresses;
    }
    Lookup other = underWay.putIfAbsent(name, mine);
    if (other != null) {
      return other.addresses;
    }
    mine.addresses.whenComplete((addresses, error) -> underWay.remove(name, mine));
    lookups.execute(
        name.namespace,
        () -> {
          mine.begun = true;
          complete(mine, name.host, names);
        },
        () -> mine.addresses.completeExceptionally(new NoSlotException()));
    return mine.addresses;
  }

  /** {@return the host; the client encloses IPv6 addresses in brackets} */
  private static String withoutBrackets(String host) {
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }

  /** {@return whether a lookup has started; null if there is none} */
  @Nullable Boolean hasBegun(String namespace, String host) {
    Lookup lookup = underWay.get(new Name(namespace, host));
    return lookup == null ? null : lookup.begun;
  }

  private void complete(Lookup lookup, String host, NameService service) {
    try {
      List<InetAddress> admitted = Stream.of(service.lookup(host)).filter(policy::admits).toList();
      if (admitted.isEmpty()) {
        throw new RefusedAddressException();
      }
      lookup.addresses.complete(admitted);
    } catch (Throwable e) {
      lookup.addresses.completeExceptionally(e);
    }
  }
}
