// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.ScheduleResult.Outcome;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Verifies the schedule of a recurring timer: its start, and operations that do not change it. */
@Tag("promise-50")
class ScheduleTest {
  private static final Instant START = DurableTestkit.START; // at midnight
  private static final Duration HOUR = Duration.ofHours(1);

  private final DurableTestkit kit = DurableTestkit.create();
  private InMemoryTimerStore store = InMemoryTimerStore.create();
  private final List<Long> firedMinutes = new ArrayList<>();
  private final List<Firing> firings = new ArrayList<>();
  private Consumer<Firing> handler = firing -> {};
  private DurableTimer scheduler = start();

  private DurableTimer start() {
    return kit.start(store, builder -> builder.handler("h", this::handle));
  }

  private void handle(Firing firing) {
    firedMinutes.add(Duration.between(START, kit.now()).toMinutes());
    firings.add(firing);
    handler.accept(firing);
  }

  private void sleep(long minutes) {
    kit.kill(scheduler);
    advance(minutes);
    store = store.reopen();
    scheduler = start();
  }

  private static TimerSpec spec() {
    return TimerSpec.of("ns", "a").handler("h");
  }

  private void advance(long minutes) {
    kit.advanceBy(Duration.ofMinutes(minutes));
  }

  // First run

  @Test
  void aRateBeginsAtTheGivenTime() {
    scheduler.schedule(spec().at(START.plusSeconds(90 * 60)).every(HOUR));
    advance(240);
    assertThat(firedMinutes).containsExactly(90L, 150L, 210L);
  }

  @Test
  void anotherFirstRunIsAnotherTimer() {
    scheduler.schedule(spec().at(START.plusSeconds(86_400)).every(HOUR));
    Instant soon = START.plusSeconds(60);
    assertThat(scheduler.schedule(spec().at(soon).every(HOUR)).outcome())
        .isEqualTo(Outcome.REPLACED);
    assertThat(scheduler.schedule(spec().at(soon).every(HOUR)).outcome())
        .isEqualTo(Outcome.UNCHANGED);
    advance(2);
    assertThat(firedMinutes).containsExactly(1L);
    assertThat(scheduler.schedule(spec().at(soon).every(HOUR)).outcome())
        .isEqualTo(Outcome.UNCHANGED);
    assertThat(scheduler.schedule(spec().every(HOUR)).outcome()).isEqualTo(Outcome.REPLACED);
  }

  @Test
  void aCronRunsAtItsOwnTimesOnlyAndNotBeforeTheFirst() {
    scheduler.schedule(spec().at(START.plusSeconds(90 * 60)).cron("0 * * * *", ZoneOffset.UTC));
    advance(241);
    assertThat(firedMinutes).containsExactly(120L, 180L, 240L);
  }

  @Test
  void aCronBeginsAtATimeThatIsItsOwn() {
    TimerSpec spec = spec().at(START.plus(HOUR)).cron("0 * * * *", ZoneOffset.UTC);
    assertThat(scheduler.preview(spec, 2))
        .containsExactly(START.plus(HOUR), START.plus(HOUR).plus(HOUR));
    scheduler.schedule(spec);
    advance(61);
    assertThat(firedMinutes).containsExactly(60L);
  }

  @Test
  void firstRunsThatArePastWereMissed() {
    advance(150);
    scheduler.schedule(spec().at(START).cron("0 * * * *", ZoneOffset.UTC));
    scheduler.schedule(
        TimerSpec.of("ns", "rate").handler("h").at(START.plusSeconds(1)).every(HOUR));
    kit.settle();
    assertThat(firedMinutes).containsExactly(150L, 150L); // one catch-up run for all
    advance(31);
    assertThat(firedMinutes).containsExactly(150L, 150L, 180L, 180L);
  }

  // Runs that are separate from the schedule

  private void postpone(Firing firing, long minutes) {
    if (firings.size() == 1) {
      firing.reschedule(kit.now().plus(Duration.ofMinutes(minutes)));
    }
  }

  @Test
  void aPostponedRunDoesNotChangeTheSchedule() {
    handler = firing -> postpone(firing, 10);
    scheduler.schedule(spec().every(HOUR));
    advance(240);
    assertThat(firedMinutes).containsExactly(60L, 70L, 120L, 180L, 240L);
    assertThat(firings).noneMatch(Firing::isCatchUp).noneMatch(Firing::isLate);
  }

