// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.format;

import java.util.Arrays;

/**
 * Reads bytes that {@link ByteWriter} wrote. Any other bytes cause a {@link MalformedException},
 * never another exception, and never an allocation larger than the input.
 */
public final class ByteReader {
  private final byte[] bytes;
  private int at;

  public ByteReader(byte[] bytes) {
    this.bytes = bytes;
  }

  public int left() {
    return bytes.length - at;
  }

  /** Throws if there are unread bytes. */
  public void end() {
    if (left() != 0) {
      throw new MalformedException(left() + " bytes too many");
    }
  }

  private int take(long count) {
    if (count < 0 || count > left()) {
      throw new MalformedException(count + " bytes expected at " + at + ", " + left() + " left");
    }
    int start = at;
    at += (int) count;
    return start;
  }

  public int u8() {
    return bytes[take(1)] & 0xff;
  }

  public <E extends Enum<E>> E constant(Codes<E> codes) {
    try {
      return codes.at(u8());
    } catch (IllegalArgumentException e) {
      throw new MalformedException(String.valueOf(e.getMessage()));
    }
  }

  public int u16() {
    return u8() << 8 | u8();
  }

  public long fixed64() {
    int start = take(8);
    long value = 0;
    for (int i = 0; i < 8; i++) {
      value = value << 8 | (bytes[start + i] & 0xff);
    }
    return value;
  }

  public long ordered64() {
    return fixed64() ^ Long.MIN_VALUE;
  }

  public long unsigned() {
    long value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      int next = u8();
      value |= (long) (next & 0x7f) << shift;
      if (next < 0x80) {
        return value;
      }
    }
    throw new MalformedException("a number without an end at " + at);
  }

  public long signed() {
    long value = unsigned();
    return (value >>> 1) ^ -(value & 1);
  }

  /** Reads a number that fits into an int. */
  public int unsignedInt() {
    long value = unsigned();
    if (value < 0 || value > Integer.MAX_VALUE) {
      throw new MalformedException("a number of " + Long.toUnsignedString(value) + " at " + at);
    }
    return (int) value;
  }

  /** Reads the number of the elements that follow. Each element has at least one byte. */
  public int count() {
    int count = unsignedInt();
    if (count > left()) {
      throw new MalformedException(count + " elements, and " + left() + " bytes left");
    }
    return count;
  }

  public byte[] sized() {
    int start = take(unsigned());
    return Arrays.copyOfRange(bytes, start, at);
  }

  public String sizedText() {
    int start = take(unsigned());
    return Text.read(bytes, start, at);
  }

  public String terminated() {
    int start = at;
    int end = Text.endOf(bytes, start);
    at = end + 1;
    return Text.readTerminated(bytes, start, end);
  }

  /** Reads the remaining bytes as a text. */
  public String text() {
    int start = take(left());
    return Text.read(bytes, start, at);
  }
}
