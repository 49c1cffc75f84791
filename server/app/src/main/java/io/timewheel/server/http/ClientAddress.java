// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.settings.Cidr;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.HexFormat;
import java.util.List;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/**
 * Finds the address of a client behind trusted proxies.
 *
 * <p>Each proxy appends the address of its own client to {@code X-Forwarded-For}. So the list is
 * read from its end, as long as each address is that of a trusted proxy. The client may have
 * invented all entries before that.
 */
final class ClientAddress {
  private final List<Cidr> trustedProxies;

  ClientAddress(List<Cidr> trustedProxies) {
    this.trustedProxies = trustedProxies;
  }

  /**
   * The client of a request.
   *
   * @param address its address, in the form of the logs
   * @param network its address; the /64 network of an IPv6 address
   */
  record Client(String address, String network) {}

  Client of(Request request) {
    InetAddress peer =
        request.getConnectionMetaData().getRemoteSocketAddress() instanceof InetSocketAddress socket
            ? socket.getAddress()
            : null;
    if (peer == null) {
      String unknown = String.valueOf(Request.getRemoteAddr(request));
      return new Client(unknown, unknown);
    }
    InetAddress found =
        isTrusted(peer)
            ? find(peer, request.getHeaders().getValuesList(HttpHeader.X_FORWARDED_FOR))
            : peer;
    return new Client(found.getHostAddress(), network(found));
  }

  /** {@return the last address that does not belong to a trusted proxy} */
  InetAddress find(InetAddress peer, List<String> forwarded) {
    String[] hops = String.join(",", forwarded).split(",", -1);
    InetAddress found = peer;
    for (int i = hops.length - 1; i >= 0 && isTrusted(found); i--) {
      InetAddress hop = address(hops[i].strip());
      if (hop == null) {
        break;
      }
      found = hop;
    }
    return found;
  }

  /**
   * {@return the address of a client, or the /64 network of an IPv6 address: a host has them all}
   */
  static String network(InetAddress address) {
    return address instanceof Inet6Address
        ? HexFormat.of().formatHex(address.getAddress(), 0, 8) + "/64"
        : address.getHostAddress();
  }

  /** {@return the network at the other end of a connection; null for a trusted proxy} */
  @Nullable String networkOf(@Nullable SocketAddress peer) {
    return peer instanceof InetSocketAddress socket && !isTrusted(socket.getAddress())
        ? network(socket.getAddress())
        : null;
  }

  private boolean isTrusted(InetAddress address) {
    for (Cidr block : trustedProxies) {
      if (block.contains(address)) {
        return true;
      }
    }
    return false;
  }

  /** Parses an address that may have a port: {@code 192.0.2.1:443} or {@code [2001:db8::1]:443}. */
  private static @Nullable InetAddress address(String hop) {
    int colon = hop.lastIndexOf(':');
    if (hop.startsWith("[")) {
      int end = hop.indexOf(']');
      return end < 0 ? null : Cidr.address(hop.substring(1, end));
    }
    boolean port = colon >= 0 && colon == hop.indexOf(':');
    return Cidr.address(port ? hop.substring(0, colon) : hop);
  }
}
