// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static io.timewheel.durable.rocksdb.Fixture.NOW;
import static io.timewheel.durable.rocksdb.Fixture.key;
import static io.timewheel.durable.rocksdb.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.rocksdb.internal.file.Batch;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.file.Flusher;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.rocksdb.internal.store.Rows;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.DueTimer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.RocksDBException;

/** Verifies that a store continues after a failure. */
@Timeout(120)
class RepairTest {
  @TempDir Path directory;

  @Test
  void losesNothingAfterAnErrorDuringAWrite() throws Exception {
    try (RocksTimerStore store = RocksTimerStore.open(directory)) {
      Fixture fixture = new Fixture(store);
      fixture.commit(schedule("last", NOW + 1_000_000));
      List<Change> gone = new ArrayList<>();
      for (int i = 0; i < 1_000; i++) {
        gone.add(schedule("gone" + i, NOW + i));
      }
      store.commit(gone);
      gone.replaceAll(change -> new Change.Cancel(change.key(), 0, NOW));
      store.commit(gone); // the index now begins at the last timer
      Map<Family, ColumnFamilyHandle> families = families(store);
      ColumnFamilyHandle meta = families.remove(Family.META);
      assertThatThrownBy(() -> fixture.commit(schedule("never", NOW + 3)))
          .isInstanceOf(AssertionError.class);
      families.put(Family.META, meta);
      fixture.commit(schedule("first", NOW + 5));
    }
    try (RocksTimerStore store = RocksTimerStore.open(directory)) {
      assertThat(store.due(Rows.SHARD, Long.MAX_VALUE, null, 10))
          .extracting(DueTimer::key)
          .containsExactly(key("first"), key("last"));
      assertThat(store.verify().texts()).isEmpty();
    }
  }

  /** Returns the families of the open database, so that a test can remove one. */
  @SuppressWarnings("unchecked")
  private static Map<Family, ColumnFamilyHandle> families(RocksTimerStore store) throws Exception {
    var field = Database.class.getDeclaredField("families");
    field.setAccessible(true);
    Database open = store.inspect((database, bounds) -> database);
    return (Map<Family, ColumnFamilyHandle>) field.get(open);
  }

  @Test
  void reopensForAReader() throws Exception {
    AtomicLong nanos = new AtomicLong();
    try (RocksTimerStore store = RocksTimerStore.builder(directory).nanoTime(nanos::get).open()) {
      Fixture fixture = new Fixture(store);
      fixture.commit(schedule("a", NOW));
      Path current = directory.resolve("CURRENT");
      Path away = directory.resolve("CURRENT.away");
      Files.move(current, away);
      store.breakOff();
      assertThatThrownBy(() -> fixture.commit(schedule("b", NOW)))
          .hasMessageContaining("is not a store, and not empty");
      Files.move(away, current);
      nanos.addAndGet(999_999_999);
      assertThatThrownBy(() -> fixture.read("a"))
          .hasMessageContaining("could not be opened again yet");
      nanos.incrementAndGet();
      assertThat(store.due(Rows.SHARD, Long.MAX_VALUE, null, 10))
          .extracting(DueTimer::key)
          .containsExactly(key("a"));
      assertThat(fixture.read("a").dueAt()).isEqualTo(NOW);
    }
  }

  /** Entries that a repair has written must not stay hidden in front of an outdated bound. */
  @Test
  void opensTheDatabaseAgainAfterAFailedRepair() throws Exception {
    try (RocksTimerStore store = RocksTimerStore.open(directory)) {
      store.commit(List.of(schedule("last", NOW + 1_000_000)));
      store.commit(timers("lost", 1_700));
      store.inspect(
          (database, bounds) -> {
            try (Batch batch = new Batch(database)) {
              batch.deleteRange(
                  Family.DUE, Keys.due(Rows.SHARD, 0), Keys.due(Rows.SHARD, NOW + 9_999));
              batch.write(true);
              return true;
            } catch (RocksDBException e) {
              throw new AssertionError(e);
            }
          });
      List<Change> gone = timers("gone", 1_000);
      store.commit(gone);
      gone.replaceAll(change -> new Change.Cancel(change.key(), 0, NOW));
      store.commit(gone); // the index now begins at the last timer
      Map<Family, ColumnFamilyHandle> families = families(store);
      ColumnFamilyHandle answers = families.remove(Family.ANSWERS);
      assertThatThrownBy(store::repair).isInstanceOf(AssertionError.class);
      families.put(Family.ANSWERS, answers);

      store.commit(List.of(schedule("next", NOW + 2_000_000)));
      assertThat(store.due(Rows.SHARD, Long.MAX_VALUE, null, 5_000)).hasSize(1_502);
      assertThat(store.repair().isClean()).isFalse();
      assertThat(store.verify().texts()).isEmpty();
      assertThat(store.due(Rows.SHARD, Long.MAX_VALUE, null, 5_000)).hasSize(1_702);
    }
  }

  private static List<Change> timers(String prefix, int count) {
    List<Change> timers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      timers.add(schedule(prefix + i, NOW + i));
    }
    return timers;
  }

  /** Versions that another store has given must not be given again. */
  @Test
  void anImportRemembersTheVersionOfItsSource() {
    try (RocksTimerStore store = RocksTimerStore.open(directory)) {
      Fixture fixture = new Fixture(store);
      store.beginImport(1_000_000, Set.of());
      store.breakOff();
      fixture.commit(schedule("a", NOW));
      assertThat(fixture.read("a").version()).isGreaterThan(1_000_000);
    }
  }

  @Test
  void syncsAgainAfterErrorsAndLogsTheFirst() throws InterruptedException {
    List<String> lines = new CopyOnWriteArrayList<>();
    Logger logger = Logger.getLogger(RocksTimerStore.class.getName());
    logger.setFilter(
        line -> {
          lines.add(line.getMessage());
          return false;
        });
    AtomicInteger attempts = new AtomicInteger();
    CountDownLatch enough = new CountDownLatch(5);
    Runnable flush =
        () -> {
          enough.countDown();
          if (attempts.incrementAndGet() <= 3) {
            throw new OutOfMemoryError("injected by the test");
          }
        };
    Flusher flusher = new Flusher(Duration.ofMillis(1), flush);
    try {
      enough.await();
    } finally {
      flusher.close();
      logger.setFilter(null);
    }
    assertThat(lines)
        .containsExactly(
            "the log could not be forced to disk; tried again", "the log is forced to disk again");
  }
}
