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
import io.timewheel.durable.rocksdb.internal.format.MalformedException;
import io.timewheel.durable.rocksdb.internal.maintenance.Maintenance;
import io.timewheel.durable.rocksdb.internal.store.FrontBounds;
import io.timewheel.durable.rocksdb.internal.store.Purge;
import io.timewheel.durable.rocksdb.internal.store.Reader;
import io.timewheel.durable.rocksdb.internal.store.Rows;
import io.timewheel.durable.rocksdb.internal.store.Writer;
import io.timewheel.durable.rocksdb.internal.transfer.Import;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.HandlerNames;
import io.timewheel.durable.spi.IncompleteExportException;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.LocalLimits;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.VerifyReport;
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
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * A store in a directory of this machine, for one process: RocksDB, embedded.
 *
 * <pre>{@code
 * DurableTimer timer = DurableTimer.builder(RocksTimerStore.open(Path.of("timers")))
 *     .handler("orders.cancel", firing -> …)
 *     .start();
 * }</pre>
 *
 * <p>What it acknowledges is on disk, as far as its {@link SyncMode} says. The directory belongs to
 * one open store at a time; another one is refused, in this process or in any other.
 */
public final class RocksTimerStore implements TimerStore {
  private static final System.Logger LOG = Failures.LOG;

  /** Between two attempts to open the database again, each of which reads its log. */
  private static final long REPAIR_INTERVAL_NANOS = 1_000_000_000;

  private static final long REPAIR_PATIENCE_MILLIS = 100;
  private static final long CLOSE_PATIENCE_MILLIS = 1_000;

  private final Path directory;
  private final Settings settings;
  private final SyncMode sync;
  private final LongSupplier nanoTime;
  private final Failures failures;
  private final @Nullable Flusher flusher;

  /** Read-locked by whatever uses the database, write-locked by what opens or closes it. */
  private final ReentrantReadWriteLock use = new ReentrantReadWriteLock();

  /** Null when it is closed, or could not be opened again. */
  private @Nullable Session session;

  /** One process alone uses the store: its limits need not be stored. */
  private final LocalLimits limits = new LocalLimits();

  private volatile @Nullable StoreListener listener;
  private boolean closed;
  private long lastRepairNanos;

  /** The open database, and those who use it. */
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
   * Opens the store in a directory, or makes an empty one there.
   *
   * @param directory the directory; made if it is not there
   * @return the store
   */
  public static RocksTimerStore open(Path directory) {
    return builder(directory).open();
  }

  /**
   * Takes the permissions of all users except the owner from a directory and the files in it. A
   * directory that a store has made has none; files in it may have.
   *
   * @param directory the directory of a store
   * @return how many files and directories others had permissions for
   * @throws IOException if the permissions cannot be changed
   */
  public static int restrict(Path directory) throws IOException {
    return OwnerOnly.restrict(directory);
  }

  /**
   * Begins to open the store in a directory.
   *
   * @param directory the directory; made if it is not there
   * @return a builder with the default settings
   */
  public static Builder builder(Path directory) {
    return new Builder(requireNonNull(directory, "directory"));
  }

  /** How to open a store. Not thread-safe. */
  public static final class Builder {
    private final Path directory;
    private Settings settings = Settings.DEFAULT;
    private SyncMode sync = SyncMode.sync();
    private LongSupplier nanoTime = System::nanoTime;

    private Builder(Path directory) {
      this.directory = directory;
    }

    /**
     * Sets when commits are forced to disk: every one of them, unless told otherwise.
     *
     * @param mode when
     * @return this
     */
    public Builder sync(SyncMode mode) {
      requireNonNull(mode, "mode");
      sync = mode;
      return this;
    }

    /**
     * Sets how much memory outside of the heap the cache of table files takes: 64 MiB, unless told
     * otherwise.
     *
     * @param bytes its size, at least 1 MiB
     * @return this
     */
    public Builder blockCache(long bytes) {
      if (bytes < 1 << 20) {
        throw new IllegalArgumentException("blockCache: " + bytes + " (expected: at least 1 MiB)");
      }
      settings = new Settings(bytes, settings.writeBufferBytes(), settings.maxOpenFiles());
      return this;
    }

    /** Sets the clock by which it waits before it is opened again. */
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

  /** As {@link #using}, but content with a database that nothing can be written to. */
  private <T extends @Nullable Object> T reading(Function<Session, T> work) {
    return with(open -> true, work);
  }

