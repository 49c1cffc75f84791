// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Flusher;
import io.timewheel.durable.rocksdb.internal.file.Opening;
import io.timewheel.durable.rocksdb.internal.file.OwnerOnly;
import io.timewheel.durable.rocksdb.internal.file.Settings;
import io.timewheel.durable.rocksdb.internal.file.VersionFloor;
import io.timewheel.durable.rocksdb.internal.maintenance.Maintenance;
import io.timewheel.durable.rocksdb.internal.store.FrontBounds;
import io.timewheel.durable.rocksdb.internal.store.Purge;
import io.timewheel.durable.rocksdb.internal.store.Reader;
import io.timewheel.durable.rocksdb.internal.store.Rows;
import io.timewheel.durable.rocksdb.internal.store.Writer;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.HandlerNames;
import io.timewheel.durable.spi.IncompleteExportException;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.LocalLimits;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.StoreCopy;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerSink;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.VerifyReport;
import io.timewheel.durable.spi.format.MalformedException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * Stores timers in a directory of this machine, in an embedded RocksDB. Only one process at a time
 * can use the directory.
 *
 * <pre>{@code
 * DurableTimer timer = DurableTimer.builder(RocksTimerStore.open(Path.of("timers")))
 *     .handler("orders.cancel", firing -> …)
 *     .start();
 * }</pre>
 *
 * <p>Once a call returns, its change is committed. {@link SyncMode} sets which commits also survive
 * a power cut. Only one store can be open in a directory. Opening a second one fails, in this
 * process and in any other.
 */
public final class RocksTimerStore implements TimerStore {
  private static final System.Logger LOG = Failures.LOG;

  /** The minimum time between two attempts to reopen the database, because each reads the log. */
  private static final long REPAIR_INTERVAL_NANOS = 1_000_000_000;

  private static final long REPAIR_TIMEOUT_MILLIS = 100;
  private static final long CLOSE_TIMEOUT_MILLIS = 1_000;

  private final Path directory;
  private final Settings settings;
  private final SyncMode sync;
  private final LongSupplier nanoTime;
  private final Failures failures;
  private final @Nullable Flusher flusher;

  /** Callers hold the read lock to use the database, and the write lock to open or close it. */
  private final ReentrantReadWriteLock use = new ReentrantReadWriteLock();

  /** The open database; null if the store is closed, or if reopening failed. */
  private @Nullable Session session;

  /** The limits of hosts and queues, in memory only, because no other process uses the store. */
  private final LocalLimits limits = new LocalLimits();

  private volatile @Nullable StoreListener listener;
  private boolean closed;
  private long lastRepairNanos;

  /** An open database, with the objects that use it. */
  private record Session(
      Database database, Writer writer, Reader reader, Purge purge, Maintenance maintenance) {}

  private RocksTimerStore(Builder builder) {
    directory = builder.directory.toAbsolutePath();
    settings = builder.settings;
    sync = builder.sync;
    nanoTime = builder.nanoTime;
    failures = new Failures(this.directory);
    session = newSession();
    Duration interval = sync.intervalOrNull();
    flusher = interval == null ? null : new Flusher(interval, this::flush);
  }

  private Session newSession() {
    Database database = new Opening(directory, settings, failures).open();
    try {
      return newSession(database);
    } catch (StoreException e) {
      database.close();
      throw e;
    }
  }

  private Session newSession(Database database) {
    try {
      Writer writer =
          new Writer(database, failures, sync.isEveryCommit(), new VersionFloor(directory));
      return new Session(
          database,
          writer,
          new Reader(database, failures, writer.bounds().due()),
          new Purge(database, failures, writer),
          new Maintenance(database, failures));
    } catch (IOException | RocksDBException | MalformedException e) {
      throw failures.of(Kind.UNAVAILABLE, "cannot be opened", e);
    }
  }

  /**
   * Opens the store in a directory, or creates an empty one.
   *
   * @param directory the directory; created if it does not exist
   * @return the store
   */
  public static RocksTimerStore open(Path directory) {
    return builder(directory).open();
  }

