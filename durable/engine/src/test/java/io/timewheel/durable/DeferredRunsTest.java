// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Verifies runs that became due while their timer was paused, held or blocked. */
class DeferredRunsTest {
  private static final Instant START = DurableTestkit.START;
  private static final Duration HOUR = Duration.ofHours(1);

  /** The reasons why a timer is delayed. */
  private enum Hindrance {
    PAUSE,
    HOLD,
    PARK
  }

  private final DurableTestkit kit = DurableTestkit.create();
  private InMemoryTimerStore store = InMemoryTimerStore.create();
  private final AtomicInteger reads = new AtomicInteger();
  private final List<Long> scheduledMinutes = new ArrayList<>();
  private final List<Firing> firings = new ArrayList<>();
  private Consumer<Firing> handler = firing -> {};
  private DurableTimer scheduler = start(true);

  private DurableTimer start(boolean withHandler) {
    Consumer<DurableTimerBuilder> settings =
        builder -> builder.handler(withHandler ? "h" : "another", this::handle);
    return kit.start(counted(store), settings);
  }

  private TimerStore counted(TimerStore counted) {
    return new ForwardingTimerStore(counted) {
      @Override
      public @Nullable TimerRecord get(TimerKey key) {
        reads.incrementAndGet();
        return super.get(key);
      }
    };
  }

  private void handle(Firing firing) {
    scheduledMinutes.add(minuteOf(firing));
    firings.add(firing);
    handler.accept(firing);
  }

  private static long minuteOf(Firing firing) {
    return Duration.between(START, firing.scheduledAt()).toMinutes();
  }

  private void restart(boolean withHandler) {
    kit.kill(scheduler);
    store = store.reopen();
    scheduler = start(withHandler);
    kit.settle();
  }

  private void advance(long minutes) {
    kit.advanceBy(Duration.ofMinutes(minutes));
  }

  private static TimerSpec spec(MissedRuns missed) {
    return TimerSpec.of("ns", "a").every(HOUR).missed(missed);
  }

  /** Delays the timer until minute 215, so that the runs at 60, 120 and 180 are missed. */
  private void delay(Hindrance how, TimerSpec spec) {
    switch (how) {
      case PAUSE -> {
        scheduler.schedule(spec);
        advance(30);
        scheduler.timer("ns", "a").pause();
        advance(185);
        scheduler.timer("ns", "a").resume();
      }
      case HOLD -> {
        scheduler.schedule(spec);
        advance(30);
        scheduler.namespace("ns").pause();
        advance(185);
        scheduler.namespace("ns").resume();
      }
      case PARK -> {
        restart(false);
        scheduler.schedule(spec);
        advance(215);
        assertThat(scheduler.timer("ns", "a").get().orElseThrow().state())
            .isEqualTo(TimerState.BLOCKED);
        restart(true);
      }
    }
    kit.settle();
  }

  @ParameterizedTest
  @EnumSource
  void fireOnceReplacesAllMissedRunsByOneCatchUpRun(Hindrance how) {
    delay(how, spec(MissedRuns.FIRE_ONCE).handler("h"));
    assertThat(scheduledMinutes).containsExactly(180L);
    assertThat(firings).allMatch(Firing::isCatchUp);
    assertThat(scheduler.stats().skipped()).isEqualTo(2);
    advance(30);
    assertThat(scheduledMinutes).containsExactly(180L, 240L);
  }

  @ParameterizedTest
  @EnumSource
  void skipDropsAllMissedRuns(Hindrance how) {
    delay(how, spec(MissedRuns.SKIP).handler("h"));
    assertThat(scheduledMinutes).isEmpty();
    assertThat(scheduler.stats().skipped()).isEqualTo(3);
    advance(30);
    assertThat(scheduledMinutes).containsExactly(240L);
  }

