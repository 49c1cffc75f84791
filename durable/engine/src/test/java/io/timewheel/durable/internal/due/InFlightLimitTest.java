// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.internal.commit.Delays;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.health.Health;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.StoreTraits;
import java.time.Instant;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class InFlightLimitTest {
  private static final int TIMERS = 100_000;
  private static final Executor HERE = Runnable::run;

  private final Timer timer = HierarchicalWheelTimer.builder().build();
  private final InMemoryTimerStore store = InMemoryTimerStore.create(StoreTraits.embedded());
  private final Delays waits = new Delays(timer, () -> {});
  private final DueContext context =
      new DueContext(
          store,
          new EngineClock(() -> Instant.EPOCH, () -> 0),
          waits,
          new StoreTasks(new StoreTasks.Executors(HERE, HERE, HERE), waits),
          new Health(timer.timeSource()),
          new NoSink(),
          () -> {});
  private final Sweeps sweeps = new Sweeps(context, new OwnedShards(context, 16));
  private final Shard shard = new Shard(context, sweeps, 0, 1, 16);
  private final Window window = new Window(context, shard, 16, 16);
  private boolean leavesAtOnce;
  private int handled;
  private final InFlightLimit gate = new InFlightLimit(this::handle);

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

  /** As in a closing engine, each entry leaves as soon as it is handled. */
  @Test
  void admitsEntriesThatLeaveAtOnceInALoop() {
    for (int i = 0; i < TIMERS; i++) {
      DueTimer due =
          new DueTimer(
              new TimerKey("ns", "t" + i), 0, 1, 0, TimerState.SCHEDULED, "q", true, false, false);
      gate.enter(new DueEntry(window, shard, due));
    }
    assertThat(handled).isLessThan(TIMERS);
    leavesAtOnce = true;
    gate.leave();
    assertThat(handled).isEqualTo(TIMERS);
  }

  private static final class NoSink implements DueSink {
    @Override
    public void due(DueEntry entry) {}

    @Override
    public boolean isClaimedAhead(DueTimer due) {
      return false;
    }

    @Override
    public String shareOf(DueTimer due) {
      return "";
    }

    @Override
    public int shares() {
      return 1;
    }

    @Override
    public void left(Shard closed) {}
  }
}
