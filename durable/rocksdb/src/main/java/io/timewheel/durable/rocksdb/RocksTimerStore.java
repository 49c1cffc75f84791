// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreException.Kind;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDB;
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
  private final Database database;
  private final Failures failures;
  private final Writer writer;
  private final Reader reader;

  /** Read-locked by whatever uses the database, write-locked by what closes it. */
  private final ReadWriteLock use = new ReentrantReadWriteLock();

  private final @Nullable Flusher flusher;
  private boolean closed;

  private RocksTimerStore(
      Database database, Failures failures, Writer writer, @Nullable Duration flushInterval) {
    this.database = database;
    this.failures = failures;
    this.writer = writer;
    reader = new Reader(database, failures, writer.dueBound());
    flusher = flushInterval == null ? null : new Flusher(flushInterval, this::flush);
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
   * Begins to open the store in a directory.
   *
   * @param directory the directory; made if it is not there
   * @return a builder with the default settings
   */
  public static Builder builder(Path directory) {
    return new Builder(requireNonNull(directory, "directory"));
  }

  private static RocksTimerStore open(Path directory, Settings settings) {
    Failures failures = new Failures(directory);
    loadLibrary(failures);
    Database database;
    try {
      database = Database.open(directory, settings);
    } catch (RocksDBException e) {
      throw failures.of(Kind.UNAVAILABLE, "cannot be opened", e);
    }
    try {
      Writer writer = new Writer(database, failures, settings.sync().isEveryCommit());
      return new RocksTimerStore(database, failures, writer, settings.sync().intervalOrNull());
    } catch (RocksDBException e) {
      database.close();
      throw failures.of(Kind.UNAVAILABLE, "cannot be opened", e);
    }
  }

  private static void loadLibrary(Failures failures) {
    try {
      RocksDB.loadLibrary();
    } catch (RuntimeException | LinkageError e) {
      throw failures.of(Kind.UNAVAILABLE, "the native library of RocksDB cannot be loaded", e);
    }
  }

  /** How to open a store. Not thread-safe. */
  public static final class Builder {
    private final Path directory;
    private Settings settings = Settings.DEFAULT;

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
      settings =
          new Settings(
              mode,
              settings.blockCacheBytes(),
              settings.writeBufferBytes(),
              settings.maxOpenFiles());
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
      settings =
          new Settings(
              settings.sync(), bytes, settings.writeBufferBytes(), settings.maxOpenFiles());
      return this;
    }

    /**
     * Opens the store.
     *
     * @return the store
     */
    public RocksTimerStore open() {
      return RocksTimerStore.open(directory, settings);
    }
  }

  private <T extends @Nullable Object> T using(Supplier<T> work) {
    use.readLock().lock();
    try {
      if (closed) {
        throw failures.of(Kind.UNAVAILABLE, "the store is closed");
      }
      return work.get();
    } finally {
      use.readLock().unlock();
    }
  }

  @Override
  public StoreTraits traits() {
    return StoreTraits.embedded();
  }

  @Override
  public void start(StoreListener listener) {
    requireNonNull(listener, "listener");
    long epoch = using(writer::newEpoch);
    listener.acquired(Writer.SHARD, epoch);
  }

  @Override
  public List<Outcome> commit(List<Change> changes) {
    return using(() -> writer.commit(changes));
  }

  @Override
  public List<DueTimer> due(int shard, long until, @Nullable DuePosition after, int limit) {
    return using(() -> reader.due(shard, until, after, limit));
  }

  @Override
  public @Nullable TimerRecord get(TimerKey key) {
    return this.<@Nullable TimerRecord>using(() -> reader.get(key));
  }

  @Override
  public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
    return using(() -> reader.page(query, after, limit));
  }

  @Override
  public long[] histogram(@Nullable String namespace, long[] bounds) {
    return using(() -> reader.histogram(namespace, bounds));
  }

  @Override
  public Map<String, Map<TimerState, Long>> counts() {
    return using(() -> writer.counts().all());
  }

  @Override
  public List<TimerRecord> lease(LeaseRequest request) {
    return using(() -> writer.lease(request));
  }

  @Override
  public void pause(String scope) {
    using(
        () -> {
          writer.pause(scope);
          return true;
        });
  }

  @Override
  public void resume(String scope) {
    using(
        () -> {
          writer.resume(scope);
          return true;
        });
  }

  @Override
  public Set<String> paused() {
    return using(writer::paused);
  }

  @Override
  public int forget(long finishedBefore, long keep, int limit) {
    return using(() -> writer.forget(finishedBefore, keep, limit));
  }

  private void flush() {
    using(
        () -> {
          try {
            database.sync();
          } catch (RocksDBException e) {
            throw failures.reading("the log cannot be forced to disk", e);
          }
          return true;
        });
  }

  @Override
  public void close() {
    if (flusher != null) {
      flusher.close();
    }
    use.writeLock().lock();
    try {
      if (!closed) {
        closed = true;
        database.sync();
      }
    } catch (RocksDBException e) {
      throw failures.of(Kind.UNKNOWN, "closed, but what was written last is not on disk", e);
    } finally {
      database.close();
      use.writeLock().unlock();
    }
  }
}
