// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/**
 * Scans a family, or the range that its options limit, and continues after damage.
 *
 * <p>RocksDB ends a scan at an unreadable block, and does not report where the next one begins. A
 * seek to a key after the damage succeeds, so this class searches for such a key. It doubles its
 * step from the last readable key until a seek succeeds, then halves the last step. That finds the
 * first key after the damage. If the last step contains further damage, readable keys between the
 * two damaged parts may be skipped.
 *
 * <p>No scan passes a position where one table is damaged and another has an older value. So an
 * outdated value is never returned as the current one.
 */
public class PastDamage {
  /** The maximum length of a key. No key begins with a byte of 255. */
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
   * @param check called repeatedly; may throw to end the scan early
   */
  public PastDamage(Database database, Family family, ReadOptions options, Runnable check) {
    this.database = database;
    this.family = family;
    this.options = options;
    this.check = check;
  }

  /** Receives the ranges that cannot be read, in the order of the keys. */
  public interface Gaps {
    /**
     * Reports that entries between two keys cannot be read, if there are any.
     *
     * @param behind the last key before the range; null if there is none
     * @param before the first key after the range; null if there is none
     */
    void add(byte @Nullable [] behind, byte @Nullable [] before, RocksDBException why)
        throws RocksDBException;
  }

  /** Scans the family. */
  public void scan(Database.Visitor visitor, Gaps gaps) throws RocksDBException {
    scan(NONE, visitor, gaps);
  }

  /**
   * Scans a range that begins at a key. Each pass begins after the previous one, even if that has
   * read nothing. A disk may answer a seek and then fail the scan from there.
   */
  void scan(byte[] start, Database.Visitor visitor, Gaps gaps) throws RocksDBException {
    byte[] from = start;
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

  /** Returns the smallest key in the table files. */
  private byte[] first() {
    return files().map(LiveFileMetaData::smallestKey).min(Arrays::compareUnsigned).orElse(NONE);
  }

  /** Returns the greatest length of the keys that begin and end the table files. */
  private int length() {
    return files()
        .mapToInt(file -> Math.max(file.smallestKey().length, file.largestKey().length))
        .max()
        .orElse(0);
  }

  private Stream<LiveFileMetaData> files() {
    return database.db().getLiveFilesMetaData().stream()
        .filter(file -> Arrays.equals(file.columnFamilyName(), family.bytes()));
  }

  /** Returns the first key after the damage that begins at a key; null if there is none. */
  private byte @Nullable [] behindDamage(byte[] key) {
    BigInteger bad = new BigInteger(1, Arrays.copyOf(key, KEY_BYTES));
    int length = Math.max(key.length, length()); // the bound of a range is shorter than its keys
    BigInteger step = leastStep(length);
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
    while (good.subtract(bad).compareTo(leastStep(Math.max(length, found.length))) > 0) {
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

  /** Returns a step that is shorter than the distance between most keys of this length. */
  private static BigInteger leastStep(int length) {
    return BigInteger.ONE.shiftLeft(8 * Math.max(0, KEY_BYTES - length - 2));
  }

  /**
   * Returns the first key at or after a position, {@link #NONE} if there is none, or null if it
   * cannot be read. Uses a new iterator, because an iterator that has met damage stays failed.
   */
  private byte @Nullable [] find(BigInteger position) {
    check.run();
    try (RocksIterator at = seek(bytes(position))) {
      return failure(at) != null ? null : at.isValid() ? at.key() : NONE;
    }
  }

  /** Returns the position as a key of the maximum length. */
  private static byte[] bytes(BigInteger position) {
    byte[] number = position.toByteArray();
    byte[] key = new byte[KEY_BYTES];
    int length = Math.min(number.length, KEY_BYTES); // leaves out the sign byte
    System.arraycopy(number, number.length - length, key, KEY_BYTES - length, length);
    return key;
  }
}
