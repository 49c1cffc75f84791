// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static io.timewheel.durable.rocksdb.Fixture.NOW;
import static io.timewheel.durable.rocksdb.Fixture.definition;
import static io.timewheel.durable.rocksdb.Fixture.key;
import static io.timewheel.durable.rocksdb.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.internal.file.Batch;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.file.Settings;
import io.timewheel.durable.rocksdb.internal.file.VersionFloor;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.rocksdb.internal.maintenance.Verifier;
import io.timewheel.durable.rocksdb.internal.store.Purge;
import io.timewheel.durable.rocksdb.internal.store.Writer;
import io.timewheel.durable.spi.record.Change;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Verifies that finished timers are purged concurrently with writes, without reading their
 * payloads.
 */
class PurgeTest {
  private static final int LARGE = 60_000;

  @TempDir Path directory;
  private Database database;
  private Writer writer;
  private Purge purge;

  @BeforeEach
  void open() throws Exception {
    try (RocksTimerStore store = Fixture.open(directory)) {
      for (int i = 0; i < 3 * Purge.STEP; i++) {
        store.commit(
            List.of(
                schedule(key("t" + i), NOW, definition(false, i < 10 ? LARGE : 3)),
                new Change.Cancel(key("t" + i), 0, NOW + i)));
      }
    }
    database = Database.open(directory, Settings.DEFAULT);
    Failures failures = new Failures(directory);
    writer = new Writer(database, failures, true, new VersionFloor(directory));
    purge = new Purge(database, failures, writer);
  }

  @AfterEach
  void close() {
    database.close();
  }

  private List<Purge.Entry> find(int most) {
    return purge.find(writer.bounds().finished().from(), Long.MAX_VALUE, 0, most);
  }

  private long finished() {
    return writer.counts().finished();
  }

  @Test
  void readsNoPayloads() throws Exception {
    try (Batch batch = new Batch(database)) {
      for (int i = 0; i < 10; i++) {
        batch.delete(Family.PAYLOADS, Keys.timer(key("t" + i)));
      }
      batch.write(true);
    }
    assertThat(purge.run(NOW + 10, Long.MAX_VALUE, 1_000)).isEqualTo(10);
  }

  @Test
  void readsWhileAnotherThreadWrites() throws Exception {
    Writer held = writer;
    CompletableFuture<List<Purge.Entry>> reading = new CompletableFuture<>();
    try {
      synchronized (held) {
        reading.completeAsync(() -> find(Purge.STEP));
        assertThat(reading.get(1, TimeUnit.MINUTES)).hasSize(Purge.STEP);
      }
    } finally {
      reading.join(); // before the database is closed
    }
  }

  @Test
  void keepsATimerThatIsScheduledAgainMeanwhile() {
    List<Purge.Entry> found = find(3);
    writer.commit(List.of(schedule("t1", NOW + 5_000)));
    writer.purge(found);
    assertThat(finished()).isEqualTo(3 * Purge.STEP - 3);
    assertThat(writer.counts().all().get("shop")).containsEntry(TimerState.SCHEDULED, 1L);
    assertThat(Verifier.verify(database, () -> {}).texts()).isEmpty();
  }

  @Test
  void purgesNothingTwice() {
    List<Purge.Entry> found = find(Purge.STEP);
    writer.purge(found);
    writer.purge(found);
    assertThat(finished()).isEqualTo(2 * Purge.STEP);
  }

  @Test
  void purgesAtMostTheLimit() {
    assertThat(purge.run(Long.MAX_VALUE, 0, Purge.STEP + 50)).isEqualTo(Purge.STEP + 50);
    assertThat(finished()).isEqualTo(2 * Purge.STEP - 50);
    assertThat(purge.run(NOW, 10, 1_000)).isEqualTo(2 * Purge.STEP - 60);
    assertThat(finished()).isEqualTo(10);
    assertThat(purge.run(NOW, 10, 1_000)).isZero();
    assertThat(purge.run(NOW + 3 * Purge.STEP - 5, 10, 1_000)).isEqualTo(5);
    assertThat(purge.run(Long.MAX_VALUE, 0, 1_000)).isEqualTo(5);
  }
}
