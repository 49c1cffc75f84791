// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import java.util.Arrays;
import org.rocksdb.RocksDBException;

/**
 * Where the due index begins: no entry is before {@link #from()}.
 *
 * <p>What fires is deleted at the front of the index, and RocksDB keeps a mark for each deletion
 * until a compaction drops it. A scan from the beginning would walk over all of them. So every scan
 * starts here; and now and then all marks behind are covered with one that spans the range, which
 * is passed in one step.
 *
 * <p>Only the writer changes it. It lowers it before it writes what is in front of it, so a reader
 * who finds the same bound before and after it opened its iterator has missed nothing.
 */
final class DueBound {
  private static final int DELETIONS_PER_RAISE = 1_000;
  private static final int DELETIONS_PER_RANGE = 100_000;

  private final Database database;
  private final byte[] first;
  private final byte[] end;
  private volatile byte[] from;
  private int deletions;
  private int deletionsInRange;

  DueBound(Database database, byte[] first, byte[] end, byte[] from) {
    this.database = database;
    this.first = first;
    this.end = end;
    this.from = from;
  }

  byte[] from() {
    return from;
  }

  /** Before a batch is written that has this entry. */
  void insert(byte[] key, Batch batch) throws RocksDBException {
    if (Arrays.compareUnsigned(key, from) < 0) {
      from = key;
      batch.put(Family.META, Meta.DUE_FROM, key);
    }
  }

  void deleted() {
    deletions++;
    deletionsInRange++;
  }

  /** After a batch was written; most of the time it does nothing. */
  void raise() throws RocksDBException {
    if (deletions < DELETIONS_PER_RAISE) {
      return;
    }
    deletions = 0;
    byte[][] found = {end};
    database.scan(
        Family.DUE,
        from,
        end,
        null,
        at -> {
          found[0] = at.key();
          return false;
        });
    try (Batch batch = new Batch(database)) {
      batch.put(Family.META, Meta.DUE_FROM, found[0]);
      if (deletionsInRange >= DELETIONS_PER_RANGE) {
        deletionsInRange = 0;
        batch.deleteRange(Family.DUE, first, found[0]);
      }
      batch.write(false);
    }
    from = found[0];
  }
}
