// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.maintenance;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.file.OwnerOnly;
import io.timewheel.durable.rocksdb.internal.file.PastDamage;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.rocksdb.internal.format.Meta;
import io.timewheel.durable.rocksdb.internal.store.Counts;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import io.timewheel.durable.spi.TimerSink;
import io.timewheel.durable.spi.format.MalformedException;
import io.timewheel.durable.spi.format.RecordCodec;
import io.timewheel.durable.spi.maintenance.VerifyReport;
import io.timewheel.durable.spi.record.TimerRecord;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.Snapshot;

/** Backs up, exports, verifies and repairs an open database. */
public final class Maintenance {
  private final Database database;
  private final Failures failures;

  public Maintenance(Database database, Failures failures) {
    this.database = database;
    this.failures = failures;
  }

  public void backup(Path target) {
    if (Files.exists(target)) {
      throw isThere(target);
    }
    // RocksDB makes the copy readable by other users, so put it into a directory that they cannot
    // enter.
    Path closed = target.toAbsolutePath().resolveSibling("copy-" + UUID.randomUUID());
    Path copy = closed.resolve("store");
    try {
      OwnerOnly.createDirectory(closed);
      try {
        database.copyTo(copy);
        OwnerOnly.restrict(copy);
        Files.move(copy, target);
      } finally {
        delete(copy);
        delete(closed);
      }
    } catch (FileAlreadyExistsException e) {
      throw isThere(target);
    } catch (IOException | RocksDBException e) {
      throw failures.of(Kind.UNAVAILABLE, "cannot be copied to " + target, e);
    }
  }

  private StoreException isThere(Path target) {
    return failures.of(Kind.REJECTED, "cannot be copied to " + target + ", which already exists");
  }

  private static void delete(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
        for (Path file : files) {
          Files.delete(file);
        }
      }
      Files.delete(directory);
    }
  }

  public VerifyReport verify() {
    return Verifier.verify(database, this::checkGoesOn);
  }

  public VerifyReport repair() {
    try (Fixes fixes = new Fixes(database, failures)) {
      VerifyReport fixed = Verifier.repair(database, this::checkGoesOn, fixes);
      fixes.write();
      return fixed;
    }
  }

  /**
   * Drops the indexes with damaged blocks, for a repair after the next opening. If records are
   * damaged too, an index stays: only its entries lead to records that a scan cannot reach.
   *
   * @return true if it dropped an index
   */
  public boolean dropDamagedIndexes() {
    try {
      List<Family> damaged = new ArrayList<>();
      for (Family index : Family.INDEXES) {
        if (!isReadable(index)) {
          damaged.add(index);
        }
      }
      if (damaged.isEmpty() || !isReadable(Family.TIMERS)) {
        return false;
      }
      for (Family index : damaged) {
        database.drop(index);
      }
      return true;
    } catch (RocksDBException e) {
      throw failures.reading("cannot be repaired", e);
    }
  }

  private boolean isReadable(Family family) throws RocksDBException {
    try {
      database.scan(
          family,
          null,
          null,
          null,
          at -> {
            checkGoesOn();
            return true;
          });
      return true;
    } catch (RocksDBException e) {
      if (!Failures.isDamage(e)) {
        throw e;
      }
      return false;
    }
  }

  public void copyTo(TimerSink sink) {
    Snapshot snapshot = database.db().getSnapshot();
    try (ReadOptions options = new ReadOptions().setSnapshot(snapshot).setFillCache(false)) {
      copyTo(sink, snapshot, options);
    } catch (RocksDBException e) {
      throw failures.reading("cannot be exported", e);
    } finally {
      database.db().releaseSnapshot(snapshot);
    }
  }

  private void copyTo(TimerSink sink, Snapshot snapshot, ReadOptions options)
      throws RocksDBException {
    byte[] lastVersion = database.get(Family.META, Meta.lastVersion(), options);
    Set<String> paused = new HashSet<>();
    byte[] pauses = Meta.allPaused();
    database.scan(
        Family.META,
        pauses,
        Keys.behindAll(pauses),
        snapshot,
        at -> {
          paused.add(Meta.scope(at.key()));
          return true;
        });
    long stored = stored(snapshot);
    Unread unread = new Unread();
    ReadableTimers readable = new ReadableTimers(sink, options, unread);
    sink.begin(lastVersion == null ? 0 : Meta.number(lastVersion), paused);
    new PastDamage(database, Family.TIMERS, options, this::checkGoesOn)
        .scan(
            at -> {
              readable.take(at.key(), at.value());
              return true;
            },
            unread::gap);
    if (unread.hasGaps()) {
      for (Family index : Family.INDEXES) {
        copyOneByOne(index, options, readable, unread);
      }
    }
    sink.end();
    unread.check(failures, readable.timers, stored);
  }

  /** Returns the number of timers according to the counters. */
  private long stored(Snapshot snapshot) throws RocksDBException {
    long[] stored = {0};
    byte[] counters = Meta.allCounts();
    database.scan(
        Family.META,
        counters,
        Keys.behindAll(counters),
        snapshot,
        at -> {
          if (!Scopes.isQueue(Meta.scope(at.key()))) { // the counters of namespaces include queues
            stored[0] +=
                Counts.decode(at.value()).values().stream().mapToLong(Long::longValue).sum();
          }
          return true;
        });
    return stored[0];
  }

  private void checkGoesOn() {
    failures.checkGoesOn(database);
  }

  /** Passes each readable timer to the sink. */
  private final class ReadableTimers {
    private final TimerSink sink;
    private final ReadOptions options;
    private final Unread unread;
    private long timers;

    ReadableTimers(TimerSink sink, ReadOptions options, Unread unread) {
      this.sink = sink;
      this.options = options;
      this.unread = unread;
    }

    void take(byte[] timer, byte[] value) {
      TimerRecord record;
      try {
        TimerKey key = Keys.timer(timer);
        record = RecordCodec.decode(key, value, () -> payload(timer, options)).record();
      } catch (MalformedException e) {
        unread.timer(timer, e);
        return;
      }
      sink.take(new CopiedTimer(record, null));
      timers++;
    }
  }

  private byte[] payload(byte[] timer, ReadOptions options) {
    try {
      byte[] payload = database.get(Family.PAYLOADS, timer, options);
      if (payload == null) {
        throw new MalformedException("its payload is missing");
      }
      return payload;
    } catch (RocksDBException e) {
      throw new MalformedException("its payload cannot be read: " + Failures.reason(e));
    }
  }

  /**
   * Exports the timers in a gap that an index refers to. A lookup finds timers that a scan cannot
   * reach: it reads at most one block of each table, and none of most tables. A scan needs every
   * table to be readable at the same position.
   */
  private void copyOneByOne(
      Family index, ReadOptions options, ReadableTimers readable, Unread unread)
      throws RocksDBException {
    new PastDamage(database, index, options, this::checkGoesOn)
        .scan(
            at -> {
              byte[] timer = timerOf(index, at.key());
              if (timer == null || !unread.isInGap(timer)) {
                return true;
              }
              try {
                byte[] value = database.get(Family.TIMERS, timer, options);
                if (value != null) {
                  readable.take(timer, value);
                }
              } catch (RocksDBException e) {
                unread.timer(timer, e);
              }
              return true;
            },
            (behind, before, why) -> {}); // damage in an index loses no timer
  }

  private static byte @Nullable [] timerOf(Family index, byte[] entry) {
    try {
      return Keys.timer(Verifier.position(index, entry).key());
    } catch (MalformedException e) {
      return null;
    }
  }
}
