// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.format;

import java.util.Arrays;

/** Appends numbers and text to a growing array. Not thread-safe; {@link #reset} reuses it. */
public final class ByteWriter {
  private byte[] bytes = new byte[256];
  private int length;

  public ByteWriter reset() {
    length = 0;
    return this;
  }

  public byte[] toBytes() {
    return Arrays.copyOf(bytes, length);
  }

  private void reserve(int more) {
    if (bytes.length - length < more) {
      bytes = Arrays.copyOf(bytes, Math.max(length + more, 2 * bytes.length));
    }
  }

  public ByteWriter u8(int value) {
    reserve(1);
    bytes[length++] = (byte) value;
    return this;
  }

  public ByteWriter u16(int value) {
    return u8(value >>> 8).u8(value);
  }

  /** Writes eight bytes, the most significant first. */
  public ByteWriter fixed64(long value) {
    reserve(8);
    for (int shift = 56; shift >= 0; shift -= 8) {
      bytes[length++] = (byte) (value >>> shift);
    }
    return this;
  }

  /** Writes eight bytes that sort like the signed number. */
  public ByteWriter ordered64(long value) {
    return fixed64(value ^ Long.MIN_VALUE);
  }

  /** Writes one to ten bytes with seven bits each, the least significant first. */
  public ByteWriter unsigned(long value) {
    reserve(10);
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      bytes[length++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[length++] = (byte) rest;
    return this;
  }

  /** Writes a number like {@link #unsigned}, but keeps small negative numbers short too. */
  public ByteWriter signed(long value) {
    return unsigned((value << 1) ^ (value >> 63));
  }

  public ByteWriter raw(byte[] value) {
    reserve(value.length);
    System.arraycopy(value, 0, bytes, length, value.length);
    length += value.length;
    return this;
  }

  public ByteWriter sized(byte[] value) {
    return unsigned(value.length).raw(value);
  }

  public ByteWriter sized(String value) {
    return unsigned(Text.lengthOf(value)).text(value);
  }

  /** Writes a text without an end mark, as the last element. */
  public ByteWriter text(String value) {
    reserve(3 * value.length());
    length = Text.write(value, bytes, length);
    return this;
  }

  /** Writes a text and an end mark, so that other elements of a key can follow. */
  public ByteWriter terminated(String value) {
    reserve(3 * value.length() + 1);
    length = Text.writeTerminated(value, bytes, length);
    return this;
  }
}
