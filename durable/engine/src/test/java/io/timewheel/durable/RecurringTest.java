// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static io.timewheel.durable.Scene.spec;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.ScheduleResult.Outcome;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.Handler;
import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Verifies recurring timers: their runs, missed runs, runs by hand, and ends. */
class RecurringTest {
  private static final Instant START = DurableTestkit.START;

  private static final Handler FAILS =
      firing -> {
        throw new IllegalStateException("no luck");
      };

  private final Scene scene = new Scene();

  // Recurring

  @Test
  void recursAtAFixedRate() {
    scene.scheduler.schedule(spec("a").every(Duration.ofSeconds(10)));
    scene.advance(35_000);
    assertThat(scene.fired).containsExactly("a@10000", "a@20000", "a@30000");
    assertThat(scene.scheduler.schedule(spec("a").every(Duration.ofSeconds(10))).outcome())
        .isEqualTo(ScheduleResult.Outcome.UNCHANGED);
    assertThat(scene.scheduler.timer("shop", "a").get().orElseThrow().next(2))
        .containsExactly(START.plusSeconds(40), START.plusSeconds(50));
  }

  @Test
  void appliesTheRuleForMissedRuns() {
    scene.scheduler.schedule(spec("once").every(Duration.ofMinutes(10)));
    scene.scheduler.schedule(spec("all").every(Duration.ofMinutes(10)).missed(MissedRuns.FIRE_ALL));
    scene.scheduler.schedule(spec("skip").every(Duration.ofMinutes(10)).missed(MissedRuns.SKIP));
    scene.kill();
    scene.advance(35 * 60_000);
    scene.reopen();
    scene.kit.settle();
    assertThat(scene.fired)
        .containsExactlyInAnyOrder("once@2100000", "all@2100000", "all@2100000", "all@2100000");
    assertThat(scene.firings).allMatch(Firing::isCatchUp);
    scene.fired.clear();
    scene.advance(5 * 60_000);
    assertThat(scene.fired)
        .containsExactlyInAnyOrder("once@2400000", "all@2400000", "skip@2400000");
  }

  @Test
  void aRunByHandDoesNotChangeTheSchedule() {
    scene.scheduler.schedule(spec("a").every(Duration.ofSeconds(10)));
    scene.advance(4_000);
    assertThat(scene.scheduler.timer("shop", "a").runNow()).isEqualTo(VerbResult.DONE);
    scene.advance(7_000);
    assertThat(scene.fired).containsExactly("a@4000", "a@10000");
  }

