// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.store;

import io.timewheel.durable.rocksdb.internal.file.Batch;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Family;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * Tracks where the entries of an index begin: no entry is before {@link #from()}.
 *
 * <p>Such an index is deleted from its front, and RocksDB keeps a tombstone for each deletion until
 * a compaction drops it. A scan from the beginning would read all tombstones. So every scan starts
 * at this bound. From time to time, one range deletion covers all tombstones before it, which
 * RocksDB skips in one step.
 *
 * <p>Only the writer changes the bound. It lowers the bound before it writes an entry in front of
 * it. So a reader has missed nothing if the bound was the same before and after it opened its
 * iterator.
 */
public final class FrontBound {
  private static final int DELETIONS_PER_RAISE = 1_000;
  private static final int DELETIONS_PER_RANGE = 100_000;

  private final Database database;
  private final Failures failures;
  private final Family family;
  private final byte[] first;
  private final byte[] end;
  private final byte @Nullable [] stored;
  private volatile byte[] from;
  private int deletions;
  private int deletionsInRange;

  /**
   * Creates the bound of a part of an index.
   *
   * @param first a position before all entries
   * @param end a position after all entries
   * @param stored the key in META that stores the bound; null if each opening finds it again
   * @param known the bound, if it is known; otherwise null
   */
  FrontBound(
      Database database,
      Failures failures,
      Family family,
      byte[] first,
      byte[] end,
      byte @Nullable [] stored,
      byte @Nullable [] known) {
    this.database = database;
    this.failures = failures;
    this.family = family;
    this.first = first;
    this.end = end;
    this.stored = stored;
    from = known == null ? first : known;
  }

  public byte[] from() {
    return from;
  }

  byte[] end() {
    return end;
  }

  /**
   * Lowers the bound if the entry is in front of it. Called before the batch with the entry is
   * written.
   */
  void insert(byte[] key, Batch batch) throws RocksDBException {
    if (Arrays.compareUnsigned(key, from) < 0) {
      from = key;
      store(key, batch);
    }
  }

  /** Counts a deletion; returns whether the bound must be raised after the batch is written. */
  boolean deleted() {
    deletions++;
    deletionsInRange++;
    return deletions == DELETIONS_PER_RAISE;
  }

  /** Raises the bound; keeps it if the first entry cannot be read. */
  void raise() throws RocksDBException {
    deletions = 0;
    byte[][] found = {end};
    try {
      database.scan(
          family,
          from,
          end,
          null,
          at -> {
            found[0] = at.key();
            return false;
          });
    } catch (RocksDBException e) {
      var unused = failures.reading("cannot read the index " + family, e);
      return;
    }
    try (Batch batch = new Batch(database)) {
      store(found[0], batch);
      if (deletionsInRange >= DELETIONS_PER_RANGE) {
        deletionsInRange = 0;
        batch.deleteRange(family, first, found[0]);
      }
      if (!batch.isEmpty()) {
        batch.write(false);
      }
    }
    from = found[0];
  }

  private void store(byte[] key, Batch batch) throws RocksDBException {
    if (stored != null) {
      batch.put(Family.META, stored, key);
    }
  }
}
