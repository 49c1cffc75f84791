// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static io.timewheel.durable.rocksdb.Fixture.NOW;
import static io.timewheel.durable.rocksdb.Fixture.key;
import static io.timewheel.durable.rocksdb.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.spi.Change;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A scan of the due index begins at what is there, not at the marks of what was deleted. */
class DueScanTest {
  @TempDir Path directory;

  private static void scheduleAndCancel(RocksTimerStore store, int from, int to) {
    for (int i = from; i < to; i += 1_000) {
      List<Change> changes = new ArrayList<>();
      List<Change> ends = new ArrayList<>();
      for (int j = i; j < i + 1_000; j++) {
        changes.add(schedule("gone-" + j, NOW + j));
        ends.add(new Change.Cancel(key("gone-" + j), 0, NOW));
      }
      store.commit(changes);
      store.commit(ends);
    }
  }

  @Test
  void beginsBehindWhatHasFired() {
    RocksTimerStore.Builder builder = RocksTimerStore.builder(directory).sync(SyncMode.os());
    byte[] last = Keys.due(0, NOW + 1_000_000, Keys.timer(key("last")));
    try (RocksTimerStore store = builder.open()) {
      new Fixture(store).commit(schedule("last", NOW + 1_000_000));
      scheduleAndCancel(store, 0, 120_000);
      assertThat(store.dueFrom()).isEqualTo(last);
      assertThat(store.due(0, Long.MAX_VALUE, null, 10)).hasSize(1);
      // The one that is in front of it is found, and the beginning moves back to it.
      new Fixture(store).commit(schedule("first", NOW + 3));
      assertThat(store.due(0, Long.MAX_VALUE, null, 10)).hasSize(2);
      assertThat(store.dueFrom()).isEqualTo(Keys.due(0, NOW + 3, Keys.timer(key("first"))));
    }
    try (RocksTimerStore store = builder.open()) {
      assertThat(store.dueFrom()).isEqualTo(Keys.due(0, NOW + 3, Keys.timer(key("first"))));
      assertThat(store.due(0, Long.MAX_VALUE, null, 10)).hasSize(2);
      assertThat(store.verify().texts()).isEmpty();
    }
  }
}
