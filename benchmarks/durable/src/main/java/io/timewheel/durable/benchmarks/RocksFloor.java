// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * RocksDB alone, with the writes that the store of Timewheel needs for a timer. Keys and values
 * have the same length, batches have the same size, and each is synced. It reads nothing, checks
 * nothing and counts nothing.
 */
final class RocksFloor implements Subject {
  static {
    RocksDB.loadLibrary();
  }

  // The writes of the store of Timewheel for an order: keys of namespace, a zero and ID, with shard
  // and time before them in the index; values with the other fields.
  private static final int KEY_BYTES = 4 + 1 + 16;
  private static final int RECORD_BYTES = 120;
  private static final int DUE_BYTES = 20;

  private final DBOptions options =
      new DBOptions()
          .setCreateIfMissing(true)
          .setCreateMissingColumnFamilies(true)
          .setDbWriteBufferSize(64 << 20)
          .setMaxTotalWalSize(256 << 20)
          .setMaxBackgroundJobs(2);
  private final ColumnFamilyOptions familyOptions =
      new ColumnFamilyOptions()
          .setWriteBufferSize(32 << 20)
          .setCompressionType(CompressionType.LZ4_COMPRESSION);
  private final WriteOptions synced = new WriteOptions().setSync(true);
  private final List<ColumnFamilyHandle> families = new ArrayList<>();
  private final RocksDB db;

  RocksFloor(Path directory) throws RocksDBException {
    List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
    for (String name : List.of("default", "due", "timers")) {
      descriptors.add(
          new ColumnFamilyDescriptor(name.getBytes(StandardCharsets.UTF_8), familyOptions));
    }
    db = RocksDB.open(options, directory.toString(), descriptors, families);
  }

  @Override
  public void schedule(List<Order> orders) throws RocksDBException {
    try (WriteBatch batch = new WriteBatch()) {
      for (Order order : orders) {
        byte[] id = order.id().getBytes(StandardCharsets.UTF_8);
        byte[] key = ByteBuffer.allocate(KEY_BYTES).put(id).array();
        byte[] due =
            ByteBuffer.allocate(Short.BYTES + Long.BYTES + KEY_BYTES)
                .putShort((short) 0)
                .putLong(order.dueMillis())
                .put(key)
                .array();
        byte[] record = ByteBuffer.allocate(RECORD_BYTES).put(order.payloadBytes()).array();
        batch.put(families.get(1), due, new byte[DUE_BYTES]);
        batch.put(families.get(2), key, record);
      }
      db.write(synced, batch);
    }
  }

  @Override
  public void close() {
    families.forEach(ColumnFamilyHandle::close);
    db.close();
    synced.close();
    options.close();
    familyOptions.close();
  }
}
