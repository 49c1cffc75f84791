// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rocksdb.AbstractNativeReference;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Checkpoint;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.IndexType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Snapshot;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * An open RocksDB with its families and every native object that belongs to it. Whoever uses it
 * makes sure that it is not closed meanwhile: RocksDB does not, and crashes.
 */
public final class Database implements AutoCloseable {
  private final RocksDB db;
  private final Map<Family, ColumnFamilyHandle> families;
  private final Deque<AbstractNativeReference> owned;
  private final WriteOptions synced;
  private final WriteOptions unsynced;

  private int pins;
  private boolean closed;
  private volatile boolean longWorkToEnd;

  private Database(
      RocksDB db,
      Map<Family, ColumnFamilyHandle> families,
      Deque<AbstractNativeReference> owned,
      WriteOptions synced,
      WriteOptions unsynced) {
    this.db = db;
    this.families = families;
    this.owned = owned;
    this.synced = synced;
    this.unsynced = unsynced;
  }

  /** Opens a directory, or makes the database in it. */
  public static Database open(Path directory, Settings settings) throws RocksDBException {
    Deque<AbstractNativeReference> owned = new ArrayDeque<>();
    try {
      return open(directory, settings, owned);
    } catch (Throwable e) {
      closeAll(owned);
      throw e;
    }
  }

  private static Database open(
      Path directory, Settings settings, Deque<AbstractNativeReference> owned)
      throws RocksDBException {
    LRUCache cache = own(owned, new LRUCache(settings.blockCacheBytes()));
    BloomFilter filter = own(owned, new BloomFilter(10));
    List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
    for (Family family : Family.values()) {
      ColumnFamilyOptions options = own(owned, familyOptions(family, settings, cache, filter));
      descriptors.add(new ColumnFamilyDescriptor(family.bytes(), options));
    }
    DBOptions options = own(owned, options(settings));
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    RocksDB db = own(owned, RocksDB.open(options, directory.toString(), descriptors, handles));
    Map<Family, ColumnFamilyHandle> families = new EnumMap<>(Family.class);
    Iterator<ColumnFamilyHandle> handle = handles.iterator();
    for (Family family : Family.values()) {
      families.put(family, own(owned, handle.next()));
    }
    WriteOptions synced = own(owned, new WriteOptions().setSync(true));
    WriteOptions unsynced = own(owned, new WriteOptions());
    return new Database(db, families, owned, synced, unsynced);
  }

  private static DBOptions options(Settings settings) {
    return new DBOptions()
        .setCreateIfMissing(true)
        .setCreateMissingColumnFamilies(true)
        // What a killed process had written is kept, up to the first incomplete or damaged record.
        .setWalRecoveryMode(WALRecoveryMode.PointInTimeRecovery)
        // All families go to disk together: a log that lost its end never lags behind one of them.
        .setAtomicFlush(true)
        .setMaxTotalWalSize(settings.maxLogBytes())
        .setDbWriteBufferSize(settings.writeBufferBytes())
        .setMaxOpenFiles(settings.maxOpenFiles())
        .setMaxBackgroundJobs(2)
        .setBytesPerSync(1 << 20)
        .setSkipStatsUpdateOnDbOpen(true)
        .setStatsDumpPeriodSec(0)
        .setStatsPersistPeriodSec(0)
        .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
        .setMaxLogFileSize(1 << 20)
        .setKeepLogFileNum(4);
  }

  private static ColumnFamilyOptions familyOptions(
      Family family, Settings settings, LRUCache cache, BloomFilter filter) {
    BlockBasedTableConfig table =
        new BlockBasedTableConfig()
            .setBlockCache(cache)
            .setCacheIndexAndFilterBlocks(true)
            .setPinL0FilterAndIndexBlocksInCache(true)
            // The cache is made of up to 64 parts, and what is larger than one is read anew each
            // time: the filter of a table of millions of timers, unless it is partitioned.
            .setIndexType(IndexType.kTwoLevelIndexSearch)
            .setPartitionFilters(true)
            .setMetadataBlockSize(8 << 10)
            .setBlockSize(8 << 10);
    if (family == Family.TIMERS || family == Family.PAYLOADS) {
      table.setFilterPolicy(filter);
    }
    ColumnFamilyOptions options =
        new ColumnFamilyOptions()
            .setTableFormatConfig(table)
            .setWriteBufferSize(settings.writeBufferBytes() / 2)
            .setCompressionType(CompressionType.LZ4_COMPRESSION);
    if (family == Family.TIMERS) {
      // Most lookups are for timers that are new.
      options.setMemtablePrefixBloomSizeRatio(0.05).setMemtableWholeKeyFiltering(true);
    }
    if (family == Family.PAYLOADS) {
      options
          .setEnableBlobFiles(true)
          .setMinBlobSize(0)
          .setBlobCompressionType(CompressionType.LZ4_COMPRESSION)
          .setEnableBlobGarbageCollection(true);
    }
    return options;
  }

  private static <T extends AbstractNativeReference> T own(
      Deque<AbstractNativeReference> owned, T object) {
    owned.push(object);
    return object;
  }

  private static void closeAll(Deque<AbstractNativeReference> owned) {
    while (!owned.isEmpty()) {
      owned.pop().close();
    }
  }

