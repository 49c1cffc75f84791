// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.testkit.DurableTestkit;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Restarts a scheduler on this store, with a clock that the test sets. */
class RestartTest {
  @TempDir Path directory;

  private final DurableTestkit kit = DurableTestkit.create();
  private final List<String> fired = new ArrayList<>();

  private DurableTimer start(RocksTimerStore store) {
    return kit.start(
        store,
        builder -> builder.handler("h", firing -> fired.add(firing.id() + firing.attempt())));
  }

  private static TimerSpec in(String id, Duration delay) {
    return TimerSpec.of("shop", id).handler("h").after(delay);
  }

  @Test
  void firesTimersThatWereScheduledBeforeARestart() {
    RocksTimerStore store = RocksTimerStore.open(directory);
    DurableTimer scheduler = start(store);
    scheduler.schedule(in("soon", Duration.ofSeconds(5)));
    scheduler.schedule(in("later", Duration.ofHours(5)));
    scheduler.schedule(in("never", Duration.ofHours(5)));
    kit.advanceBy(Duration.ofMinutes(1));
    assertThat(fired).containsExactly("soon1");
    assertThat(scheduler.timer("shop", "never").cancel().outcome())
        .isEqualTo(CancelResult.Outcome.CANCELLED);
    kit.kill(scheduler);
    store.close();

    try (RocksTimerStore again = RocksTimerStore.open(directory)) {
      DurableTimer second = start(again);
      assertThat(second.timer("shop", "soon").cancel().outcome())
          .isEqualTo(CancelResult.Outcome.COMPLETED);
      kit.advanceBy(Duration.ofHours(6));
      assertThat(fired).containsExactly("soon1", "later1");
      assertThat(again.verify().texts()).isEmpty();
    }
  }
}