  @Test
  void aPostponedRunDoesNotChangeTheScheduleOfACron() {
    handler = firing -> postpone(firing, 10);
    scheduler.schedule(spec().cron("30 * * * *", ZoneOffset.UTC));
    advance(180);
    assertThat(firedMinutes).containsExactly(30L, 40L, 90L, 150L);
  }

  @Test
  void aPostponedRunIsNeverMissedAndTheRunsThatItPassesAre() {
    handler = firing -> postpone(firing, 200);
    scheduler.schedule(spec().every(HOUR));
    advance(70);
    sleep(300); // until 370; it has been due for 110
    kit.settle();
    assertThat(firedMinutes).containsExactly(60L, 370L, 370L);
    assertThat(firings.get(1).scheduledAt()).isEqualTo(START.plus(Duration.ofMinutes(260)));
    assertThat(firings.get(2).scheduledAt()).isEqualTo(START.plus(Duration.ofHours(6)));
    advance(60);
    assertThat(firedMinutes).hasSize(4).endsWith(420L);
  }

  @Test
  void aPauseKeepsAPostponedRunFromBeingEarly() {
    handler = firing -> postpone(firing, 10);
    scheduler.schedule(spec().every(HOUR));
    advance(61);
    scheduler.timer("ns", "a").pause();
    scheduler.timer("ns", "a").resume();
    advance(60);
    assertThat(firedMinutes).containsExactly(60L, 70L, 120L);
  }

  @Test
  void aRunByHandMakesAPostponedRunDueAtThatTime() {
    handler = firing -> postpone(firing, 10);
    scheduler.schedule(spec().every(HOUR));
    advance(65);
    scheduler.timer("ns", "a").runNow();
    kit.settle();
    assertThat(firedMinutes).containsExactly(60L, 65L);
    assertThat(firings.get(1).scheduledAt()).isEqualTo(kit.now());
    advance(60);
    assertThat(firedMinutes).containsExactly(60L, 65L, 120L);
  }

  @Test
  void aPostponedRunCountsItsAttemptsFromOneAndItsFailureEndsIt() {
    handler =
        firing -> {
          postpone(firing, 10);
          if (firings.size() > 1 && firings.size() < 4) {
            throw new IllegalStateException("no luck");
          }
        };
    RetryPolicy twice = new RetryPolicy(2, Duration.ofMinutes(1), Duration.ofMinutes(1));
    scheduler.schedule(spec().every(HOUR).retry(twice));
    advance(120);
    assertThat(firedMinutes).containsExactly(60L, 70L, 71L, 120L);
    assertThat(firings).extracting(Firing::attempt).containsExactly(1, 1, 2, 1);
  }

  @Test
  void aRunThatIsPostponedAgainDropsNoRunUntilTheScheduleContinues() {
    handler =
        firing -> {
          if (firings.size() <= 2) {
            firing.reschedule(kit.now().plus(Duration.ofMinutes(155)));
          }
        };
    scheduler.schedule(spec().every(HOUR));
    advance(375);
    assertThat(firedMinutes).containsExactly(60L, 215L, 370L, 370L);
    assertThat(scheduler.stats().skipped()).isEqualTo(4); // at 120, 180, 240 and 300
  }

  @ParameterizedTest
  @EnumSource
  void aRunThatIsMovedToAPastTimeIsNow(MissedRuns missed) {
    scheduler.schedule(spec().every(HOUR).missed(missed));
    advance(150);
    Instant past = START.plus(Duration.ofMinutes(100));
    assertThat(scheduler.timer("ns", "a").move(past)).isEqualTo(VerbResult.DONE);
    kit.settle();
    assertThat(firedMinutes).containsExactly(60L, 120L, 150L);
    assertThat(firings.get(2).scheduledAt()).isEqualTo(past);
    advance(15);
    assertThat(firedMinutes).containsExactly(60L, 120L, 150L, 160L);
    assertThat(scheduler.stats().skipped()).isZero();
  }

  @Test
  void aRunThatIsMovedToAPastTimeIsNotMissedAfterASuspension() {
    scheduler.schedule(spec().every(HOUR).missed(MissedRuns.SKIP));
    advance(150);
    scheduler.timer("ns", "a").move(START.plus(Duration.ofMinutes(100)));
    sleep(5);
    assertThat(firedMinutes).containsExactly(60L, 120L, 155L);
  }

