// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.ScheduleResult.Outcome;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Verifies timers with a jitter: all runs of a timer are delayed by the same offset. */
class JitterTest {
  private static final Instant START = DurableTestkit.START; // at midnight
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration JITTER = Duration.ofMinutes(20);

  private final DurableTestkit kit = DurableTestkit.create();
  private InMemoryTimerStore store = InMemoryTimerStore.create();
  private final List<Firing> firings = new ArrayList<>();
  private DurableTimer scheduler = start();

  private DurableTimer start() {
    return kit.start(store, builder -> builder.handler("h", firings::add));
  }

  private void sleep(Duration duration) {
    kit.kill(scheduler);
    kit.advanceBy(duration);
    store = store.reopen();
    scheduler = start();
    kit.settle();
  }

  private static TimerSpec spec(String id) {
    return TimerSpec.of("ns", id).handler("h").jitter(JITTER);
  }

  private static TimerSpec hourly(String id) {
    return spec(id).every(HOUR);
  }

  /** Returns the delay of the runs of a timer relative to runs without jitter. */
  private Duration offset(String id) {
    return Duration.between(START, scheduler.preview(hourly(id), 1).get(0)).minus(HOUR);
  }

  private List<Instant> runs() {
    return firings.stream().map(Firing::scheduledAt).toList();
  }

  @Test
  void allRunsOfATimerAreDelayedByOneOffset() {
    Duration a = offset("a");
    Duration b = offset("b");
    assertThat(a).isBetween(Duration.ZERO, JITTER).isNotEqualTo(b);
    scheduler.schedule(hourly("a"));
    scheduler.schedule(spec("b").cron("0 * * * *", ZoneOffset.UTC));
    assertThat(scheduler.timer("ns", "a").get().orElseThrow().next(2))
        .containsExactly(START.plus(HOUR).plus(a), START.plus(HOUR.multipliedBy(2)).plus(a));
    kit.advanceBy(Duration.ofMinutes(179));
    assertThat(runs())
        .containsExactlyInAnyOrder(
            START.plus(b),
            START.plus(HOUR).plus(a),
            START.plus(HOUR).plus(b),
            START.plus(HOUR.multipliedBy(2)).plus(a),
            START.plus(HOUR.multipliedBy(2)).plus(b));
    assertThat(firings).allSatisfy(firing -> assertThat(firing.isLate()).isFalse());
  }

  @Test
  void theSameTimerIsUnchangedAndAnotherJitterReplacesIt() {
    scheduler.schedule(hourly("a"));
    assertThat(scheduler.schedule(hourly("a")).outcome()).isEqualTo(Outcome.UNCHANGED);
    assertThat(scheduler.schedule(hourly("a").jitter(JITTER.plusMillis(1))).outcome())
        .isEqualTo(Outcome.REPLACED);
    assertThat(scheduler.schedule(TimerSpec.of("ns", "a").handler("h").every(HOUR)).outcome())
        .isEqualTo(Outcome.REPLACED);
    assertThat(scheduler.timer("ns", "a").get().orElseThrow().jitter()).isEmpty();
  }

  @Test
  void theOffsetStaysOnAnotherNodeAndAfterAReplacement() {
    Duration offset = offset("a");
    scheduler.schedule(hourly("a"));
    sleep(Duration.ofMinutes(1));
    assertThat(scheduler.timer("ns", "a").get().orElseThrow().dueAt())
        .isEqualTo(START.plus(HOUR).plus(offset));
    scheduler.schedule(hourly("a").payload(new byte[] {1}));
    assertThat(scheduler.timer("ns", "a").get().orElseThrow().dueAt())
        .isEqualTo(kit.now().plus(HOUR).plus(offset));
  }

  @Test
  void aTimerReturnsItsJitterApartFromItsRecurrence() {
    scheduler.schedule(spec("a").cron("0 9 * * *", ZoneId.of("Europe/Berlin")));
    TimerInfo info = scheduler.timer("ns", "a").get().orElseThrow();
    assertThat(info.jitter()).contains(JITTER);
    assertThat(info.recurrence()).isEqualTo("cron 0 9 * * * Europe/Berlin");
  }

