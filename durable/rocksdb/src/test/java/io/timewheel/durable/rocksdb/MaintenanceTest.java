// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static io.timewheel.durable.rocksdb.Fixture.NOW;
import static io.timewheel.durable.rocksdb.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.rocksdb.internal.store.Rows;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;

/** Verifies that no operation waits for an export whose output stalls. */
@Timeout(120)
class MaintenanceTest {
  private static final int TIMERS = 3_000;

  /**
   * Not the common pool, which has one thread on two processors, so tasks would run one after the
   * other.
   */
  private static final Executor NEW_THREAD = task -> new Thread(task, "maintenance").start();

  @TempDir Path directory;

  /** Blocks writes until the test continues them. */
  private static final class Blocking extends OutputStream {
    final CountDownLatch blocked = new CountDownLatch(1);
    final CountDownLatch goesOn = new CountDownLatch(1);

    @Override
    public void write(int b) throws IOException {
      throw new IOException("one by one");
    }

    @Override
    public void write(byte[] bytes, int start, int length) throws IOException {
      blocked.countDown();
      try {
        goesOn.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
  }

  private RocksTimerStore filled() {
    RocksTimerStore store = RocksTimerStore.open(directory);
    List<Change> changes = new ArrayList<>();
    for (int i = 0; i < TIMERS; i++) {
      changes.add(schedule("t" + i, NOW));
    }
    new Fixture(store).store.commit(changes);
    return store;
  }

  private static CompletableFuture<Long> export(RocksTimerStore store, Blocking out)
      throws InterruptedException {
    CompletableFuture<Long> export = CompletableFuture.supplyAsync(() -> store.exportTo(out));
    out.blocked.await();
    return export;
  }

  private static void assertBrokenOff(CompletableFuture<Long> export) {
    assertThatThrownBy(export::join)
        .cause()
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("interrupted: the database was closed, or opened again");
  }

  @Test
  void closesDuringAnExport() throws InterruptedException {
    RocksTimerStore store = filled();
    Blocking out = new Blocking();
    CompletableFuture<Long> export = export(store, out);

    store.close();

    assertThat(export).isNotDone();
    assertThatThrownBy(() -> RocksTimerStore.open(directory))
        .hasMessageContaining("is in use by another store");
    out.goesOn.countDown();
    assertBrokenOff(export);
    try (RocksTimerStore again = RocksTimerStore.open(directory)) {
      assertThat(again.verify().timers()).isEqualTo(TIMERS);
    }
  }

  @Test
  void neitherAWriteNorACloseWaitsForAHistogram() throws InterruptedException {
    RocksTimerStore store = filled();
    Fixture fixture = new Fixture(store);
    byte[] unreadable = Keys.due(Rows.SHARD, NOW, Keys.timer(Fixture.key("a")));
    store.inspect(
        (database, bounds) -> {
          try {
            database.db().put(database.handle(Family.DUE), unreadable, new byte[0]);
            return true;
          } catch (RocksDBException e) {
            throw new AssertionError(e);
          }
        });
    CountDownLatch blocked = new CountDownLatch(1);
    CountDownLatch goesOn = new CountDownLatch(1);
    Handler handler = blocking(blocked, goesOn); // unreadable entries are reported
    Logger logger = Logger.getLogger(RocksTimerStore.class.getName());
    logger.addHandler(handler);
    try {
      CompletableFuture<long[]> histogram =
          CompletableFuture.supplyAsync(() -> store.histogram(null, new long[] {NOW, NOW + 1}));
      blocked.await();
      store.breakOff();
      assertThatThrownBy(() -> fixture.commit(schedule("new", NOW)))
          .hasMessageContaining("a backup or a histogram has ended");
      store.close();
      assertThat(histogram).isNotDone();
      goesOn.countDown();
      assertThatThrownBy(histogram::join).hasMessageContaining("interrupted");
    } finally {
      goesOn.countDown();
      logger.removeHandler(handler);
    }
  }

  private static Handler blocking(CountDownLatch blocked, CountDownLatch goesOn) {
    return new Handler() {
      @Override
      public void publish(LogRecord line) {
        if (!line.getLevel().equals(Level.SEVERE)) {
          return;
        }
        blocked.countDown();
        try {
          goesOn.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }

      @Override
      public void flush() {}

      @Override
      public void close() {}
    };
  }

  @Test
  void readsAfterAWriteHasFailedDuringAnExport() throws InterruptedException {
    try (RocksTimerStore store = filled()) {
      Fixture fixture = new Fixture(store);
      Blocking out = new Blocking();
      CompletableFuture<Long> export = export(store, out);
      store.breakOff();

      assertThatThrownBy(() -> fixture.commit(schedule("new", NOW)))
          .isInstanceOfSatisfying(
              StoreException.class,
              e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.UNAVAILABLE))
          .hasMessageContaining("when an export, a verification, a backup or a histogram");
      assertThat(fixture.read("t1").dueAt()).isEqualTo(NOW);
      assertThat(store.due(0, Long.MAX_VALUE, null, 10)).hasSize(10);

      out.goesOn.countDown();
      assertBrokenOff(export);
      assertThat(fixture.commit(schedule("new", NOW)).version()).isGreaterThan(TIMERS);
      assertThat(store.verify().timers()).isEqualTo(TIMERS + 1);
    }
  }

  @Test
  void aBackupChangesNoFilesOutsideItsTarget(@TempDir Path backups) {
    try (RocksTimerStore store = filled()) {
      Path finished = backups.resolve("a.tmp"); // where RocksDB would put its own files
      store.backup(finished);
      store.backup(backups.resolve("a"));

      assertThat(backups.toFile().list()).containsExactlyInAnyOrder("a", "a.tmp");
      try (RocksTimerStore copy = RocksTimerStore.open(finished)) {
        assertThat(copy.verify().timers()).isEqualTo(TIMERS);
      }
    }
  }

  @Test
  void onlyOneOfManyBackupsToTheSameDirectorySucceeds(@TempDir Path backups) {
    try (RocksTimerStore store = filled()) {
      Path target = backups.resolve("a");
      List<CompletableFuture<Void>> copies =
          Stream.generate(() -> CompletableFuture.runAsync(() -> store.backup(target), NEW_THREAD))
              .limit(8)
              .toList();

      assertThat(copies.stream().filter(MaintenanceTest::isMade)).hasSize(1);
      assertThat(backups.toFile().list()).containsExactly("a");
      try (RocksTimerStore copy = RocksTimerStore.open(target)) {
        assertThat(copy.verify().timers()).isEqualTo(TIMERS);
      }
    }
  }

  private static boolean isMade(CompletableFuture<Void> copy) {
    try {
      copy.join();
      return true;
    } catch (CompletionException e) {
      assertThat(e).cause().isInstanceOf(StoreException.class);
      return false;
    }
  }
}
