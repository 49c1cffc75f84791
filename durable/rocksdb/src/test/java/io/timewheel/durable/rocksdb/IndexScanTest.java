// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static io.timewheel.durable.rocksdb.Fixture.NOW;
import static io.timewheel.durable.rocksdb.Fixture.definition;
import static io.timewheel.durable.rocksdb.Fixture.key;
import static io.timewheel.durable.rocksdb.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.TimerRecord;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.PerfLevel;

/**
 * Verifies that a scan of an index begins at its first entry, not at tombstones of deleted entries.
 * RocksDB counts the entries that it skips.
 */
class IndexScanTest {
  /** More than one range deletion covers. */
  private static final int DELETED = 120_000;

  /** Enough that a scan over their tombstones is a long one, for indexes with the same bound. */
  private static final int FEWER_DELETED = 20_000;

  private static final int BATCH = 1_000;

  /** A limit for a short scan: more than twice the deletions between two raises of a bound. */
  private static final long FEW = 5_000;

  /** The number of deletions after which one range deletion covers their tombstones. */
  private static final long RANGE = 100_000;

  @TempDir Path directory;

  private RocksTimerStore open() {
    return RocksTimerStore.builder(directory).sync(SyncMode.os()).open();
  }

  /** Counts the entries and tombstones that this thread skips during some work. */
  private static long skippedBy(RocksTimerStore store, Runnable work) {
    store.inspect(
        (database, bounds) -> {
          database.db().setPerfLevel(PerfLevel.ENABLE_COUNT);
          database.db().getPerfContext().reset();
          return true;
        });
    work.run();
    return store.inspect(
        (database, bounds) -> {
          var context = database.db().getPerfContext();
          database.db().setPerfLevel(PerfLevel.DISABLE);
          return context.getInternalDeleteSkippedCount() + context.getInternalKeySkippedCount();
        });
  }

  private static void inBatches(RocksTimerStore store, int count, IntFunction<Change> change) {
    for (int i = 0; i < count; i += BATCH) {
      List<Change> changes = new ArrayList<>();
      for (int j = i; j < i + BATCH; j++) {
        changes.add(change.apply(j));
      }
      store.commit(changes);
    }
  }

  private static void cancelAll(RocksTimerStore store, int count) {
    inBatches(store, count, i -> new Change.Cancel(key("gone-" + i), 0, NOW + i));
  }

  @Test
  void findsDueTimersAfterAllFiredOnes() {
    byte[] last = Keys.due(0, NOW + 1_000_000, Keys.timer(key("last")));
    byte[] first = Keys.due(0, NOW + 3, Keys.timer(key("first")));
    try (RocksTimerStore store = open()) {
      new Fixture(store).commit(schedule("last", NOW + 1_000_000));
      inBatches(store, DELETED, i -> schedule("gone-" + i, NOW + i));
      cancelAll(store, DELETED);
      assertThat(dueFrom(store)).isEqualTo(last);
      assertThat(skippedBy(store, () -> assertThat(due(store)).isEqualTo(1))).isLessThan(FEW);
      // An entry in front of the bound is found, and lowers the bound.
      new Fixture(store).commit(schedule("first", NOW + 3));
      assertThat(due(store)).isEqualTo(2);
      assertThat(dueFrom(store)).isEqualTo(first);
    }
    try (RocksTimerStore store = open()) {
      assertThat(dueFrom(store)).isEqualTo(first);
      assertThat(skippedBy(store, () -> assertThat(due(store)).isEqualTo(2))).isLessThan(RANGE);
      assertThat(store.verify().texts()).isEmpty();
    }
  }

  private static TimerKey in(String namespace, int number) {
    return new TimerKey(namespace, "t" + number);
  }

  /** Counts the entries that a histogram reads. */
  private static long readBy(RocksTimerStore store, String namespace, long[] bounds, long... all) {
    store.inspect(
        (database, bound) -> {
          database.db().setPerfLevel(PerfLevel.ENABLE_COUNT);
          database.db().getPerfContext().reset();
          return true;
        });
    assertThat(store.histogram(namespace, bounds)).containsExactly(all);
    return store.inspect(
        (database, bound) -> {
          database.db().setPerfLevel(PerfLevel.DISABLE);
          return database.db().getPerfContext().getNextOnMemtableCount();
        });
  }

