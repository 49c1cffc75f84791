// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timer;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.StoreTraits;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GateTest {
  private static final int MANY = 100_000;
  private static final Executor HERE = Runnable::run;

  private final Timer timer = HierarchicalWheelTimer.builder().build();
  private final InMemoryTimerStore store = InMemoryTimerStore.create(StoreTraits.embedded());
  private final Engine engine =
      new Engine(
          store,
          timer,
          new EngineClock(() -> Instant.EPOCH, () -> 0),
          HERE,
          HERE,
          HERE,
          (waits, turns, listener) ->
              new Committer(
                  new CommitLane.Settings(store, waits, turns, listener, HERE, 1, true),
                  new Executor[] {HERE}),
          new Engine.Settings(16, 1, Duration.ofDays(1), 1, false, () -> 0),
          Map.of(),
          Map.of(),
          HERE);
  private final Shard shard = new Shard(engine, store, 0, 1, 16);
  private final Window window = new Window(engine, store, shard, 16, 16);
  private boolean leavesAtOnce;
  private int handled;
  private final Gate gate = new Gate(this::handle);

  private void handle(DueEntry entry) {
    handled++;
    if (leavesAtOnce) {
      gate.leave();
    }
  }

  @AfterEach
  void stop() {
    timer.stop();
  }

  /** As it is with an engine that closes: each entry leaves as soon as it is handled. */
  @Test
  void admitsInALoopWhatLeavesAtOnce() {
    for (int i = 0; i < MANY; i++) {
      DueTimer due =
          new DueTimer(
              new TimerKey("ns", "t" + i), 0, 1, 0, TimerState.SCHEDULED, "q", true, false, false);
      gate.enter(new DueEntry(window, shard, due));
    }
    assertThat(handled).isLessThan(MANY);
    leavesAtOnce = true;
    gate.leave();
    assertThat(handled).isEqualTo(MANY);
  }
}
