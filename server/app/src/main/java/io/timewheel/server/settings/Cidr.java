// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A block of addresses, such as {@code 10.0.0.0/8} or {@code fc00::/7}, or a single address. */
public final class Cidr {
  private static final String OCTET = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";

  /** Matches only valid addresses. Java would look up four invalid numbers at a name server. */
  private static final Pattern IPV4 = Pattern.compile(OCTET + "(\\." + OCTET + "){3}");

  private static final Pattern IPV6 = Pattern.compile("[0-9a-fA-F:]*:[0-9a-fA-F:.]*");
  private static final Pattern LENGTH = Pattern.compile("\\d{1,3}");

  private final String text;
  private final byte[] address;
  private final int bits;

  private Cidr(String text, byte[] address, int bits) {
    this.text = text;
    this.address = address;
    this.bits = bits;
  }

  /**
   * Parses a block without a name server.
   *
   * @throws IllegalArgumentException if the text is not a block
   */
  public static Cidr parse(String text) {
    int slash = text.indexOf('/');
    byte[] address = literal(text, slash < 0 ? text : text.substring(0, slash));
    String length = slash < 0 ? String.valueOf(8 * address.length) : text.substring(slash + 1);
    if (!LENGTH.matcher(length).matches() || Integer.parseInt(length) > 8 * address.length) {
      throw refused(text);
    }
    int bits = Integer.parseInt(length);
    for (int bit = bits; bit < 8 * address.length; bit++) {
      if (isSet(address, bit)) {
        throw new IllegalArgumentException(
            "address block: " + text + " has bits set after its prefix");
      }
    }
    return new Cidr(text, address, bits);
  }

  private static byte[] literal(String text, String address) {
    InetAddress read = address(address);
    if (read == null) {
      throw refused(text);
    }
    return read.getAddress();
  }

  /** {@return an address, parsed without a name server; null for another text, such as a name} */
  public static @Nullable InetAddress address(String text) {
    if (!IPV4.matcher(text).matches() && !IPV6.matcher(text).matches()) {
      return null;
    }
    try {
      return InetAddress.getByName(text);
    } catch (UnknownHostException e) {
      return null;
    }
  }

  private static IllegalArgumentException refused(String text) {
    return new IllegalArgumentException(
        "address block: " + text + " (expected: one like 10.0.0.0/8 or fc00::/7)");
  }

  /** {@return whether this block contains an address} */
  public boolean contains(InetAddress other) {
    byte[] bytes = other.getAddress();
    if (bytes.length != address.length) {
      return false;
    }
    for (int bit = 0; bit < bits; bit++) {
      if (isSet(bytes, bit) != isSet(address, bit)) {
        return false;
      }
    }
    return true;
  }

  /** {@return the block as it was written} */
  @Override
  public String toString() {
    return text;
  }

  private static boolean isSet(byte[] bytes, int bit) {
    return (bytes[bit >> 3] & 0x80 >> (bit & 7)) != 0;
  }
}
