// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Opening;
import io.timewheel.durable.rocksdb.internal.file.Settings;
import io.timewheel.durable.rocksdb.internal.file.VersionFloor;
import io.timewheel.durable.rocksdb.internal.maintenance.Maintenance;
import io.timewheel.durable.rocksdb.internal.store.Purge;
import io.timewheel.durable.rocksdb.internal.store.Reader;
import io.timewheel.durable.rocksdb.internal.store.Writer;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import io.timewheel.durable.spi.format.MalformedException;
import io.timewheel.durable.spi.maintenance.VerifyReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * Opens the database of a store, opens it again after a failed write, and closes it. Callers share
 * it while they use it.
 */
final class Sessions {
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

  /** Callers hold the read lock to use the database, and the write lock to open or close it. */
  private final ReentrantReadWriteLock use = new ReentrantReadWriteLock();

  /** The open database; null if the store is closed, or if reopening failed. */
  private @Nullable Session session;

  private boolean closed;
  private long lastRepairNanos;

  /** An open database, with the objects that use it. */
  record Session(
      Database database, Writer writer, Reader reader, Purge purge, Maintenance maintenance) {}

  Sessions(
      Path directory, Settings settings, SyncMode sync, LongSupplier nanoTime, Failures failures) {
    this.directory = directory;
    this.settings = settings;
    this.sync = sync;
    this.nanoTime = nanoTime;
    this.failures = failures;
    session = newSession();
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

  // Use

  <T extends @Nullable Object> T using(Function<Session, T> work) {
    return with(open -> !open.writer().isBroken(), work);
  }

  void writing(Consumer<Session> work) {
    using(
        open -> {
          work.accept(open);
          return true;
        });
  }

  /** Like {@link #using}, but also accepts a database that no longer takes writes. */
  <T extends @Nullable Object> T reading(Function<Session, T> work) {
    return with(open -> true, work);
  }

  /**
   * Runs work on the open database. Reopens the database first if it does not meet the condition.
   */
  <T extends @Nullable Object> T with(Predicate<Session> good, Function<Session, T> work) {
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

  void maintaining(Consumer<Maintenance> work) {
    var unused =
        pinning(
            open -> {
              work.accept(open.maintenance());
              return true;
            });
  }

  /**
   * Runs work that takes minutes. It holds no lock, so neither a close nor a repair waits for it.
   */
  <T extends @Nullable Object> T pinning(Function<Session, T> work) {
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

  // Reopening

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

  /**
   * Rebuilds the indexes and the counters. No other call can use the store meanwhile.
   *
   * @param check throws if the store is in use
   */
  VerifyReport repair(Runnable check) {
    var unused = using(Session::database); // opens it again after a failed write
    use.writeLock().lock();
    try {
      check.run();
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

  // Close

  void close() {
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