  /** Closes it; or has the last one do so who has pinned it. */
  @Override
  public synchronized void close() {
    closed = true;
    longWorkToEnd = true;
    if (pins == 0) {
      closeAll(owned);
    }
  }

  // Long work, which others do not wait for

  /** Keeps it open until it is unpinned. */
  public synchronized void pin() {
    pins++;
  }

  public synchronized void unpin() {
    pins--;
    if (pins == 0 && closed) {
      closeAll(owned);
    }
    notifyAll();
  }

  /** Asks those to end who have pinned it; returns whether there are none. */
  public synchronized boolean endLongWork() {
    longWorkToEnd = pins > 0;
    return pins == 0;
  }

  boolean isLongWorkToEnd() {
    return longWorkToEnd;
  }

  /** Waits until nobody has pinned it; returns false if that takes too long. */
  public synchronized boolean awaitUnpinned(long patienceMillis) {
    long endNanos = System.nanoTime() + patienceMillis * 1_000_000;
    try {
      for (long left = patienceMillis; pins > 0 && left > 0; ) {
        wait(left);
        left = (endNanos - System.nanoTime()) / 1_000_000;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return pins == 0;
  }

  public RocksDB db() {
    return db;
  }

  public ColumnFamilyHandle handle(Family family) {
    ColumnFamilyHandle handle = families.get(family);
    if (handle == null) {
      throw new AssertionError(family);
    }
    return handle;
  }

  /**
   * Returns a value; null if there is none. One key at a time: {@code multiGetAsList} returns null
   * also for what cannot be read (rocksdb#12741), and {@code multiGetByteBuffers} is slower.
   */
  public byte @Nullable [] get(Family family, byte[] key) throws RocksDBException {
    return db.get(handle(family), key);
  }

  public byte @Nullable [] get(Family family, byte[] key, ReadOptions options)
      throws RocksDBException {
    return db.get(handle(family), options, key);
  }

  /** {@return the values of many keys, in the same order; null for a key without a value} */
  public List<byte @Nullable []> getAll(Family family, List<byte[]> keys) throws RocksDBException {
    if (keys.isEmpty()) {
      return List.of(); // RocksDB asserts that there are keys
    }
    return db.multiGetAsList(Collections.nCopies(keys.size(), handle(family)), keys);
  }

  /** The sum of a property over all families. */
  public long sum(String property) throws RocksDBException {
    long sum = 0;
    for (ColumnFamilyHandle handle : families.values()) {
      sum += db.getLongProperty(handle, property);
    }
    return sum;
  }

  public long number(String property) throws RocksDBException {
    return db.getLongProperty(property);
  }

  /** Makes a copy of this moment: files are linked where that can be done. */
  public void copyTo(Path target) throws RocksDBException {
    try (Checkpoint checkpoint = Checkpoint.create(db)) {
      checkpoint.createCheckpoint(target.toString());
    }
  }

  public long memtableBytes() throws RocksDBException {
    return sum("rocksdb.cur-size-all-mem-tables");
  }

  /** Forces to disk what was written unsynced. */
  public void sync() throws RocksDBException {
    db.syncWal();
  }

  /** Moves what is in memory to table files, so that no log has to be read at the next opening. */
  public void flush() throws RocksDBException {
    try (FlushOptions options = new FlushOptions().setWaitForFlush(true)) {
      db.flush(options, List.copyOf(families.values()));
    }
  }

  void write(WriteBatch batch, boolean sync) throws RocksDBException {
    db.write(sync ? synced : unsynced, batch);
  }

  /** Visits entries in order. */
  public interface Visitor {
    /** Returns whether to go on. */
    boolean visit(RocksIterator at) throws RocksDBException;
  }

  /**
   * Visits the entries of a range, as of one moment.
   *
   * @param from the first key; null for all
   * @param to the key behind the last one; null for all
   * @param snapshot the moment; null for now
   */
  public void scan(
      Family family,
      byte @Nullable [] from,
      byte @Nullable [] to,
      @Nullable Snapshot snapshot,
      Visitor visitor)
      throws RocksDBException {
    try (Range range = new Range(from, to, snapshot);
        RocksIterator at = db.newIterator(handle(family), range.options)) {
      boolean more = true;
      for (at.seekToFirst(); more && at.isValid(); ) {
        more = visitor.visit(at);
        if (more) {
          at.next();
        }
      }
      at.status();
    }
  }

  /** The bounds of a scan, which must live as long as its iterator. */
  private static final class Range implements AutoCloseable {
    final ReadOptions options = new ReadOptions();
    private final @Nullable Slice from;
    private final @Nullable Slice to;

    Range(byte @Nullable [] from, byte @Nullable [] to, @Nullable Snapshot snapshot) {
      this.from = from == null ? null : new Slice(from);
      this.to = to == null ? null : new Slice(to);
      if (this.from != null) {
        options.setIterateLowerBound(this.from);
      }
      if (this.to != null) {
        options.setIterateUpperBound(this.to);
      }
      if (snapshot != null) {
        options.setSnapshot(snapshot);
      }
      // Reading all of a family must not push out of the cache what the timers at work need.
      options.setFillCache(from != null || to != null);
    }

    @Override
    public void close() {
      options.close();
      if (from != null) {
        from.close();
      }
      if (to != null) {
        to.close();
      }
    }
  }
}
