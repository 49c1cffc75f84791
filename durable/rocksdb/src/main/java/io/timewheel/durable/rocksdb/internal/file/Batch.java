// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/** Collects the changes of one atomic write to all families. */
public final class Batch implements AutoCloseable {
  private final Database database;
  private final WriteBatch batch = new WriteBatch();

  public Batch(Database database) {
    this.database = database;
  }

  public void put(Family family, byte[] key, byte[] value) throws RocksDBException {
    batch.put(database.handle(family), key, value);
  }

  public void delete(Family family, byte[] key) throws RocksDBException {
    batch.delete(database.handle(family), key);
  }

  /** Deletes the keys from {@code from}, inclusive, to {@code to}, exclusive. */
  public void deleteRange(Family family, byte[] from, byte[] to) throws RocksDBException {
    batch.deleteRange(database.handle(family), from, to);
  }

  public int count() {
    return batch.count();
  }

  public void clear() {
    batch.clear();
  }

  public boolean isEmpty() {
    return batch.count() == 0;
  }

  public void write(boolean sync) throws RocksDBException {
    database.write(batch, sync);
  }

  @Override
  public void close() {
    batch.close();
  }
}
