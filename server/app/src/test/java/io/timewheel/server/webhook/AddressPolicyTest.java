// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.server.settings.Cidr;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@SuppressWarnings("AddressSelection") // of literals
final class AddressPolicyTest {
  private static final AddressPolicy PUBLIC = AddressPolicy.admitting(List.of());

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0.0.0.0",
        "0.1.2.3",
        "10.255.255.255",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "198.19.255.255",
        "224.0.0.1",
        "239.255.255.255",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:a00:1",
        "::ffff:0:7f00:1",
        "::ffff:0:a9fe:a9fe",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2001::1",
        "2002:7f00:1::",
        "fc00::1",
        "fdff::1",
        "fe80::1",
        "fec0::1",
        "ff02::1"
      })
  void refusesAddressesOutsideThePublicInternet(String address) throws UnknownHostException {
    assertThat(PUBLIC.admits(InetAddress.getByName(address))).isFalse();
  }

  /** A lookup by name returns a mapped address as it is, unlike a parser of literals. */
  @Test
  void aMappedAddressCountsAsItsIpv4Address() throws UnknownHostException {
    assertThat(PUBLIC.admits(mapped(169, 254, 169, 254))).isFalse();
    assertThat(PUBLIC.admits(mapped(1, 1, 1, 1))).isTrue();
    assertThat(
            AddressPolicy.admitting(List.of(Cidr.parse("10.1.0.0/16"))).admits(mapped(10, 1, 2, 3)))
        .isTrue();
  }

  private static InetAddress mapped(int... ipv4) throws UnknownHostException {
    byte[] bytes = new byte[16];
    bytes[10] = -1;
    bytes[11] = -1;
    for (int i = 0; i < 4; i++) {
      bytes[12 + i] = (byte) ipv4[i];
    }
    InetAddress address = Inet6Address.getByAddress("name", bytes, -1);
    assertThat(address.getAddress()).hasSize(16);
    return address;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "223.255.255.255",
        "2606:4700:4700::1111",
        "2001:4860:4860::8888",
        "fbff::1"
      })
  void admitsThePublicInternet(String address) throws UnknownHostException {
    assertThat(PUBLIC.admits(InetAddress.getByName(address))).isTrue();
  }

  @Test
  void admitsOnlyTheBlocksOfTheOperator() throws UnknownHostException {
    AddressPolicy policy =
        AddressPolicy.admitting(List.of(Cidr.parse("10.1.0.0/16"), Cidr.parse("::1")));

    assertThat(policy.admits(InetAddress.getByName("10.1.255.255"))).isTrue();
    assertThat(policy.admits(InetAddress.getByName("10.2.0.0"))).isFalse();
    assertThat(policy.admits(InetAddress.getByName("::1"))).isTrue();
    assertThat(policy.admits(InetAddress.getByName("127.0.0.1"))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/8",
        "localhost",
        "example.org/8",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/-1",
        "10.0.0.0/8/8",
        "10.1/16",
        "300.0.0.0/8",
        "fc00/7",
        "fc00::/129",
        "dead"
      })
  void refusesAMalformedBlock(String text) {
    assertThatThrownBy(() -> Cidr.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("address block: " + text + " (expected: one like 10.0.0.0/8 or fc00::/7)");
  }

  @Test
  void refusesABlockWithBitsBehindItsPrefix() {
    assertThatThrownBy(() -> Cidr.parse("10.0.0.1/8"))
        .hasMessage("address block: 10.0.0.1/8 has bits set after its prefix");
  }

  @Test
  void acceptsTheWholeAddressSpace() throws UnknownHostException {
    AddressPolicy policy =
        AddressPolicy.admitting(List.of(Cidr.parse("0.0.0.0/0"), Cidr.parse("::/0")));

    assertThat(policy.admits(InetAddress.getByName("127.0.0.1"))).isTrue();
    assertThat(policy.admits(InetAddress.getByName("fe80::1"))).isTrue();
  }
}
