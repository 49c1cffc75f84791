// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.format;

import io.timewheel.durable.spi.format.ByteReader;
import io.timewheel.durable.spi.format.ByteWriter;
import io.timewheel.durable.spi.format.MalformedException;
import io.timewheel.durable.spi.format.Text;

/** Creates the keys of the family META: a letter, and for some keys a scope. */
public final class Meta {
  private static final int PAUSED = 'P';
  private static final int COUNTS = 'C';

  private Meta() {}

  /** {@return the key of the version of the layout} */
  public static byte[] format() {
    return new byte[] {'F'};
  }

  /** {@return the key of the last version that a timer got} */
  public static byte[] lastVersion() {
    return new byte[] {'V'};
  }

  /** {@return the key of the epoch of the last session} */
  public static byte[] epoch() {
    return new byte[] {'E'};
  }

  /** {@return the key of the first position of the due index} */
  public static byte[] dueFrom() {
    return new byte[] {'D'};
  }

  public static byte[] paused(String scope) {
    return new ByteWriter().u8(PAUSED).text(scope).toBytes();
  }

  public static byte[] allPaused() {
    return new byte[] {PAUSED};
  }

  public static byte[] counts(String namespace) {
    return new ByteWriter().u8(COUNTS).text(namespace).toBytes();
  }

  public static byte[] allCounts() {
    return new byte[] {COUNTS};
  }

  /** {@return the namespace in one of these keys} */
  public static String scope(byte[] key) {
    return Text.read(key, 1, key.length);
  }

  public static byte[] number(long value) {
    return new ByteWriter().u8(1).fixed64(value).toBytes();
  }

  public static long number(byte[] bytes) {
    ByteReader from = new ByteReader(bytes);
    int format = from.u8();
    if (format != 1) {
      throw new MalformedException("a number of format " + format);
    }
    long value = from.fixed64();
    from.end();
    return value;
  }
}
