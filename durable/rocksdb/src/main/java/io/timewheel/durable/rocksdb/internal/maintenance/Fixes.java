// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.maintenance;

import io.timewheel.durable.rocksdb.internal.file.Batch;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Family;
import org.rocksdb.RocksDBException;

/** Collects the writes and deletions of a repair, and writes them in batches. */
final class Fixes implements AutoCloseable {
  private static final int MAX_BATCH = 1_000;

  private final Failures failures;
  private final Batch batch;

  Fixes(Database database, Failures failures) {
    this.failures = failures;
    batch = new Batch(database);
  }

  private interface Step {
    void addTo(Batch batch) throws RocksDBException;
  }

  void put(Family family, byte[] key, byte[] value) {
    add(to -> to.put(family, key, value));
  }

  void delete(Family family, byte[] key) {
    add(to -> to.delete(family, key));
  }

  private void add(Step step) {
    try {
      step.addTo(batch);
    } catch (RocksDBException e) {
      throw failures.reading("cannot be repaired", e);
    }
    if (batch.count() >= MAX_BATCH) {
      write();
    }
  }

  /** Writes the entries that were added since the last call. */
  void write() {
    try {
      batch.write(true);
      batch.clear();
    } catch (RocksDBException e) {
      throw failures.reading("cannot be repaired", e);
    }
  }

  @Override
  public void close() {
    batch.close();
  }
}