  @ParameterizedTest
  @EnumSource
  void fireAllCatchesUpEachMissedRun(Hindrance how) {
    delay(how, spec(MissedRuns.FIRE_ALL).handler("h"));
    assertThat(scheduledMinutes).containsExactly(60L, 120L, 180L);
    advance(30);
    assertThat(scheduledMinutes).containsExactly(60L, 120L, 180L, 240L);
  }

  @Test
  void aQueueGetsOneRunForAll() {
    delay(Hindrance.PAUSE, spec(MissedRuns.FIRE_ONCE).queue("q"));
    assertThat(claimed()).containsExactly(180L);
    assertThat(claimed()).isEmpty();
    advance(30);
    assertThat(claimed()).containsExactly(240L);
  }

  @Test
  void aQueueGetsNoRunIfMissedRunsAreSkipped() {
    delay(Hindrance.HOLD, spec(MissedRuns.SKIP).queue("q"));
    assertThat(claimed()).isEmpty();
    advance(30);
    assertThat(claimed()).containsExactly(240L);
  }

  private List<Long> claimed() {
    var claim =
        scheduler.async().queue("ns", "q").claim(10, HOUR, Duration.ZERO).toCompletableFuture();
    kit.settle();
    List<QueueFiring> claimed = claim.join();
    claimed.forEach(
        firing ->
            scheduler
                .async()
                .changeLease(LeaseChange.ack(firing.firing().fireId(), firing.leaseToken())));
    kit.settle();
    return claimed.stream().map(firing -> minuteOf(firing.firing())).toList();
  }

  @Test
  void aRetriedRunBeginsHoweverLate() {
    restart(false);
    scheduler.schedule(spec(MissedRuns.SKIP).handler("h"));
    advance(215);
    scheduler.timer("ns", "a").retry();
    kit.kill(scheduler); // before it runs
    advance(10);
    store = store.reopen();
    scheduler = start(true);
    kit.settle();
    assertThat(scheduledMinutes).containsExactly(60L);
    advance(30);
    assertThat(scheduledMinutes).containsExactly(60L, 240L);
  }

  // Runs that are not deferred are not read, because the rule was applied when they were scheduled

  @Test
  void runsThatAreCaughtUpOneByOneAreDecidedAboutOnce() {
    scheduler.schedule(spec(MissedRuns.FIRE_ALL).handler("h"));
    kit.kill(scheduler);
    advance(305);
    store = store.reopen();
    scheduler = start(true);
    kit.settle();
    assertThat(scheduledMinutes).containsExactly(60L, 120L, 180L, 240L, 300L);
    assertThat(reads).hasValue(1); // of the first run, which did not begin
  }

  @Test
  void runsThatAreALittleLateAreNotRead() {
    handler =
        firing -> {
          if (firings.size() == 1) {
            kit.skew(scheduler, Duration.ofSeconds(5)); // it runs for this time
          }
        };
    scheduler.schedule(TimerSpec.of("ns", "a").handler("h").every(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofSeconds(3));
    assertThat(firings).hasSize(8);
    assertThat(reads).hasValue(0);
  }

  @Test
  void postponedRunsAreNotRead() {
    handler =
        firing -> {
          if (firings.size() == 1) {
            firing.reschedule(START.plus(Duration.ofMinutes(70)));
          }
        };
    scheduler.schedule(spec(MissedRuns.SKIP).handler("h"));
    advance(121);
    assertThat(scheduledMinutes).containsExactly(60L, 70L, 120L);
    assertThat(reads).hasValue(0);
  }

  // Postponed runs

  @Test
  void aRunPostponedToATimeOfItsScheduleIsADifferentRun() {
    handler =
        firing -> {
          if (firings.size() == 1) {
            firing.reschedule(START.plus(HOUR.multipliedBy(3)));
          }
        };
    scheduler.schedule(spec(MissedRuns.FIRE_ALL).handler("h"));
    advance(241);
    assertThat(scheduledMinutes).containsExactly(60L, 180L, 120L, 180L, 240L);
    assertThat(firings).extracting(Firing::fireId).doesNotHaveDuplicates();
  }
}
