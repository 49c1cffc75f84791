// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.format;

import java.nio.charset.StandardCharsets;

/**
 * Encodes texts: each UTF-16 code unit is encoded like a character in UTF-8. The result equals
 * UTF-8 except for characters above U+FFFF, which take six bytes (known as CESU-8). Unlike UTF-8,
 * the bytes sort like {@link String#compareTo}. Every string decodes to itself, even with unpaired
 * surrogates.
 *
 * <p>A <em>terminated</em> text ends with a zero byte. The code units 0 and 1 in it are encoded as
 * 1 1 and 1 2. So it contains no other zero, and keeps its order. A terminated text therefore sorts
 * before all texts of which it is a prefix, whatever follows it.
 */
public final class Text {
  private static final int END = 0;
  private static final int ESCAPE = 1;

  private Text() {}

  public static int lengthOf(String text) {
    int length = text.length();
    for (int i = 0; i < text.length(); i++) {
      char unit = text.charAt(i);
      length += unit < 0x80 ? 0 : unit < 0x800 ? 1 : 2;
    }
    return length;
  }

  /** Writes a text and returns the position after it. */
  public static int write(String text, byte[] to, int position) {
    int at = position;
    for (int i = 0; i < text.length(); i++) {
      char unit = text.charAt(i);
      if (unit < 0x80) {
        to[at++] = (byte) unit;
      } else {
        at = writeWide(unit, to, at);
      }
    }
    return at;
  }

  /** Writes a terminated text and returns the position after it. */
  public static int writeTerminated(String text, byte[] to, int position) {
    int at = position;
    for (int i = 0; i < text.length(); i++) {
      char unit = text.charAt(i);
      if (unit <= ESCAPE) {
        to[at++] = ESCAPE;
        to[at++] = (byte) (unit + 1);
      } else if (unit < 0x80) {
        to[at++] = (byte) unit;
      } else {
        at = writeWide(unit, to, at);
      }
    }
    to[at++] = END;
    return at;
  }

  private static int writeWide(char unit, byte[] to, int position) {
    int at = position;
    if (unit < 0x800) {
      to[at++] = (byte) (0xc0 | (unit >> 6));
    } else {
      to[at++] = (byte) (0xe0 | (unit >> 12));
      to[at++] = (byte) (0x80 | ((unit >> 6) & 0x3f));
    }
    to[at++] = (byte) (0x80 | (unit & 0x3f));
    return at;
  }

  /** Reads a range of bytes as a text. */
  public static String read(byte[] from, int start, int end) {
    for (int i = start; i < end; i++) {
      if (from[i] < 0) {
        return readWide(from, start, end, false);
      }
    }
    return new String(from, start, end - start, StandardCharsets.ISO_8859_1);
  }

  /** Returns the position of the zero that ends a terminated text. */
  public static int endOf(byte[] from, int start) {
    for (int i = start; i < from.length; i++) {
      if (from[i] == END) {
        return i;
      }
    }
    throw new MalformedException("a text without an end");
  }

  /** Reads a terminated text, without its zero. */
  public static String readTerminated(byte[] from, int start, int end) {
    for (int i = start; i < end; i++) {
      if (from[i] <= ESCAPE) {
        return readWide(from, start, end, true);
      }
    }
    return new String(from, start, end - start, StandardCharsets.ISO_8859_1);
  }

  private static String readWide(byte[] from, int start, int end, boolean escaped) {
    StringBuilder text = new StringBuilder(end - start);
    int at = start;
    while (at < end) {
      int first = from[at++] & 0xff;
      int unit;
      if (escaped && first == ESCAPE) {
        unit = continued(from, at++, end) - 1;
      } else if (first < 0x80) {
        unit = first;
      } else if (first >> 5 == 0b110) {
        unit = (first & 0x1f) << 6 | (continued(from, at++, end) & 0x3f);
      } else if (first >> 4 == 0b1110) {
        unit = (first & 0xf) << 12 | (continued(from, at++, end) & 0x3f) << 6;
        unit |= continued(from, at++, end) & 0x3f;
      } else {
        throw new MalformedException("a byte " + first + " in a text");
      }
      text.append((char) unit);
    }
    return text.toString();
  }

  private static int continued(byte[] from, int at, int end) {
    if (at >= end) {
      throw new MalformedException("a text that ends within a character");
    }
    return from[at] & 0xff;
  }
}
