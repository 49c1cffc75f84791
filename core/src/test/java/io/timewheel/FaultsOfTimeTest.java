// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.timewheel.PassiveTimer.Kind;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The faults of {@link FaultsTest} that concern the time of an event, or an unnecessary wake-up.
 */
class FaultsOfTimeTest {
  private final TestClock clock = new TestClock();
  private final RecordingTask task = new RecordingTask(clock);

  @Test
  void fault4NoThreadWakesWhileNothingIsDue() {
    try (HashedWheelTimer timer = hashed(512).build()) {
      timer.newTimeout(task, Long.MAX_VALUE, TimeUnit.DAYS);
      clock.awaitSleepForever();
      timer.newTimeout(task, 1, TimeUnit.HOURS);
      clock.awaitSleepUntil(Duration.ofHours(1));
      long wakeups = timer.stats().wakeups();

      for (int tick = 1; tick < 10_000; tick++) {
        clock.advance(Duration.ofMillis(1));
      }

      assertThat(timer.stats().wakeups()).isEqualTo(wakeups);
    }
  }

  /** The wheel turns a thousand times while a thousand timeouts are due later. */
  @Test
  void fault5FarTimeoutsAreNotVisitedTurnByTurn() {
    try (HashedWheelTimer timer = hashed(8).build()) {
      timer.newTimeout(task, Long.MAX_VALUE, TimeUnit.DAYS);
      clock.awaitSleepForever();
      for (int i = 0; i < 1_000; i++) {
        timer.newTimeout(task, 10_000 + i, TimeUnit.MILLISECONDS);
      }
      clock.awaitSleepUntil(Duration.ofSeconds(10));
      long wakeups = timer.stats().wakeups();

      for (int tick = 1; tick < 8_000; tick++) {
        clock.advance(Duration.ofMillis(1));
      }

      assertThat(timer.stats().wakeups()).isEqualTo(wakeups);
    }
  }

  @ParameterizedTest
  @EnumSource
  void fault8DeadlineIsPostponedInPlace(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, 1_000);
    WheelTimeout idle = timer.start(5_000);

    for (int i = 0; i < 100_000; i++) {
      assertThat(timer.advance(1_000)).isZero();
      assertThat(idle.reschedule(5_000, TimeUnit.NANOSECONDS)).isTrue();
    }

    assertThat(timer.advance(4_999)).isZero();
    assertThat(timer.advance(1)).isEqualTo(1);
    assertThat(timer.task.ran).containsExactly(idle);
    assertThat(timer.engine.stats().started()).isEqualTo(1);
    assertThat(timer.engine.stats().rescheduled()).isEqualTo(100_000);
  }

  /** A leap year of daily timeouts passes at once on the timer thread. */
  @Test
  void fault11TestsControlTheClock() {
    try (HashedWheelTimer timer = hashed(512).build()) {
      for (int day = 1; day <= 366; day++) {
        timer.newTimeout(task, 1, TimeUnit.DAYS);
        clock.awaitSleepUntil(Duration.ofDays(day));
        clock.advance(Duration.ofDays(1));
        task.awaitRuns(day);
      }
      assertThat(timer.stats().maxLagNanos()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource
  void fault13ExtremeDelaysFireOnTime(Kind kind) {
    PassiveTimer timer = new PassiveTimer(kind, 1_000_000);
    timer.advance(1_234_567_891);
    for (TimeUnit unit : TimeUnit.values()) {
      timer.engine.start(timer.task, Long.MAX_VALUE, unit);
    }
    timer.start(Long.MAX_VALUE - 1_000_000_000L); // the sum with the time overflows
    long centuries = TimeUnit.DAYS.toNanos(200 * 365);
    WheelTimeout far = timer.start(centuries);
    WheelTimeout past = timer.start(Long.MIN_VALUE);
    WheelTimeout zero = timer.start(0);

    assertThat(timer.poll()).isZero();
    assertThat(timer.advance(1_000_000)).isEqualTo(2);
    assertThat(timer.task.ran).containsExactlyInAnyOrder(past, zero);

    assertThat(timer.advance(centuries - 1_000_000)).isZero();
    assertThat(timer.advance(1_000_000)).isEqualTo(1);
    assertThat(timer.task.ran).contains(far);
    assertThat(timer.engine.nextTick()).as("the rest never fires").isEqualTo(Ticks.NEVER);
    assertThat(timer.engine.pendingTimeouts()).isEqualTo(TimeUnit.values().length + 1);
  }

  /** Deadlines are spread evenly over a tick. None fires early, and the mean lag is half a tick. */
  @ParameterizedTest
  @EnumSource
  void fault14NeverEarlyAndLateByAtMostOneTick(Kind kind) {
    int tickNanos = 1_000_000;
    PassiveTimer timer = new PassiveTimer(kind, tickNanos);
    int timeouts = 10_000;
    for (int i = 0; i < timeouts; i++) {
      timer.start(5_000_000 + i * 1_234_567L % 100_000_000);
    }

    long next;
    while ((next = timer.engine.nextTick()) != Ticks.NEVER) {
      timer.advanceTo(next * tickNanos - 1);
      timer.advance(1);
    }

    assertThat(timer.task.lagsNanos)
        .hasSize(timeouts)
        .allMatch(lagNanos -> lagNanos >= 0 && lagNanos < tickNanos);
    double meanNanos = timer.task.lagsNanos.stream().mapToLong(lag -> lag).average().orElseThrow();
    assertThat(meanNanos / tickNanos).isCloseTo(0.5, within(0.01));
  }

  private HashedWheelTimer.Builder hashed(int ticksPerWheel) {
    return HashedWheelTimer.builder()
        .timeSource(clock)
        .tick(Duration.ofMillis(1))
        .ticksPerWheel(ticksPerWheel);
  }
}
