// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import io.timewheel.server.settings.Cidr;
import java.net.InetAddress;
import java.util.List;
import java.util.stream.Stream;

/**
 * Which addresses a call may connect to: those of the public internet, and what the operator
 * admits. It is asked about the resolved addresses of the connection itself, so that neither a name
 * that resolves to an inner address nor one that resolves differently the second time gets past it.
 */
public final class AddressPolicy {
  /**
   * What is not the public internet, by the registries of special addresses of the IANA. Blocks
   * that wrap an IPv4 address are refused whole. (The JDK unwraps mapped addresses itself; their
   * block stands here for one that would not.)
   */
  private static final List<Cidr> REFUSED =
      Stream.of(
              "0.0.0.0/8", // this network, unspecified
              "10.0.0.0/8", // private
              "100.64.0.0/10", // carriers' own
              "127.0.0.0/8", // loopback
              "169.254.0.0/16", // link-local, and the metadata of clouds
              "172.16.0.0/12", // private
              "192.0.0.0/24", // protocols
              "192.0.2.0/24", // documentation
              "192.88.99.0/24", // 6to4 relays
              "192.168.0.0/16", // private
              "198.18.0.0/15", // benchmarks
              "198.51.100.0/24", // documentation
              "203.0.113.0/24", // documentation
              "224.0.0.0/4", // multicast
              "240.0.0.0/4", // reserved, broadcast
              "::/96", // unspecified, loopback, compatible
              "64:ff9b::/96", // NAT64
              "64:ff9b:1::/48", // NAT64, local
              "100::/64", // discard
              "2001::/23", // protocols: Teredo, benchmarks, ORCHID
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

  /**
   * Makes a policy.
   *
   * @param admitted blocks that are admitted although they are not the public internet
   * @return the policy
   */
  public static AddressPolicy admitting(List<Cidr> admitted) {
    return new AddressPolicy(admitted);
  }

  /**
   * Whether a call may connect to an address.
   *
   * @param address the resolved address
   * @return true if it may
   */
  public boolean admits(InetAddress address) {
    return admitted.stream().anyMatch(block -> block.contains(address))
        || REFUSED.stream().noneMatch(block -> block.contains(address));
  }
}