  @Test
  void continuesWithTheScheduleWhenARunIsExhausted() {
    scene.handler = FAILS;
    scene.scheduler.schedule(
        spec("a")
            .every(Duration.ofSeconds(10))
            .retry(new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1))));
    scene.advance(25_000);
    assertThat(scene.fired).containsExactly("a@10000", "a@20000");
    assertThat(scene.state("a")).isEqualTo(TimerState.SCHEDULED);
  }

  // Ends

  private static TimerSpec everyTenSeconds() {
    return spec("a").every(Duration.ofSeconds(10));
  }

  private void assertEnded(TimerSpec spec) {
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
    int runs = scene.fired.size();
    scene.restart();
    assertThat(scene.scheduler.schedule(spec).outcome()).isEqualTo(Outcome.UNCHANGED);
    scene.advance(60_000);
    assertThat(scene.fired).hasSize(runs);
    assertThat(scene.info("a").next(5)).isEmpty();
  }

  @Test
  void endsAfterANumberOfScheduledRunsAndDoesNotBeginAgain() {
    scene.handler =
        firing -> {
          if (firing.scheduledAt().equals(START.plusSeconds(20))) {
            throw new IllegalStateException("no luck");
          }
        };
    TimerSpec spec = everyTenSeconds().times(3).retry(Scene.ONCE);
    assertThat(scene.scheduler.preview(spec, 5)).hasSize(3);
    scene.scheduler.schedule(spec);
    scene.advance(4_000);
    scene.scheduler.timer("shop", "a").runNow();
    scene.advance(21_000);
    assertThat(scene.info("a").next(5)).containsExactly(START.plusSeconds(30));
    scene.scheduler.timer("shop", "a").move(START.plusSeconds(33));
    scene.restart();
    scene.advance(60_000);
    assertThat(scene.fired).containsExactly("a@4000", "a@10000", "a@20000", "a@33000");
    assertThat(scene.info("a").times()).contains(3L);
    assertEnded(spec);
    assertThat(scene.scheduler.schedule(everyTenSeconds().times(4)).outcome())
        .isEqualTo(Outcome.CREATED);
  }

  @Test
  void anyNumberOfRunsIsReturned() {
    scene.scheduler.schedule(everyTenSeconds().times(Long.MAX_VALUE - 1));
    assertThat(scene.info("a").times()).contains(Long.MAX_VALUE - 1);
    assertThat(scene.info("a").recurrence()).isEqualTo("every PT10S");
  }

  @Test
  void completesAfterALastRunThatIsExhausted() {
    scene.handler = FAILS;
    TimerSpec spec = everyTenSeconds().times(1).retry(Scene.ONCE);
    scene.scheduler.schedule(spec);
    scene.advance(15_000);
    assertThat(scene.info("a").lastError()).contains("java.lang.IllegalStateException: no luck");
    assertEnded(spec);
  }

  @Test
  void skippedRunsDoNotCount() {
    TimerSpec spec = spec("a").every(Duration.ofMinutes(10)).missed(MissedRuns.SKIP).times(2);
    scene.scheduler.schedule(spec);
    scene.kill();
    scene.advance(35 * 60_000);
    scene.reopen();
    scene.advance(60 * 60_000);
    assertThat(scene.fired).containsExactly("a@2400000", "a@3000000");
    assertEnded(spec);
  }

  @Test
  void aPostponedRunCountsOnce() {
    scene.handler =
        firing -> {
          if (scene.fired.size() == 1) {
            firing.reschedule(START.plusSeconds(15));
          }
        };
    TimerSpec spec = everyTenSeconds().times(1);
    scene.scheduler.schedule(spec);
    scene.advance(60_000);
    assertThat(scene.fired).containsExactly("a@10000", "a@15000");
    assertEnded(spec);
  }

  @Test
  void endsBeforeATime() {
    TimerSpec spec = everyTenSeconds().until(START.plusSeconds(30));
    assertThat(scene.scheduler.preview(spec, 5))
        .containsExactly(START.plusSeconds(10), START.plusSeconds(20));
    scene.scheduler.schedule(spec);
    scene.advance(25_000);
    assertThat(scene.fired).containsExactly("a@10000", "a@20000");
    assertThat(scene.info("a").until()).contains(START.plusSeconds(30));
    assertThat(scene.info("a").recurrence()).isEqualTo("every PT10S");
    assertEnded(spec);
  }

  @Test
  void runsOfAnEndedScheduleFireLateOrAreSkipped() {
    TimerSpec late = spec("late").every(Duration.ofMinutes(10)).until(START.plusSeconds(1_500));
    TimerSpec skip = spec("skip").every(Duration.ofMinutes(10)).until(START.plusSeconds(1_500));
    scene.scheduler.schedule(late);
    scene.scheduler.schedule(skip.missed(MissedRuns.SKIP));
    scene.kill();
    scene.advance(35 * 60_000);
    scene.reopen();
    scene.kit.settle();
    assertThat(scene.fired).containsExactly("late@2100000");
    assertThat(scene.firings.get(0).scheduledAt()).isEqualTo(START.plusSeconds(1_200));
    assertThat(scene.state("late")).isEqualTo(TimerState.COMPLETED);
    assertThat(scene.state("skip")).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void aTimerWithoutAnyRunLeftIsCompletedAtOnce() {
    TimerSpec spec = everyTenSeconds().until(START.plusSeconds(10));
    ScheduleResult result = scene.scheduler.schedule(spec);
    assertThat(result.outcome()).isEqualTo(Outcome.CREATED);
    assertThat(result.timer().state()).isEqualTo(TimerState.COMPLETED);
    assertThat(scene.scheduler.preview(spec, 5)).isEmpty();
    assertEnded(spec);
    TimerSpec cron = spec("a").cron("* * * * *", ZoneOffset.UTC).until(START);
    assertThat(scene.scheduler.schedule(cron).outcome()).isEqualTo(Outcome.CREATED);
    assertEnded(cron);
  }

  @Test
  void refusesAnEndOfATimerThatFiresOnce() {
    for (TimerSpec once :
        List.of(spec("a").at(START).until(START), spec("a").after(Duration.ZERO).times(1))) {
      assertThatThrownBy(() -> scene.scheduler.schedule(once))
          .isInstanceOf(InvalidArgumentException.class)
          .hasMessageContaining("(expected: only with a fixed rate, a fixed delay or a cron)");
    }
    assertThatThrownBy(() -> spec("a").times(0))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessage("times: 0 (minimum: 1)");
  }
}
