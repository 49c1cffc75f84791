// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import io.timewheel.server.settings.Cidr;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.stream.Stream;

/**
 * Decides which addresses a webhook request may connect to: those of the public internet, and those
 * that the operator admits. The policy checks the resolved addresses of the connection itself. So
 * it also refuses a name that resolves to an internal address, even if its first lookup returned
 * another one.
 */
public final class AddressPolicy {
  /**
   * The addresses outside the public internet, by the IANA registries of special addresses. Blocks
   * that embed an IPv4 address are refused completely; a mapped address counts as its IPv4 address.
   */
  private static final List<Cidr> REFUSED =
      Stream.of(
              "0.0.0.0/8", // this network, unspecified
              "10.0.0.0/8", // private
              "100.64.0.0/10", // carrier-grade NAT
              "127.0.0.0/8", // loopback
              "169.254.0.0/16", // link-local, and cloud metadata
              "172.16.0.0/12", // private
              "192.0.0.0/24", // protocol assignments
              "192.0.2.0/24", // documentation
              "192.88.99.0/24", // 6to4 relays
              "192.168.0.0/16", // private
              "198.18.0.0/15", // benchmarks
              "198.51.100.0/24", // documentation
              "203.0.113.0/24", // documentation
              "224.0.0.0/4", // multicast
              "240.0.0.0/4", // reserved, broadcast
              "::/96", // unspecified, loopback, compatible
              "::ffff:0:0:0/96", // IPv4-translated
              "64:ff9b::/96", // NAT64
              "64:ff9b:1::/48", // NAT64, local
              "100::/64", // discard
              "2001::/23", // protocol assignments: Teredo, benchmarks, ORCHID
              "2001:db8::/32", // documentation
              "2002::/16", // 6to4
              "3fff::/20", // documentation
              "5f00::/16", // segment routing
              "fc00::/7", // unique local
              "fe80::/10", // link-local
              "fec0::/10", // site-local
              "ff00::/8") // multicast
          .map(Cidr::parse)
          .toList();

  private final List<Cidr> admitted;

  private AddressPolicy(List<Cidr> admitted) {
    this.admitted = List.copyOf(admitted);
  }

  /** {@return a policy that also admits blocks that are not on the public internet} */
  public static AddressPolicy admitting(List<Cidr> admitted) {
    return new AddressPolicy(admitted);
  }

  /** {@return whether a webhook request may connect to a resolved address} */
  public boolean admits(InetAddress address) {
    InetAddress plain = unmapped(address);
    return admitted.stream().anyMatch(block -> block.contains(plain))
        || REFUSED.stream().noneMatch(block -> block.contains(plain));
  }

  /**
   * Returns the IPv4 address of a mapped address, to which the system connects. A lookup by name
   * may return a mapped address.
   */
  private static InetAddress unmapped(InetAddress address) {
    try {
      return InetAddress.getByAddress(address.getAddress());
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address has 4 or 16 bytes", e);
    }
  }
}