  /**
   * Removes the permissions of other users from a directory and its files. A new directory has no
   * such permissions, but files in it may have them.
   *
   * @param directory the directory of a store
   * @return the number of files and directories that other users had permissions for
   * @throws IOException if the permissions cannot be changed
   */
  public static int restrict(Path directory) throws IOException {
    return OwnerOnly.restrict(directory);
  }

  /**
   * Creates a builder for the store in a directory.
   *
   * @param directory the directory; created if it does not exist
   * @return a builder with the default settings
   */
  public static Builder builder(Path directory) {
    return new Builder(requireNonNull(directory, "directory"));
  }

  /** Configures and opens a store. Not thread-safe. */
  public static final class Builder {
    private final Path directory;
    private Settings settings = Settings.DEFAULT;
    private SyncMode sync = SyncMode.sync();
    private LongSupplier nanoTime = System::nanoTime;

    private Builder(Path directory) {
      this.directory = directory;
    }

    /**
     * Sets when commits are forced to disk. The default forces each commit.
     *
     * @param mode the mode
     * @return this
     */
    public Builder sync(SyncMode mode) {
      requireNonNull(mode, "mode");
      sync = mode;
      return this;
    }

    /**
     * Sets the size of the cache for table files, which is outside the heap. The default is 64 MiB.
     *
     * @param bytes the size in bytes, at least 1 MiB
     * @return this
     */
    public Builder blockCache(long bytes) {
      if (bytes < 1 << 20) {
        throw new IllegalArgumentException("blockCache: " + bytes + " (expected: at least 1 MiB)");
      }
      settings = new Settings(bytes, settings.writeBufferBytes(), settings.maxOpenFiles());
      return this;
    }

    /** Sets the clock for the interval between attempts to reopen the database. */
    Builder nanoTime(LongSupplier clock) {
      nanoTime = clock;
      return this;
    }

    /**
     * Opens the store.
     *
     * @return the store
     */
    public RocksTimerStore open() {
      return new RocksTimerStore(this);
    }
  }

  private <T extends @Nullable Object> T using(Function<Session, T> work) {
    return with(open -> !open.writer().isBroken(), work);
  }

  private void writing(Consumer<Session> work) {
    using(
        open -> {
          work.accept(open);
          return true;
        });
  }

  /** Like {@link #using}, but also accepts a database that no longer takes writes. */
  private <T extends @Nullable Object> T reading(Function<Session, T> work) {
    return with(open -> true, work);
  }

  /**
   * Runs work on the open database. Reopens the database first if it does not meet the condition.
   */
  private <T extends @Nullable Object> T with(Predicate<Session> good, Function<Session, T> work) {
    use.readLock().lock();
    try {
      Session open = session;
      if (open != null && good.test(open)) {
        return work.apply(open);
      }
    } finally {
      use.readLock().unlock();
    }
    reopen();
    use.readLock().lock();
    try {
      return work.apply(session());
    } finally {
      use.readLock().unlock();
    }
  }

  private <T extends @Nullable Object> T maintaining(Function<Maintenance, T> work) {
    return pinning(open -> work.apply(open.maintenance()));
  }

  /**
   * Runs work that takes minutes. It holds no lock, so neither a close nor a repair waits for it.
   */
  private <T extends @Nullable Object> T pinning(Function<Session, T> work) {
    Session open =
        reading(
            present -> {
              present.database().pin();
              return present;
            });
    try {
      return work.apply(open);
    } finally {
      open.database().unpin();
    }
  }

  private Session session() {
    Session open = session;
    if (open == null) {
      throw failures.of(
          Kind.UNAVAILABLE, closed ? "the store is closed" : "could not be opened again yet");
    }
    return open;
  }

  /**
   * Reopens the database after a failed write. RocksDB refuses writes after a failure, and only its
   * log shows whether the failed write is on disk.
   */
  private void reopen() {
    if (!tryWriteLock()) {
      return;
    }
    try {
      Session broken = session;
      if (closed || (broken != null && !broken.writer().isBroken())) {
        return;
      }
      long now = nanoTime.getAsLong();
      if (broken == null && now - lastRepairNanos < REPAIR_INTERVAL_NANOS) {
        return;
      }
      if (broken != null) {
        checkRoom(broken.database());
      }
      lastRepairNanos = now;
      if (broken == null) {
        session = newSession();
      } else {
        openAgain(broken.database(), "a write has failed");
      }
    } finally {
      use.writeLock().unlock();
    }
  }

