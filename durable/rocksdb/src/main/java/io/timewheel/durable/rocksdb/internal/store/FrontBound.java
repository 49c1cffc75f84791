// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.store;

import io.timewheel.durable.rocksdb.internal.file.Batch;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Family;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * Where the entries of an index begin: none is before {@link #from()}.
 *
 * <p>An index of what comes next is deleted at its front, and RocksDB keeps a mark for each
 * deletion until a compaction drops it. A scan from the beginning would walk over all of them. So
 * every scan starts here; and now and then all marks behind are covered with one that spans the
 * range, which is passed in one step.
 *
 * <p>Only the writer changes it. It lowers it before it writes what is in front of it, so a reader
 * who finds the same bound before and after it opened its iterator has missed nothing.
 */
public final class FrontBound {
  private static final int DELETIONS_PER_RAISE = 1_000;
  private static final int DELETIONS_PER_RANGE = 100_000;

  private final Database database;
  private final Family family;
  private final byte[] first;
  private final byte[] end;
  private final byte @Nullable [] stored;
  private volatile byte[] from;
  private int deletions;
  private int deletionsInRange;

  /**
   * The bound of a part of an index.
   *
   * @param first in front of all entries
   * @param end behind all entries
   * @param stored where in META the bound is kept; null if it is found anew after each opening
   * @param known the bound, if it is known; otherwise null
   */
  FrontBound(
      Database database,
      Family family,
      byte[] first,
      byte[] end,
      byte @Nullable [] stored,
      byte @Nullable [] known) {
    this.database = database;
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

  /** Before a batch is written that has this entry. */
  void insert(byte[] key, Batch batch) throws RocksDBException {
    if (Arrays.compareUnsigned(key, from) < 0) {
      from = key;
      store(key, batch);
    }
  }

  /** Returns whether it is time to raise the bound, once the batch is written. */
  boolean deleted() {
    deletions++;
    deletionsInRange++;
    return deletions == DELETIONS_PER_RAISE;
  }

  void raise() throws RocksDBException {
    deletions = 0;
    byte[][] found = {end};
    database.scan(
        family,
        from,
        end,
        null,
        at -> {
          found[0] = at.key();
          return false;
        });
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