  @Test
  void countsASmallNamespaceWithoutReadingAllOthers() {
    int large = 20_000;
    try (RocksTimerStore store = open()) {
      Fixture fixture = new Fixture(store);
      inBatches(store, large, i -> schedule(in("large", i), NOW + i, definition(false, 3)));
      for (int i = 0; i < 10; i++) {
        fixture.commit(schedule(in("small", i), NOW + 2_000L * i, definition(false, 3)));
        fixture.commit(schedule(in("finished", i), NOW + 2_000L * i, definition(false, 3)));
        fixture.commit(new Change.Cancel(in("finished", i), 0, NOW));
      }
      long[] bounds = {NOW + 1, NOW + 4_000, NOW + 4_001, NOW + large};
      assertThat(readBy(store, "small", bounds, 1, 1, 7)).isLessThan(100);
      assertThat(readBy(store, "finished", bounds, 0, 0, 0)).isLessThan(100);
      assertThat(readBy(store, "unused", bounds, 0, 0, 0)).isZero();
      assertThat(readBy(store, "large", bounds, 3_999, 1, large - 4_001)).isLessThan(3L * large);
      long[] narrow = {NOW + 100, NOW + 110};
      assertThat(readBy(store, "large", narrow, 10)).isLessThan(100);
    }
  }

  private static byte[] dueFrom(RocksTimerStore store) {
    return store.inspect((database, bounds) -> bounds.due().from());
  }

  private static int due(RocksTimerStore store) {
    return store.due(0, Long.MAX_VALUE, null, 10).size();
  }

  @Test
  void findsFinishedTimersAfterAllPurgedOnes() {
    try (RocksTimerStore store = open()) {
      inBatches(store, FEWER_DELETED, i -> schedule("gone-" + i, NOW + i));
      cancelAll(store, FEWER_DELETED);
      assertThat(store.purge(NOW, Long.MAX_VALUE, BATCH)).isZero();
      for (int purged = 0; purged < FEWER_DELETED - BATCH; purged += BATCH) {
        assertThat(store.purge(Long.MAX_VALUE, 0, BATCH)).isEqualTo(BATCH);
      }
      assertThat(
              skippedBy(
                  store, () -> assertThat(store.purge(Long.MAX_VALUE, 0, BATCH)).isEqualTo(BATCH)))
          .isLessThan(FEW);
      // The clock has gone back, so a timer finishes before all others.
      Fixture fixture = new Fixture(store);
      fixture.commit(schedule("early", NOW));
      fixture.commit(new Change.Cancel(key("early"), 0, NOW - 5_000));
      assertThat(store.purge(NOW - 4_999, Long.MAX_VALUE, BATCH)).isEqualTo(1);
      assertThat(store.verify().texts()).isEmpty();
    }
  }

  @Test
  void findsReadyTimersAfterAllClaimedOnes() {
    try (RocksTimerStore store = open()) {
      Fixture fixture = new Fixture(store);
      inBatches(store, FEWER_DELETED, i -> schedule(key("q-" + i), NOW, definition(true, 0)));
      inBatches(store, FEWER_DELETED, i -> makeReady(fixture, "q-" + i, NOW + i));
      for (int leased = 0; leased < FEWER_DELETED - BATCH; leased += BATCH) {
        assertThat(lease(store)).hasSize(BATCH);
      }
      assertThat(skippedBy(store, () -> assertThat(lease(store)).hasSize(BATCH))).isLessThan(FEW);
      assertThat(lease(store)).isEmpty();
      // The clock has gone back, so a timer is ready before all others.
      fixture.commit(schedule(key("early"), NOW, definition(true, 0)));
      fixture.commit(makeReady(fixture, "early", NOW - 5_000));
      assertThat(lease(store)).extracting(record -> record.key().id()).containsExactly("early");
      assertThat(store.verify().texts()).isEmpty();
    }
  }

  @Test
  void idleQueuesDoNotMakeTheScanOfABusyOneLonger() {
    int leases = 20;
    try (RocksTimerStore store = open()) {
      Fixture fixture = new Fixture(store);
      inBatches(store, leases * BATCH, i -> schedule(key("q-" + i), NOW, definition(true, 0)));
      inBatches(store, leases * BATCH, i -> makeReady(fixture, "q-" + i, NOW + i));
      for (int i = 1; i < leases; i++) {
        assertThat(lease(store)).hasSize(BATCH);
      }
      List<LeaseRequest> idle = new ArrayList<>();
      for (int i = 0; i < 2_000; i++) {
        LeaseRequest request = new LeaseRequest("shop", "idle-" + i, 1, NOW + 1);
        idle.add(request);
        assertThat(store.lease(List.of(request), 1, NOW, () -> new ClaimToken(1, 2))).isEmpty();
      }
      assertThat(store.lease(idle, BATCH, NOW, () -> new ClaimToken(1, 2))).isEmpty();
      assertThat(skippedBy(store, () -> assertThat(lease(store)).hasSize(BATCH))).isLessThan(FEW);
    }
  }

  private static Change makeReady(Fixture fixture, String id, long now) {
    TimerRecord read = fixture.read(id);
    return new Change.MakeReady(
        key(id), read.version(), read.revision(), fixture.epoch, TimerRecord.NONE, now);
  }

  private static List<TimerRecord> lease(RocksTimerStore store) {
    return store.lease(
        List.of(new LeaseRequest("shop", "orders", BATCH, NOW + 1_000_000_000L)),
        BATCH,
        NOW,
        () -> new ClaimToken(1, 2));
  }
}
