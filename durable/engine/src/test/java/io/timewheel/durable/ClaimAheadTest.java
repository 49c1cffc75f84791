// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Verifies stores with slow claims, where attempts of handlers are claimed ahead of their time. */
@Tag("promise-38")
@Tag("promise-57")
class ClaimAheadTest {
  private static final StoreTraits TRAITS =
      new StoreTraits(
          1, 1, 100, Duration.ofSeconds(5), Duration.ofMillis(100), Duration.ofMillis(500));

  private final DurableTestkit kit = DurableTestkit.create();
  private int commits;
  private final InMemoryTimerStore data = InMemoryTimerStore.create(TRAITS);
  private final ForwardingTimerStore store =
      new ForwardingTimerStore(data) {
        @Override
        public List<Outcome> commit(List<Change> changes) {
          commits++;
          return super.commit(changes);
        }
      };
  private final List<Long> fired = new ArrayList<>();
  private final DurableTimer scheduler =
      kit.start(store, builder -> builder.handler("h", firing -> fired.add(sinceStart())));

  private long sinceStart() {
    return Duration.between(DurableTestkit.START, kit.now()).toMillis();
  }

  private List<QueueFiring> claimed() {
    List<QueueFiring> claimed = new ArrayList<>();
    scheduler
        .async()
        .queue("ns", "q")
        .claim(10, Duration.ofSeconds(10), Duration.ZERO)
        .thenAccept(claimed::addAll);
    kit.settle();
    return claimed;
  }

  @Test
  void runsNoHandlerBeforeItsTime() {
    scheduler.async().schedule(TimerSpec.of("ns", "a").handler("h").after(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofMillis(950));
    assertThat(scheduler.timer("ns", "a").get().orElseThrow().attempt()).isEqualTo(1);
    assertThat(fired).isEmpty();
    kit.advanceBy(Duration.ofMillis(50));
    assertThat(fired).containsExactly(1_000L);
  }

  @Test
  void runsNoHandlerBeforeItsTimeAfterTheClockHasStopped() {
    scheduler.async().schedule(TimerSpec.of("ns", "a").handler("h").after(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofMillis(950));
    assertThat(scheduler.timer("ns", "a").get().orElseThrow().attempt()).isEqualTo(1);
    kit.skew(scheduler, Duration.ofSeconds(-3));
    kit.advanceBy(Duration.ofMillis(2_900));
    assertThat(fired).isEmpty();
    kit.advanceBy(Duration.ofMillis(500));
    assertThat(fired).hasSize(1);
  }

  @Test
  void claimsAndEndsWaitForEachOther() {
    for (int i = 0; i < 5; i++) {
      scheduler
          .async()
          .schedule(
              TimerSpec.of("ns", "t" + i).handler("h").after(Duration.ofMillis(1_000 + 10 * i)));
    }
    kit.settle();
    commits = 0;
    kit.advanceBy(Duration.ofMillis(950)); // claimed from 900 on
    assertThat(commits).isEqualTo(1);
    kit.advanceBy(Duration.ofMillis(99));
    assertThat(fired).containsExactly(1_000L, 1_010L, 1_020L, 1_030L, 1_040L);
    assertThat(commits).isEqualTo(1);
    assertThat(scheduler.timer("ns", "t0").get().orElseThrow().state())
        .isEqualTo(TimerState.RUNNING);
    kit.advanceBy(Duration.ofMillis(1));
    assertThat(commits).isEqualTo(2);
    assertThat(scheduler.timer("ns", "t4").get().orElseThrow().state())
        .isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void aCommitOfACallerIncludesNonUrgentChanges() {
    scheduler.async().schedule(TimerSpec.of("ns", "a").handler("h").after(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofMillis(1_001));
    assertThat(scheduler.timer("ns", "a").get().orElseThrow().state())
        .isEqualTo(TimerState.RUNNING);
    commits = 0;
    scheduler.async().schedule(TimerSpec.of("ns", "b").handler("h").after(Duration.ofHours(1)));
    kit.settle();
    assertThat(commits).isEqualTo(1);
    assertThat(scheduler.timer("ns", "a").get().orElseThrow().state())
        .isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void aCloseCommitsNonUrgentChangesAtOnce() {
    scheduler.async().schedule(TimerSpec.of("ns", "a").handler("h").after(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofSeconds(1));
    kit.close(scheduler);
    DurableTimer next = kit.start(data.join(), builder -> builder.handler("h", firing -> {}));
    assertThat(next.timer("ns", "a").get().orElseThrow().state()).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void theClaimOfARunThatIsSoonDueIsCommittedAtOnce() {
    scheduler.async().schedule(TimerSpec.of("ns", "a").handler("h").every(Duration.ofMillis(100)));
    kit.advanceBy(Duration.ofMillis(500));
    assertThat(fired).containsExactly(100L, 200L, 300L, 400L, 500L);
  }

  @Test
  void manyNonUrgentChangesAreCommittedAtOnce() {
    List<TimerSpec> specs = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      specs.add(TimerSpec.of("ns", "t" + i).handler("h").after(Duration.ofSeconds(1)));
    }
    specs.forEach(scheduler.async()::schedule);
    kit.advanceBy(Duration.ofMillis(901));
    assertThat(scheduler.timer("ns", "t0").get().orElseThrow().state())
        .isEqualTo(TimerState.RUNNING);
  }

  @Test
  void anEndIsRecordedOnceIfTheWheelIsStopped() {
    List<Change.Finish.End> ends = new ArrayList<>();
    Stand stand = new Stand();
    TimerStore recording =
        new ForwardingTimerStore(data) {
          @Override
          public List<Outcome> commit(List<Change> changes) {
            for (Change change : changes) {
              if (change instanceof Change.Finish finish) {
                ends.add(finish.end());
              }
            }
            return super.commit(changes);
          }
        };
    DurableTimer stopped =
        stand.start(
            recording,
            builder ->
                builder.handler(
                    "h", firing -> stand.wheel.refusal = new IllegalStateException("stopped")));
    stopped.async().schedule(TimerSpec.of("ns", "a").handler("h").after(Duration.ofSeconds(1)));
    stand.advance(Duration.ofSeconds(2));
    assertThat(ends).containsExactly(Change.Finish.End.SUCCEEDED);
    assertThat(data.get(new TimerKey("ns", "a")).state()).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void givesNothingToAConsumerBeforeItsTime() {
    scheduler.async().schedule(TimerSpec.of("ns", "a").queue("q").after(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofMillis(999));
    assertThat(claimed()).isEmpty();
    kit.advanceBy(Duration.ofMillis(1));
    assertThat(claimed()).hasSize(1);
  }

  @Test
  void endsALeaseOnceAndNotBeforeItExpires() {
    scheduler.async().schedule(TimerSpec.of("ns", "a").queue("q").after(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofSeconds(1));
    assertThat(claimed()).hasSize(1);
    commits = 0;
    kit.advanceBy(Duration.ofMillis(9_999));
    assertThat(commits).isZero();
    kit.advanceBy(Duration.ofMillis(1));
    assertThat(commits).isEqualTo(1);
  }
}
