// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Flusher;
import io.timewheel.durable.rocksdb.internal.file.OwnerOnly;
import io.timewheel.durable.rocksdb.internal.file.Settings;
import io.timewheel.durable.rocksdb.internal.store.FrontBounds;
import io.timewheel.durable.rocksdb.internal.store.Rows;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.LocalLimits;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerSink;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.maintenance.IncompleteExportException;
import io.timewheel.durable.spi.maintenance.StoreCopy;
import io.timewheel.durable.spi.maintenance.VerifyReport;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * Stores timers in a directory of this machine, in an embedded RocksDB. Only one process at a time
 * can use the directory.
 *
 * <pre>{@code
 * DurableTimer scheduler = DurableTimer.builder(RocksTimerStore.open(Path.of("timers")))
 *     .handler("orders.cancel", firing -> …)
 *     .start();
 * }</pre>
 *
 * <p>Once a call returns, its change is committed. {@link SyncMode} sets which commits also survive
 * a power cut. Only one store can be open in a directory. Opening a second one fails, in this
 * process and in any other.
 */
public final class RocksTimerStore implements TimerStore {
  private final Path directory;
  private final Sessions sessions;
  private final Failures failures;
  private final @Nullable Flusher flusher;

  /** The limits of hosts and queues, in memory only, because no other process uses the store. */
  private final LocalLimits limits = new LocalLimits();

  private volatile @Nullable StoreListener listener;

  private RocksTimerStore(Builder builder) {
    directory = builder.directory.toAbsolutePath();
    failures = new Failures(directory);
    sessions = new Sessions(directory, builder.settings, builder.sync, builder.nanoTime, failures);
    Duration interval = builder.sync.intervalOrNull();
    flusher = interval == null ? null : new Flusher(interval, this::flush);
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

  @Override
  public StoreTraits traits() {
    return StoreTraits.embedded();
  }

  @Override
  public void start(StoreListener engine) {
    listener = requireNonNull(engine, "listener");
    long epoch = sessions.using(open -> open.writer().newEpoch());
    engine.acquired(Rows.SHARD, epoch);
  }

  @Override
  public List<Outcome> commit(List<Change> changes) {
    return sessions.using(open -> open.writer().commit(changes));
  }

  @Override
  public List<DueTimer> due(int shard, long until, @Nullable DuePosition after, int limit) {
    return sessions.reading(open -> open.reader().due(shard, until, after, limit));
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
    return sessions.pinning(
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
    return sessions.<@Nullable TimerRecord>reading(open -> open.reader().get(key));
  }

  @Override
  public Map<TimerKey, TimerRecord> read(Collection<TimerKey> keys) {
    return sessions.reading(open -> open.reader().read(List.copyOf(keys)));
  }

  @Override
  public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
    return sessions.reading(open -> open.reader().page(query, after, limit));
  }

  @Override
  public TimerPage sorted(
      TimerQuery query, TimerOrder order, @Nullable DuePosition after, int limit) {
    return sessions.pinning(open -> open.reader().sorted(query, order, after, limit));
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
    return sessions.pinning(
        open -> {
          long timers = namespace == null ? 0 : open.writer().counts().of(namespace);
          return open.reader().histogram(namespace, timers, bounds);
        });
  }

  @Override
  public Map<String, Map<TimerState, Long>> counts() {
    return sessions.reading(open -> open.writer().counts().all());
  }

  @Override
  public Map<TimerKey, Map<TimerState, Long>> queueCounts(@Nullable String namespace) {
    return sessions.reading(open -> open.writer().counts().queues(namespace));
  }

  @Override
  public Map<TimerKey, Long> readySince(Collection<TimerKey> queues) {
    return sessions.reading(open -> open.writer().ready().since(queues));
  }

  @Override
  public List<TimerRecord> lease(
      List<LeaseRequest> requests, int limit, long nowMillis, Supplier<ClaimToken> tokens) {
    List<LeaseRequest> notEmpty =
        requests.size() == 1
            ? requests
            : sessions.reading(
                open -> requests.stream().filter(open.writer().ready()::contains).toList());
    return notEmpty.isEmpty()
        ? List.of()
        : sessions.using(open -> open.writer().lease(notEmpty, limit, nowMillis, tokens, limits));
  }

  @Override
  public int purgeAnswers(long answeredBefore, int limit) {
    return sessions.using(open -> open.writer().purgeAnswers(answeredBefore, limit));
  }

  @Override
  public void pause(String scope) {
    sessions.writing(open -> open.writer().pause(scope));
    StoreListener engine = listener;
    if (engine != null) {
      engine.paused(scope);
    }
  }

  @Override
  public void resume(String scope) {
    sessions.writing(open -> open.writer().resume(scope));
  }

  @Override
  public Set<String> paused() {
    return sessions.reading(open -> open.writer().paused());
  }

  @Override
  public int purge(long finishedBefore, long keep, int limit) {
    return sessions.using(open -> open.purge().run(finishedBefore, keep, limit));
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
    sessions.maintaining(maintenance -> maintenance.backup(target));
  }

  /**
   * Reads all entries, as of one moment, and compares the records with the indexes and the
   * counters. Timers continue to fire. Takes minutes for tens of millions of timers.
   *
   * @return the problems found
   */
  public VerifyReport verify() {
    return sessions.pinning(open -> open.maintenance().verify());
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
    return sessions.repair(
        () -> {
          if (listener != null) {
            throw new IllegalStateException(
                "repair: a scheduler runs on the store (expected: a store that no scheduler uses)");
          }
        });
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
    sessions.maintaining(maintenance -> maintenance.copyTo(sink));
  }

  @Override
  public void beginImport(long lastVersion, Set<String> scopes) {
    sessions.writing(
        open -> {
          open.writer().raiseVersion(lastVersion);
          scopes.forEach(open.writer()::pause);
        });
  }

  @Override
  public int importTimers(List<CopiedTimer> timers) {
    List<TimerRecord> newer = sessions.using(open -> open.writer().take(timers));
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
    return sessions.reading(open -> RocksFigures.of(directory, open.database(), failures));
  }

  /** Passes the open database and the start of each index to a function, for tests. */
  <T> T inspect(BiFunction<Database, FrontBounds, T> look) {
    return sessions.reading(open -> look.apply(open.database(), open.writer().bounds()));
  }

  private void flush() {
    sessions.writing(open -> open.writer().sync());
  }

  @Override
  public void close() {
    if (flusher != null) {
      flusher.close();
    }
    sessions.close();
  }

  /** Puts the store into the state after a failed write, for tests. */
  void breakOff() {
    sessions.reading(open -> open.writer().failed(new RocksDBException("interrupted")));
  }
}
