// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

/** The keys of the family META: a letter, and for some a scope. */
final class Meta {
  /** The version of the layout. */
  static final byte[] FORMAT = {'F'};

  /** The last version that was given to a timer. */
  static final byte[] LAST_VERSION = {'V'};

  /** The epoch of the last session. */
  static final byte[] EPOCH = {'E'};

  /** Where the due index of the only shard begins. */
  static final byte[] DUE_FROM = {'D'};

  private static final int PAUSED = 'P';
  private static final int COUNTS = 'C';

  private Meta() {}

  static byte[] paused(String scope) {
    return new ByteWriter().u8(PAUSED).text(scope).toBytes();
  }

  static byte[] allPaused() {
    return new byte[] {PAUSED};
  }

  static byte[] counts(String namespace) {
    return new ByteWriter().u8(COUNTS).text(namespace).toBytes();
  }

  static byte[] allCounts() {
    return new byte[] {COUNTS};
  }

  /** The namespace of one of these keys. */
  static String scope(byte[] key) {
    return Text.read(key, 1, key.length);
  }

  static byte[] number(long value) {
    return new ByteWriter().u8(1).fixed64(value).toBytes();
  }

  static long number(byte[] bytes) {
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