  private Session openAgain(Database database, String reason) {
    if (!database.endLongWork()) {
      throw failures.of(
          Kind.UNAVAILABLE,
          reason
              + ", and the database is opened again when an export, a verification, a backup or a"
              + " histogram has ended");
    }
    session = null;
    database.close();
    Session next = newSession();
    session = next;
    return next;
  }

  /**
   * Tries to take the write lock. Its waiting time is limited, because new readers queue behind it.
   */
  private boolean tryWriteLock() {
    try {
      return use.writeLock().tryLock(REPAIR_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Override
  public StoreTraits traits() {
    return StoreTraits.embedded();
  }

  @Override
  public void start(StoreListener engine) {
    listener = requireNonNull(engine, "listener");
    long epoch = using(open -> open.writer().newEpoch());
    engine.acquired(Rows.SHARD, epoch);
  }

  @Override
  public List<Outcome> commit(List<Change> changes) {
    return using(open -> open.writer().commit(changes));
  }

  @Override
  public List<DueTimer> due(int shard, long until, @Nullable DuePosition after, int limit) {
    return reading(open -> open.reader().due(shard, until, after, limit));
  }

  /**
   * Finds the timers without an index. The store has one owner, which searches only after a start
   * and after a resume.
   */
  @Override
  public List<DueTimer> releasable(
      int shard,
      HandlerNames handlers,
      Set<String> namespaces,
      @Nullable DueTimer after,
      int limit) {
    return pinning(
        open -> {
          NavigableSet<String> some = new TreeSet<>(namespaces);
          open.writer()
              .counts()
              .all()
              .forEach(
                  (namespace, counts) -> {
                    if (counts.containsKey(TimerState.BLOCKED)) {
                      some.add(namespace);
                    }
                  });
          return open.reader().releasable(some, handlers, namespaces, after, limit);
        });
  }

  @Override
  public @Nullable TimerRecord get(TimerKey key) {
    return this.<@Nullable TimerRecord>reading(open -> open.reader().get(key));
  }

  @Override
  public Map<TimerKey, TimerRecord> read(Collection<TimerKey> keys) {
    return reading(open -> open.reader().read(List.copyOf(keys)));
  }

  @Override
  public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
    return reading(open -> open.reader().page(query, after, limit));
  }

  @Override
  public TimerPage sorted(
      TimerQuery query, TimerOrder order, @Nullable DuePosition after, int limit) {
    return pinning(open -> open.reader().sorted(query, order, after, limit));
  }

  @Override
  public long acquire(
      String name, SharedLimit limit, String holder, long untilMillis, long nowMillis) {
    return limits.acquire(name, limit, holder, untilMillis, nowMillis);
  }

  @Override
  public void release(String name, String holder) {
    limits.release(name, holder);
  }

  @Override
  public long[] histogram(@Nullable String namespace, long[] bounds) {
    return pinning(
        open -> {
          long timers = namespace == null ? 0 : open.writer().counts().of(namespace);
          return open.reader().histogram(namespace, timers, bounds);
        });
  }

  @Override
  public Map<String, Map<TimerState, Long>> counts() {
    return reading(open -> open.writer().counts().all());
  }

  @Override
  public Map<TimerKey, Map<TimerState, Long>> queueCounts(@Nullable String namespace) {
    return reading(open -> open.writer().counts().queues(namespace));
  }

  @Override
  public Map<TimerKey, Long> readySince(Collection<TimerKey> queues) {
    return reading(open -> open.writer().readySince(queues));
  }

  @Override
  public List<TimerRecord> lease(
      List<LeaseRequest> requests, int limit, long nowMillis, Supplier<ClaimToken> tokens) {
    List<LeaseRequest> notEmpty =
        requests.size() == 1
            ? requests
            : reading(open -> requests.stream().filter(open.writer()::hasReady).toList());
    return notEmpty.isEmpty()
        ? List.of()
        : using(open -> open.writer().lease(notEmpty, limit, nowMillis, tokens, limits));
  }

  @Override
  public int purgeAnswers(long answeredBefore, int limit) {
    return using(open -> open.writer().purgeAnswers(answeredBefore, limit));
  }

  @Override
  public void pause(String scope) {
    writing(open -> open.writer().pause(scope));
    StoreListener engine = listener;
    if (engine != null) {
      engine.paused(scope);
    }
  }

  @Override
  public void resume(String scope) {
    writing(open -> open.writer().resume(scope));
  }

  @Override
  public Set<String> paused() {
    return reading(open -> open.writer().paused());
  }

  @Override
  public int purge(long finishedBefore, long keep, int limit) {
    return using(open -> open.purge().run(finishedBefore, keep, limit));
  }

  // Maintenance

  /**
   * Copies the store, as of one moment, while it is in use. The copy is a store: {@link
   * #open(Path)} opens it. On the same file system it needs little space at first, because it
   * shares files that RocksDB never rewrites.
   *
   * <p>An incomplete copy is next to the target, named {@code copy-} and a UUID. If the process is
   * killed during the backup, the incomplete copy remains and may be deleted.
   *
   * @param target a directory that does not exist yet
   */
  public void backup(Path target) {
    requireNonNull(target, "target");
    this.<@Nullable Void>maintaining(
        maintenance -> {
          maintenance.backup(target);
          return null;
        });
  }

  /**
   * Reads all entries, as of one moment, and compares the records with the indexes and the
   * counters. Timers continue to fire. Takes minutes for tens of millions of timers.
   *
   * @return the problems found
   */
  public VerifyReport verify() {
    return maintaining(Maintenance::verify);
  }

  /**
   * Verifies, and rebuilds the indexes and the counters from the records. Unreadable records and
   * missing payloads remain; so does a damaged block of an index if records are unreadable too.
   * Call {@link #verify} afterwards to find the remaining problems. No other call can use the store
   * during the repair. If it fails or is interrupted, repeat it.
   *
   * @return the problems that were fixed
   * @throws IllegalStateException if a scheduler was started on this store
   */
  public VerifyReport repair() {
    var unused = using(Session::database); // opens it again after a failed write
    use.writeLock().lock();
    try {
      if (listener != null) {
        throw new IllegalStateException(
            "repair: a scheduler runs on the store (expected: a store that no scheduler uses)");
      }
      Session open = session();
      try {
        if (open.maintenance().dropDamagedIndexes()) {
          // A compaction of the damage may have stopped writes.
          open = openAgain(open.database(), "a damaged index was dropped");
        }
        VerifyReport fixed = open.maintenance().repair();
        session = newSession(open.database());
        return fixed;
      } finally {
        open.writer().distrust(); // its counters and bounds are outdated, also after a failure
      }
    } finally {
      use.writeLock().unlock();
    }
  }

  /**
   * Writes all timers as lines of JSON, as of one moment, while the store is in use. The export
   * also contains the pauses, and the last version, so that versions stay ascending in another
   * store.
   *
   * <p>The export skips damaged entries, writes all readable ones, and then throws. Keep its
   * output: it can be imported like any other export.
   *
   * @param out the stream to write to; flushed, not closed
   * @return the number of timers written
   * @throws IncompleteExportException at the end, if some timers could not be read; the message
   *     contains their number and location
   * @throws java.io.UncheckedIOException if the stream cannot be written
   */
  public long exportTo(OutputStream out) {
    return TimerLines.exportTo(this, out);
  }

  /**
   * Imports timers that {@link #exportTo} wrote. An imported timer replaces a stored one with the
   * same key only if it is newer, by version and then by revision. So the same export can be
   * imported again, for example after an error. An attempt that was running at the export counts as
   * lost, and runs again.
   *
   * <p>An invalid line ends the import. The lines before it may have been imported.
   *
   * @param in the stream to read from; not closed
   * @return the number of timers imported
   * @throws IllegalArgumentException if the input is not an export or is cut off; the message
   *     contains the line and the reason
   * @throws java.io.UncheckedIOException if the stream cannot be read
   */
  public long importFrom(InputStream in) {
    return TimerLines.importFrom(in, this);
  }

  /**
   * Copies all timers into another store, as {@link #exportTo} and an import do, without a file.
   *
   * @param target the other store
   * @param progress called with the number of timers that were read, after each batch
   * @return the number of timers that were written. A timer in the target is replaced only if it is
   *     older
   * @throws IncompleteExportException at the end, if some timers could not be read
   */
  public long copyTo(TimerStore target, LongConsumer progress) {
    return StoreCopy.copy(this, target, progress);
  }

  @Override
  public void copyTo(TimerSink sink) {
    this.<@Nullable Void>maintaining(
        maintenance -> {
          maintenance.copyTo(sink);
          return null;
        });
  }

  @Override
  public void beginImport(long lastVersion, Set<String> scopes) {
    writing(
        open -> {
          open.writer().raiseVersion(lastVersion);
          scopes.forEach(open.writer()::pause);
        });
  }

  @Override
  public int importTimers(List<CopiedTimer> timers) {
    List<TimerRecord> newer = using(open -> open.writer().take(timers));
    newer.forEach(this::notification);
    return newer.size();
  }

  /** Notifies a running engine of a record that it did not write itself. */
  private void notification(TimerRecord record) {
    StoreListener engine = listener;
    if (engine != null && record.isIndexed()) {
      engine.added(Rows.SHARD, record.fireAt());
    }
    if (engine != null && record.state() == TimerState.READY) {
      engine.ready(record.key().namespace(), record.definition().handler());
    }
  }

  /** {@return the disk and memory use, and the health of the database; returns quickly} */
  public RocksFigures figures() {
    return reading(open -> RocksFigures.of(directory, open.database(), failures));
  }

  /**
   * Checks that there is disk space to reopen the database. RocksDB then moves the entries in
   * memory to table files, where they need about half the space. Without that space, the old
   * database stays open for readers.
   */
  private void checkRoom(Database database) {
    try {
      long needed = database.memtableBytes() / 2 + (4 << 20);
      long free = Files.getFileStore(directory).getUsableSpace();
      if (free < needed) {
        throw failures.of(
            Kind.UNAVAILABLE,
            "a write has failed, and "
                + free
                + " bytes are free (expected: "
                + needed
                + " to go on)");
      }
    } catch (IOException | RocksDBException e) {
      throw failures.of(Kind.UNAVAILABLE, "cannot be opened again", e);
    }
  }

  /** Passes the open database and the start of each index to a function, for tests. */
  <T> T inspect(BiFunction<Database, FrontBounds, T> look) {
    return reading(open -> look.apply(open.database(), open.writer().bounds()));
  }

  private void flush() {
    writing(open -> open.writer().sync());
  }

  @Override
  public void close() {
    if (flusher != null) {
      flusher.close();
    }
    Session open;
    use.writeLock().lock();
    try {
      open = session;
      session = null;
      closed = true;
      if (open != null) {
        close(open);
      }
    } finally {
      use.writeLock().unlock();
    }
    if (open != null && !open.database().awaitUnpinned(CLOSE_TIMEOUT_MILLIS)) {
      LOG.log(
          System.Logger.Level.WARNING,
          directory
              + ": closed, but the directory stays in use until an export, a verification, a backup"
              + " or a histogram has ended");
    }
  }

  /** Puts the store into the state after a failed write, for tests. */
  void breakOff() {
    reading(open -> open.writer().failed(new RocksDBException("interrupted")));
  }

  /**
   * Flushes the memory to table files. A failure loses nothing, because the log contains the same
   * entries.
   */
  private void flushOrLeaveToLog(Database database) {
    try {
      database.flush();
    } catch (RocksDBException e) {
      LOG.log(
          System.Logger.Level.WARNING,
          directory + ": closed, and its log is read when it is opened again: " + e.getMessage());
    }
  }

  private void close(Session open) {
    try (Database database = open.database()) {
      if (!open.writer().isBroken()) {
        database.sync();
        flushOrLeaveToLog(database);
        open.writer().giveVersionsBack();
      }
    } catch (IOException e) {
      LOG.log(
          System.Logger.Level.INFO,
          directory + ": closed; versions that were reserved are left out: " + e.getMessage());
    } catch (RocksDBException e) {
      throw failures.of(Kind.UNKNOWN, "closed, but the latest writes are not on disk", e);
    }
  }
}