  /** Uses the open database; tries to open it again before, if it is not good enough. */
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
   * Work that takes minutes: it holds no lock, so that neither a close nor a repair waits for it.
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
   * Opens the database again after a write has failed. RocksDB takes no write after that, and only
   * its log can say what became of the one that failed.
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
        if (!broken.database().endLongWork()) {
          throw failures.of(
              Kind.UNAVAILABLE,
              "a write has failed, and the database is opened again when an export, a verification,"
                  + " a backup or a histogram has ended");
        }
        session = null;
        broken.database().close();
      }
      lastRepairNanos = now;
      session = newSession();
    } finally {
      use.writeLock().unlock();
    }
  }

  /** Whoever reads waits no longer than this behind one who waits for them. */
  private boolean tryWriteLock() {
    try {
      return use.writeLock().tryLock(REPAIR_PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
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

  /** Without an index, since it has one owner, which looks after a start and a resume. */
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
  public int forgetAnswers(long answeredBefore, int limit) {
    return using(open -> open.writer().forgetAnswers(answeredBefore, limit));
  }

  @Override
  public int pause(String scope) {
    writing(open -> open.writer().pause(scope));
    StoreListener engine = listener;
    return engine == null ? 0 : engine.paused(scope);
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
  public int forget(long finishedBefore, long keep, int limit) {
    return using(open -> open.purge().run(finishedBefore, keep, limit));
  }

  // Maintenance

  /**
   * Copies the store as it is at this moment, while it is at work. The copy is a store of its own:
   * {@link #open(Path)} opens it. On the same file system it takes little room at first, because it
   * shares files that are never written again.
   *
   * <p>Until it is complete it has a place next to the target as {@code copy-} and a UUID: a
   * process that is killed meanwhile leaves that, and whoever finds it may delete it.
   *
   * @param target a directory that is not there yet
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
   * Reads everything, as of one moment, and compares the records with the indexes and the counters.
   * The timers go on meanwhile. It takes minutes for tens of millions of timers.
   *
   * @return what is wrong
   */
  public VerifyReport verify() {
    return maintaining(Maintenance::verify);
  }

  /**
   * Verifies, and rebuilds the indexes and the counters from the records. Records that cannot be
   * read, and payloads that are missing, stay as they are: call {@link #verify} afterwards to learn
   * whether problems remain. Nothing else uses the store meanwhile.
   *
   * @return the problems that were fixed
   * @throws IllegalStateException if a scheduler was started on this store
   */
  public VerifyReport repair() {
    use.writeLock().lock();
    try {
      if (listener != null) {
        throw new IllegalStateException(
            "repair: a scheduler runs on the store (expected: a store that no scheduler uses)");
      }
      Session open = session();
      VerifyReport fixed = open.maintenance().repair();
      session = newSession(open.database()); // the writer keeps counters and bounds in memory
      return fixed;
    } finally {
      use.writeLock().unlock();
    }
  }

  /**
   * Writes all timers as lines of JSON, as of one moment, while the store is at work. With them go
   * the pauses, and the last version, so that versions grow on in another store.
   *
   * <p>What is damaged is passed over, and all that can be read is written before this is said by
   * an exception: keep what was written, it can be imported as any other.
   *
   * @param out where to; flushed, and not closed
   * @return how many timers there are
   * @throws IncompleteExportException at the end, if some timers could not be read: says how many,
   *     and where
   * @throws java.io.UncheckedIOException if it cannot be written to
   */
  public long exportTo(OutputStream out) {
    requireNonNull(out, "out");
    return maintaining(maintenance -> maintenance.exportTo(out));
  }

  /**
   * Takes timers that {@link #exportTo} wrote. A timer takes the place of one with the same key if
   * it is newer, by version and then by revision; otherwise the one that is here stays. So the same
   * export may be imported again, after an error for instance. What was running when it was
   * exported counts as lost, and is attempted again.
   *
   * <p>A line that is wrong ends it. The lines before it may have been taken.
   *
   * @param in where from; not closed
   * @return how many timers were taken
   * @throws IllegalArgumentException if it is no export, or cut off: says which line, and why
   * @throws java.io.UncheckedIOException if it cannot be read
   */
  public long importFrom(InputStream in) {
    requireNonNull(in, "in");
    long[] taken = {0};
    new Import(traits().maxBatch())
        .read(
            in,
            new Import.Target() {
              @Override
              public void begin(Import.Header header) {
                writing(
                    open -> {
                      open.writer().raiseVersion(header.lastVersion());
                      header.paused().forEach(open.writer()::pause);
                    });
              }

              @Override
              public void take(List<TimerRecord> records) {
                List<TimerRecord> newer = using(open -> open.writer().take(records));
                taken[0] += newer.size();
                newer.forEach(RocksTimerStore.this::hint);
              }
            });
    return taken[0];
  }

  /** An engine that is at work must see what it has not put there itself. */
  private void hint(TimerRecord record) {
    StoreListener engine = listener;
    if (engine != null && record.isIndexed()) {
      engine.added(Rows.SHARD, record.fireAt());
    }
    if (engine != null && record.state() == TimerState.READY) {
      engine.ready(record.key().namespace(), record.definition().handler());
    }
  }

  /** {@return what the store takes up, and how its database is doing; quick} */
  public RocksFigures figures() {
    return reading(open -> RocksFigures.of(directory, open.database(), failures));
  }

  /**
   * What is in memory goes to table files when the database is opened, where it takes about half
   * the room. Until there is that, the old one is kept, for those who read.
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

  /** The open database and where its indexes begin, for tests. */
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
    if (open != null && !open.database().awaitUnpinned(CLOSE_PATIENCE_MILLIS)) {
      LOG.log(
          System.Logger.Level.WARNING,
          directory
              + ": closed, but for an export, a verification, a backup or a histogram that has not"
              + " ended; until then the directory is in use");
    }
  }

  /** As after a write that has failed, for tests. */
  void breakOff() {
    reading(open -> open.writer().failed(new RocksDBException("broken off")));
  }

  /** Nothing depends on it: what is not in table files is in the log. */
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
      throw failures.of(Kind.UNKNOWN, "closed, but what was written last is not on disk", e);
    }
  }
}
