// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
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
 * Holds an open RocksDB, its families and all its native objects. Callers must not use it after or
 * during a close: RocksDB does not check that, and crashes the process.
 */
public final class Database implements AutoCloseable {
  private final RocksDB db;
  private final Map<Family, ColumnFamilyHandle> families;
  private final Deque<AbstractNativeReference> owned;
  private final WriteOptions synced;
  private final WriteOptions unsynced;

  private Runnable whenClosed = () -> {};
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

  /** Opens the database in a directory, or creates one. */
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
        // Keep the writes of a killed process, up to the first incomplete or damaged record.
        .setWalRecoveryMode(WALRecoveryMode.PointInTimeRecovery)
        // Flush all families together, so that none is ahead of the others if the end of the log is
        // lost.
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
            // The cache has up to 64 parts, and re-reads any block that is larger than a part.
            // Without partitions, the filter of a table of millions of timers is such a block.
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
      // Most lookups are for new timers, which have no entry.
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

  /** Closes the database. If it is pinned, the last unpin closes it. */
  @Override
  public synchronized void close() {
    closed = true;
    longWorkToEnd = true;
    if (pins == 0) {
      closeNow();
    }
  }

  private void closeNow() {
    closeAll(owned);
    whenClosed.run();
  }

  /** Sets an action to run after the close. */
  synchronized void whenClosed(Runnable action) {
    whenClosed = action;
  }

  // Long work, which a close does not wait for

  /** Keeps the database open until it is unpinned. */
  public synchronized void pin() {
    pins++;
  }

  public synchronized void unpin() {
    pins--;
    if (pins == 0 && closed) {
      closeNow();
    }
    notifyAll();
  }

  /** Requests long work to end. Returns true if no long work runs. */
  public synchronized boolean endLongWork() {
    longWorkToEnd = pins > 0;
    return pins == 0;
  }

  boolean isLongWorkToEnd() {
    return longWorkToEnd;
  }

  /** Waits until the database is no longer pinned; returns false after the timeout. */
  public synchronized boolean awaitUnpinned(long timeoutMillis) {
    long endNanos = System.nanoTime() + timeoutMillis * 1_000_000;
    try {
      for (long left = timeoutMillis; pins > 0 && left > 0; ) {
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
   * Returns the value of a key; null if there is none. Reads one key at a time, because {@code
   * multiGetAsList} also returns null for unreadable values (rocksdb#12741), and {@code
   * multiGetByteBuffers} is slower.
   */
  public byte @Nullable [] get(Family family, byte[] key) throws RocksDBException {
    return db.get(handle(family), key);
  }

  public byte @Nullable [] get(Family family, byte[] key, ReadOptions options)
      throws RocksDBException {
    return db.get(handle(family), options, key);
  }

  /** Deletes an index. The next opening creates an empty one. */
  public void drop(Family index) throws RocksDBException {
    db.dropColumnFamily(handle(index));
  }

  /** Returns the sum of a property over all families. */
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

  /** Copies the database as of this moment. Links files where the file system supports it. */
  public void copyTo(Path target) throws RocksDBException {
    try (Checkpoint checkpoint = Checkpoint.create(db)) {
      checkpoint.createCheckpoint(target.toString());
    }
  }

  public long memtableBytes() throws RocksDBException {
    return sum("rocksdb.cur-size-all-mem-tables");
  }

  /** Forces unsynced writes to disk. */
  public void sync() throws RocksDBException {
    db.syncWal();
  }

  /** Moves the entries in memory to table files, so that the next opening has no log to read. */
  public void flush() throws RocksDBException {
    try (FlushOptions options = new FlushOptions().setWaitForFlush(true)) {
      db.flush(options, List.copyOf(families.values()));
    }
  }

  void write(WriteBatch batch, boolean sync) throws RocksDBException {
    db.write(sync ? synced : unsynced, batch);
  }

  /** Receives entries in the order of their keys. */
  public interface Visitor {
    /** Returns whether to continue. */
    boolean visit(RocksIterator at) throws RocksDBException;
  }

  /**
   * Passes the entries of a range, as of one moment, to a visitor.
   *
   * @param from the first key, inclusive; null for the start of the family
   * @param to the last key, exclusive; null for the end of the family
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

  /**
   * Passes the entries of a range to a visitor, except those in damaged blocks. Another error than
   * damage ends the scan.
   *
   * @param damage receives the reason for each part that cannot be read
   */
  public void scanReadable(
      Family family,
      byte @Nullable [] from,
      byte @Nullable [] to,
      @Nullable Snapshot snapshot,
      Visitor visitor,
      Consumer<RocksDBException> damage)
      throws RocksDBException {
    try (Range range = new Range(from, to, snapshot)) {
      new PastDamage(this, family, range.options, () -> {})
          .scan(
              from == null ? new byte[0] : from,
              visitor,
              (behind, before, why) -> {
                if (!Failures.isDamage(why)) {
                  throw why;
                }
                damage.accept(why);
              });
    }
  }

  /** Holds the bounds of a scan, which must live as long as its iterator. */
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
      // A scan of a whole family must not evict the entries that timers need from the cache.
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