  @Test
  void missedRunsAreThoseOfTheMovedTimes() {
    Duration a = offset("a");
    scheduler.schedule(hourly("a"));
    scheduler.schedule(hourly("b").missed(MissedRuns.SKIP));
    scheduler.schedule(hourly("c").missed(MissedRuns.FIRE_ALL));
    Duration c = offset("c");
    sleep(Duration.ofMinutes(210));
    assertThat(runs())
        .containsExactlyInAnyOrder(
            START.plus(HOUR.multipliedBy(3)).plus(a),
            START.plus(HOUR).plus(c),
            START.plus(HOUR.multipliedBy(2)).plus(c),
            START.plus(HOUR.multipliedBy(3)).plus(c));
    assertThat(firings).allSatisfy(firing -> assertThat(firing.isCatchUp()).isTrue());
    assertThat(scheduler.timer("ns", "b").get().orElseThrow().dueAt())
        .isEqualTo(START.plus(HOUR.multipliedBy(4)).plus(offsetOfB()));
  }

  private Duration offsetOfB() {
    return Duration.between(kit.now().plus(HOUR), scheduler.preview(hourly("b"), 1).get(0));
  }

  @Test
  void theGraceCountsFromTheMovedTime() {
    Duration offset = offset("a");
    scheduler.schedule(hourly("a").missed(MissedRuns.SKIP).grace(Duration.ofMinutes(5)));
    sleep(HOUR.plus(offset).plusMinutes(4));
    assertThat(runs()).containsExactly(START.plus(HOUR).plus(offset));
    assertThat(firings.get(0).isCatchUp()).isFalse();
  }

  @Test
  void aRunByHandAndAPauseDoNotChangeTheSchedule() {
    Duration offset = offset("a");
    scheduler.schedule(hourly("a"));
    scheduler.timer("ns", "a").runNow();
    kit.settle();
    assertThat(firings).hasSize(1);
    scheduler.timer("ns", "a").pause();
    kit.advanceBy(Duration.ofMinutes(30));
    scheduler.timer("ns", "a").resume();
    kit.advanceBy(Duration.ofMinutes(60));
    assertThat(runs()).hasSize(2).endsWith(START.plus(HOUR).plus(offset));
  }

  @Test
  void aGivenFirstRunIsDelayedToo() {
    Instant first = START.plus(Duration.ofDays(2));
    Duration offset = offset("a");
    assertThat(scheduler.preview(hourly("a").at(first), 2))
        .containsExactly(first.plus(offset), first.plus(offset).plus(HOUR));
  }

  @Test
  void aJitterIsWithinItsBounds() {
    assertThatThrownBy(() -> scheduler.schedule(hourly("a").jitter(Duration.ZERO)))
        .hasMessage("jitter: PT0S; expected more than zero");
    assertThatThrownBy(() -> scheduler.schedule(hourly("a").jitter(HOUR.plusMillis(1))))
        .hasMessage("jitter: PT1H0.001S is too long (maximum: PT1H, the period)");
    assertThatThrownBy(
            () ->
                scheduler.schedule(
                    hourly("a").every(Duration.ofDays(9)).jitter(Duration.ofHours(25))))
        .hasMessage("jitter: PT25H is too long (maximum: PT24H)");
    for (TimerSpec once :
        List.of(spec("a").after(HOUR), spec("a").at(START), spec("a").fixedDelay(HOUR))) {
      assertThatThrownBy(() -> scheduler.schedule(once))
          .isInstanceOf(InvalidArgumentException.class)
          .hasMessageContaining("(expected: only with a fixed rate or a cron)");
    }
    assertThat(scheduler.schedule(hourly("a").jitter(HOUR)).outcome()).isEqualTo(Outcome.CREATED);
  }
}
