// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/** What one write does to all families: wholly or not at all. */
final class Batch implements AutoCloseable {
  private final Database database;
  private final WriteBatch batch = new WriteBatch();

  Batch(Database database) {
    this.database = database;
  }

  void put(Family family, byte[] key, byte[] value) throws RocksDBException {
    batch.put(database.handle(family), key, value);
  }

  void delete(Family family, byte[] key) throws RocksDBException {
    batch.delete(database.handle(family), key);
  }

  /** Deletes what is not before {@code from}, and is before {@code to}. */
  void deleteRange(Family family, byte[] from, byte[] to) throws RocksDBException {
    batch.deleteRange(database.handle(family), from, to);
  }

  int count() {
    return batch.count();
  }

  void clear() {
    batch.clear();
  }

  boolean isEmpty() {
    return batch.count() == 0;
  }

  void write(boolean sync) throws RocksDBException {
    database.write(batch, sync);
  }

  @Override
  public void close() {
    batch.close();
  }
}
