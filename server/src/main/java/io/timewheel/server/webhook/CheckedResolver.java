// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.eclipse.jetty.util.Promise;
import org.eclipse.jetty.util.SocketAddressResolver;

/**
 * Resolves the host of each connection, and hands on only what the policy admits: the client
 * connects to the very addresses that were checked.
 *
 * <p>A look-up blocks its thread, for many seconds if no name server answers. All calls to a host
 * that come meanwhile share it, so that a host without an answer holds one thread and not all.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what is made of a look-up fails with it
final class CheckedResolver implements SocketAddressResolver {
  private final AddressPolicy policy;
  private final Executor executor;
  private final NameService names;
  private final Map<String, CompletableFuture<List<InetAddress>>> underWay =
      new ConcurrentHashMap<>();

  /** What knows the addresses of a host. */
  interface NameService {
    /** Blocks. */
    InetAddress[] lookup(String host) throws UnknownHostException;
  }

  CheckedResolver(AddressPolicy policy, Executor executor, NameService names) {
    this.policy = policy;
    this.executor = executor;
    this.names = names;
  }

  @Override
  public void resolve(
      String host,
      int port,
      Map<String, Object> context,
      Promise<List<InetSocketAddress>> promise) {
    lookup(host)
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

  private CompletableFuture<List<InetAddress>> lookup(String host) {
    CompletableFuture<List<InetAddress>> mine = new CompletableFuture<>();
    CompletableFuture<List<InetAddress>> other = underWay.putIfAbsent(host, mine);
    if (other != null) {
      return other;
    }
    mine.whenComplete((addresses, error) -> underWay.remove(host, mine));
    try {
      executor.execute(
          () -> {
            try {
              mine.complete(admitted(host));
            } catch (Throwable e) {
              mine.completeExceptionally(e);
            }
          });
    } catch (RuntimeException | Error e) { // no thread to be had
      mine.completeExceptionally(e);
    }
    return mine;
  }

  private List<InetAddress> admitted(String host) throws IOException {
    List<InetAddress> admitted = Stream.of(names.lookup(host)).filter(policy::admits).toList();
    if (admitted.isEmpty()) {
      throw new RefusedAddressException(host);
    }
    return admitted;
  }
}
