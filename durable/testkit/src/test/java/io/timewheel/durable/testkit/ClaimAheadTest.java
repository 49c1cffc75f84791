// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.QueueFiring;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreTraits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Stores on which a claim takes a while, so that what handlers run is claimed ahead of its time.
 */
class ClaimAheadTest {
  private static final StoreTraits TRAITS =
      new StoreTraits(
          1, 1, 100, Duration.ofSeconds(5), Duration.ofMillis(100), Duration.ofMillis(500));

  private final DurableTestkit kit = DurableTestkit.create();
  private int commits;
  private final ForwardingTimerStore store =
      new ForwardingTimerStore(InMemoryTimerStore.create(TRAITS)) {
        @Override
        public List<Outcome> commit(List<Change> changes) {
          commits++;
          return super.commit(changes);
        }
      };
  private final List<Long> fired = new ArrayList<>();
  private final DurableTimer timer =
      kit.start(store, builder -> builder.handler("h", firing -> fired.add(sinceStart())));

  private long sinceStart() {
    return Duration.between(DurableTestkit.START, kit.now()).toMillis();
  }

  private List<QueueFiring> claimed() {
    List<QueueFiring> claimed = new ArrayList<>();
    timer.claim("ns", "q", 10, Duration.ofSeconds(10), Duration.ZERO).thenAccept(claimed::addAll);
    kit.settle();
    return claimed;
  }

  @Test
  void runsNoHandlerBeforeItsTime() {
    timer.scheduleAsync(TimerSpec.of("ns", "a").handler("h").after(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofMillis(950));
    assertThat(timer.get("ns", "a").orElseThrow().attempt()).isEqualTo(1);
    assertThat(fired).isEmpty();
    kit.advanceBy(Duration.ofMillis(50));
    assertThat(fired).containsExactly(1_000L);
  }

  @Test
  void givesNothingToAConsumerBeforeItsTime() {
    timer.scheduleAsync(TimerSpec.of("ns", "a").queue("q").after(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofMillis(999));
    assertThat(claimed()).isEmpty();
    kit.advanceBy(Duration.ofMillis(1));
    assertThat(claimed()).hasSize(1);
  }

  @Test
  void takesALeaseBackOnceAndNotBeforeItIsOver() {
    timer.scheduleAsync(TimerSpec.of("ns", "a").queue("q").after(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofSeconds(1));
    assertThat(claimed()).hasSize(1);
    commits = 0;
    kit.advanceBy(Duration.ofMillis(9_999));
    assertThat(commits).isZero();
    kit.advanceBy(Duration.ofMillis(1));
    assertThat(commits).isEqualTo(1);
  }
}