  @Test
  void aRunThatIsMovedToAPastTimeDuringAPauseWasMissed() {
    scheduler.schedule(spec().every(HOUR).missed(MissedRuns.SKIP));
    advance(150);
    scheduler.timer("ns", "a").pause();
    scheduler.timer("ns", "a").move(START.plus(Duration.ofMinutes(100)));
    advance(5);
    scheduler.timer("ns", "a").resume();
    advance(10);
    assertThat(firedMinutes).containsExactly(60L, 120L, 160L);
  }

  @Test
  void aRunMovedBeforeTheStartOfItsScheduleIsFollowedByTheFirstScheduledRun() {
    scheduler.schedule(
        spec().cron("0 * * * *", ZoneOffset.UTC).at(START.plus(Duration.ofHours(5))));
    scheduler.timer("ns", "a").move(START.plus(Duration.ofMinutes(30)));
    advance(7 * 60);
    assertThat(firedMinutes).containsExactly(30L, 300L, 360L, 420L);
    assertThat(scheduler.stats().skipped()).isZero();
  }

  // Retries

  private static RetryPolicy twice(long waitMinutes) {
    Duration wait = Duration.ofMinutes(waitMinutes);
    return new RetryPolicy(2, wait, wait);
  }

  private void failOnce(Firing firing) {
    if (firings.size() == 1) {
      throw new IllegalStateException("no luck");
    }
  }

  @Test
  void aRetryBelongsToTheCatchUpRun() {
    handler = this::failOnce;
    scheduler.schedule(spec().every(HOUR).retry(twice(5)));
    sleep(215);
    advance(10);
    assertThat(firedMinutes).containsExactly(215L, 220L);
    assertThat(firings.get(0).scheduledAt()).isEqualTo(START.plus(Duration.ofHours(3)));
    assertThat(firings.get(1).fireId()).isEqualTo(firings.get(0).fireId());
    assertThat(firings).allMatch(Firing::isCatchUp);
    assertThat(scheduler.stats().skipped()).isEqualTo(2);
    advance(30);
    assertThat(firedMinutes).containsExactly(215L, 220L, 240L);
    assertThat(firings.get(2).isCatchUp()).isFalse();
  }

  @Test
  void aRetryAfterAnotherSuspensionBelongsToTheSameRun() {
    handler = this::failOnce;
    scheduler.schedule(spec().every(HOUR).retry(twice(5)));
    sleep(215);
    kit.settle();
    sleep(70); // until 285, when 240 was missed too
    kit.settle();
    assertThat(firings).hasSize(3);
    assertThat(firings.get(1).fireId()).isEqualTo(firings.get(0).fireId());
    assertThat(firings.get(2).scheduledAt()).isEqualTo(START.plus(Duration.ofHours(4)));
    assertThat(firings).extracting(Firing::attempt).containsExactly(1, 2, 1);
  }

  @Test
  void aLateRetryOfARunThatWasNotMissedIsNoCatchUpRun() {
    handler = this::failOnce;
    scheduler.schedule(spec().every(HOUR).retry(twice(5)));
    advance(70);
    assertThat(firedMinutes).containsExactly(60L, 65L);
    assertThat(firings).noneMatch(Firing::isCatchUp);
    assertThat(firings.get(1).isLate()).isTrue();
  }

  // Dropped runs

  @Test
  void droppedRunsAreCounted() {
    scheduler.schedule(spec().every(Duration.ofSeconds(1)));
    scheduler.schedule(
        TimerSpec.of("ns", "skips").handler("h").every(HOUR).missed(MissedRuns.SKIP));
    scheduler.schedule(
        TimerSpec.of("ns", "all").handler("h").every(HOUR).missed(MissedRuns.FIRE_ALL));
    sleep(125);
    kit.settle();
    // All except one of the runs before the last minute, and those at 60 and 120.
    assertThat(scheduler.stats().skipped()).isEqualTo(125 * 60 - 60 - 2 + 2);
  }

  @Test
  void runsThatALongRunDroppedAreCounted() {
    handler =
        firing -> {
          if (firings.size() == 1) {
            kit.skew(scheduler, Duration.ofMinutes(10));
          }
        };
    scheduler.schedule(spec().every(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofSeconds(1));
    assertThat(scheduler.stats().skipped()).isBetween(500L, 600L);
  }
}
