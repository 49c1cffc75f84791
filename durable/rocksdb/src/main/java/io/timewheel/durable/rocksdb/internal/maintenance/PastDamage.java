// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.maintenance;

import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Family;
import java.math.BigInteger;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/**
 * Reads a family from its beginning to its end, and goes on behind what cannot be read.
 *
 * <p>RocksDB ends a scan at a block that it cannot read, and does not say where the next one
 * begins; but a seek to a key behind it goes well. So the next key is searched for: in steps from
 * the last key that was read, each twice as long as the one before, and then between the last two.
 * That finds the first key behind the damage. If there is more damage within the last step, what
 * lies between the two may be passed over as well.
 *
 * <p>No scan passes what is damaged in one table and older in another: an outdated value is never
 * taken for the last one.
 */
class PastDamage {
  /** No key is longer, and none begins with a byte of 255. */
  private static final int KEY_BYTES = 1_450;

  private static final BigInteger END =
      BigInteger.ONE.shiftLeft(8 * KEY_BYTES).subtract(BigInteger.ONE);

  private static final byte[] NONE = {};

  private final Database database;
  private final Family family;
  private final ReadOptions options;
  private final Runnable check;

  /**
   * Prepares a scan.
   *
   * @param check called again and again, to end it early by an exception
   */
  PastDamage(Database database, Family family, ReadOptions options, Runnable check) {
    this.database = database;
    this.family = family;
    this.options = options;
    this.check = check;
  }

  /** Notified of what cannot be read, in the order of the keys. */
  interface Gaps {
    /**
     * There may be entries between two keys, and they cannot be read.
     *
     * @param behind the last key before them; null if there is none
     * @param before the first key behind them; null if there is none
     */
    void add(byte @Nullable [] behind, byte @Nullable [] before, RocksDBException why);
  }

  /**
   * Scans. Each pass begins behind the one before, even if it has read nothing, because a disk may
   * fail a scan where it has just answered a search.
   */
  void scan(Database.Visitor visitor, Gaps gaps) throws RocksDBException {
    byte[] from = NONE;
    byte[] last = null;
    RocksDBException gap = null;
    while (from != null) {
      RocksDBException why;
      try (RocksIterator at = seek(from)) {
        for (; at.isValid(); at.next()) {
          check.run();
          byte[] key = at.key();
          if (gap != null) {
            gaps.add(last, key, gap);
            gap = null;
          }
          if (!visitor.visit(at)) {
            return;
          }
          last = key;
        }
        why = failure(at);
      }
      if (why == null) {
        break;
      }
      gap = gap == null ? why : gap;
      byte[] bad = last == null || Arrays.compareUnsigned(from, last) > 0 ? from : last;
      from = behindDamage(bad.length == 0 ? first() : bad);
    }
    if (gap != null) {
      gaps.add(last, null, gap);
    }
  }

  RocksIterator seek(byte[] key) {
    RocksIterator at = database.db().newIterator(database.handle(family), options);
    at.seek(key);
    return at;
  }

  private static @Nullable RocksDBException failure(RocksIterator at) {
    try {
      at.status();
      return null;
    } catch (RocksDBException e) {
      return e;
    }
  }

  /** In front of all that is in table files. */
  private byte[] first() {
    byte[] first = null;
    for (LiveFileMetaData file : database.db().getLiveFilesMetaData()) {
      boolean ours = Arrays.equals(file.columnFamilyName(), family.bytes());
      if (ours && (first == null || Arrays.compareUnsigned(file.smallestKey(), first) < 0)) {
        first = file.smallestKey();
      }
    }
    return first == null ? new byte[0] : first;
  }

  /** Returns the first key behind damage that begins here; null if there is none. */
  private byte @Nullable [] behindDamage(byte[] key) {
    BigInteger bad = new BigInteger(1, Arrays.copyOf(key, KEY_BYTES));
    BigInteger step = leastStep(key.length);
    BigInteger good = bad.add(step);
    byte[] found = null;
    while (good.compareTo(END) < 0 && (found = find(good)) == null) {
      bad = good;
      step = step.shiftLeft(1);
      good = bad.add(step);
    }
    if (found == null) {
      good = END;
      found = NONE;
    }
    while (good.subtract(bad).compareTo(leastStep(Math.max(key.length, found.length))) > 0) {
      BigInteger middle = bad.add(good).shiftRight(1);
      byte[] at = find(middle);
      if (at == null) {
        bad = middle;
      } else {
        good = middle;
        found = at;
      }
    }
    return found.length == 0 ? null : found;
  }

  /** Shorter than between most keys that are as long. */
  private static BigInteger leastStep(int length) {
    return BigInteger.ONE.shiftLeft(8 * Math.max(0, KEY_BYTES - length - 2));
  }

  /**
   * Returns the first key at or behind a position, {@link #NONE} if there is none, null if it
   * cannot be read. With an iterator of its own: one that has met damage tells of it for ever.
   */
  private byte @Nullable [] find(BigInteger position) {
    check.run();
    try (RocksIterator at = seek(bytes(position))) {
      return failure(at) != null ? null : at.isValid() ? at.key() : NONE;
    }
  }

  /** As many bytes as all positions have. */
  private static byte[] bytes(BigInteger position) {
    byte[] number = position.toByteArray();
    byte[] key = new byte[KEY_BYTES];
    int length = Math.min(number.length, KEY_BYTES); // without a byte for the sign
    System.arraycopy(number, number.length - length, key, KEY_BYTES - length, length);
    return key;
  }
}
