// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Store work on an executor that runs it on the calling thread. */
class CallingThreadTest {
  private static final int MANY = 5_000;

  private final ManualTimer wheel = ManualTimer.create();
  private final Steps handlers = new Steps(null);
  private final List<String> fired = new ArrayList<>();
  private int deepest;

  /** Each commit is of one change, so that many follow from one another. */
  private final InMemoryTimerStore data =
      InMemoryTimerStore.create(
          new StoreTraits(1, 1, 1, Duration.ofMinutes(1), Duration.ZERO, Duration.ZERO));

  private final DurableTimer timer =
      DurableTimer.builder(
              new ForwardingTimerStore(data) {
                @Override
                public List<Outcome> commit(List<Change> changes) {
                  measure();
                  return super.commit(changes);
                }

                @Override
                public List<DueTimer> due(int shard, long until, DuePosition after, int limit) {
                  measure();
                  return super.due(shard, until, after, limit);
                }
              })
          .timer(wheel)
          .clock(() -> DurableTestkit.START.plus(wheel.elapsed()))
          .storeExecutor(Runnable::run)
          .handlerExecutor(handlers)
          .handler("h", firing -> fired.add(firing.id()))
          .maxWindow(64)
          .start();

  private void measure() {
    deepest = Math.max(deepest, Thread.currentThread().getStackTrace().length);
  }

  private static TimerSpec spec(int i) {
    return TimerSpec.of("ns", "t" + i).handler("h").after(Duration.ofSeconds(1));
  }

  @Test
  void firesAnyNumberWithoutFillingTheStack() {
    for (int i = 0; i < MANY; i++) {
      timer.schedule(spec(i));
    }
    int before = deepest;
    for (int i = 0; i < 5; i++) {
      wheel.advanceBy(Duration.ofSeconds(1));
      while (handlers.runOne()) {
        // Until nothing is left to do at this time.
      }
    }
    assertThat(fired).hasSize(MANY).doesNotHaveDuplicates();
    assertThat(data.reopen().counts().get("ns")).containsOnlyKeys(TimerState.COMPLETED);
    assertThat(deepest).isLessThan(before + 60);
  }

  @Test
  void commitsABatchWithoutFillingTheStack() {
    List<TimerSpec> specs = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      specs.add(spec(i));
    }
    timer.schedule(spec(MANY));
    int before = deepest;
    assertThat(timer.scheduleAll(specs)).allSatisfy(each -> assertThat(each.error()).isNull());
    assertThat(deepest).isLessThan(before + 20);
  }
}
