// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.timewheel.TestClock;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

@ParameterizedClass
@ValueSource(longs = {0, -1, Long.MAX_VALUE - 5, Long.MIN_VALUE, Long.MIN_VALUE + 5})
class DeadlineTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final TestClock clock;

  DeadlineTest(long originNanos) {
    clock = new TestClock(originNanos);
  }

  @Test
  void expiresOnTimeAndStaysExpired() {
    Deadline deadline = Deadline.after(Duration.ofMillis(10), clock);
    assertThat(deadline.isExpired()).isFalse();
    clock.advance(Duration.ofNanos(9_999_999));
    assertThat(deadline.isExpired()).isFalse();
    clock.advance(1);
    assertThat(deadline.isExpired()).isTrue();
    clock.advance(Duration.ofDays(365 * 250));
    assertThat(deadline.isExpired()).isTrue();
  }

  @Test
  void remainingCountsDownAndTurnsNegative() {
    Deadline deadline = Deadline.after(SECOND, clock);
    assertThat(deadline.remaining()).isEqualTo(SECOND);
    assertThat(deadline).hasToString("Deadline(PT1S left)");
    clock.advance(Duration.ofNanos(1_500_000));
    assertThat(deadline.remaining(MILLISECONDS)).isEqualTo(998);
    clock.advance(SECOND);
    assertThat(deadline.remaining(NANOSECONDS)).isEqualTo(-1_500_000);
    assertThat(deadline.remaining(MILLISECONDS)).isEqualTo(-1);
    assertThat(deadline.remaining()).isEqualTo(Duration.ofNanos(-1_500_000));
  }

  @Test
  void delaysOfZeroAndLessAreNow() {
    for (Duration delay : new Duration[] {Duration.ZERO, SECOND.negated(), longest().negated()}) {
      Deadline deadline = Deadline.after(delay, clock);
      assertThat(deadline.isExpired()).isTrue();
      assertThat(deadline.remaining()).isZero();
      Deadline later = Deadline.after(SECOND, clock);
      assertThat(later.within(delay).remaining()).isZero();
    }
  }

  @Test
  void furthestIs292YearsAway() {
    Deadline deadline = Deadline.after(longest(), clock);
    assertThat(deadline.remaining(NANOSECONDS)).isEqualTo(Long.MAX_VALUE);
    clock.advance(Duration.ofDays(365 * 290));
    assertThat(deadline.isExpired()).isFalse();
  }

  @Test
  @Tag("promise-37")
  void withinIsTheEarlierOfTheTwo() {
    Deadline deadline = Deadline.after(SECOND, clock);
    assertThat(deadline.within(Duration.ofMillis(300)).remaining(MILLISECONDS)).isEqualTo(300);
    assertThat(deadline.within(Duration.ofMillis(1_001))).isSameAs(deadline);
    assertThat(deadline.within(longest())).isSameAs(deadline);
    clock.advance(Duration.ofMillis(800));
    assertThat(deadline.within(Duration.ofMillis(300))).isSameAs(deadline);
    clock.advance(Duration.ofMillis(800));
    assertThat(deadline.within(Duration.ofMillis(300)).remaining(MILLISECONDS)).isEqualTo(-600);
  }

  @Test
  @Tag("promise-37")
  void isEqualIfItIsTheSameTimeOfTheSameClock() {
    Deadline deadline = Deadline.after(SECOND, clock);
    Deadline later = Deadline.after(Duration.ofSeconds(2), clock);
    clock.advance(Duration.ofMillis(400));
    Deadline same = Deadline.after(Duration.ofMillis(600), clock);
    Deadline elsewhere = Deadline.after(Duration.ofMillis(600), new TestClock(clock.nanoTime()));

    assertThat(deadline).isEqualTo(same).hasSameHashCodeAs(same).isEqualByComparingTo(same);
    assertThat(later.within(Duration.ofMillis(600))).isEqualTo(deadline);
    assertThat(deadline).isNotEqualTo(later).isNotEqualTo(elsewhere).isNotEqualTo(null);
    assertThat(deadline).isNotEqualTo((Object) SECOND);
  }

  @Test
  @Tag("promise-37")
  void earlierComesFirstAcrossTheLongestDistance() {
    Deadline past = Deadline.after(Duration.ZERO, clock);
    clock.advance(SECOND);
    Deadline now = Deadline.after(Duration.ZERO, clock);
    Deadline soon = Deadline.after(SECOND, clock);
    Deadline never = Deadline.after(longest(), clock);

    assertThat(Stream.of(never, soon, past, now).sorted()).containsExactly(past, now, soon, never);
    assertThat(past).isLessThan(never);
    assertThat(never).isGreaterThan(past);
  }

  @Test
  void deadlinesOfDifferentClocksAreNotComparable() {
    Deadline here = Deadline.after(SECOND, clock);
    Deadline elsewhere = Deadline.after(SECOND, new TestClock(clock.nanoTime()));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> here.compareTo(elsewhere))
        .withMessage("other: Deadline(PT1S left), of another time source (expected: the same)");
  }

  @Test
  void deadlinesOnTheClockOfTheMachineAreComparable() {
    Deadline first = Deadline.after(SECOND);
    assertThat(first).isLessThan(Deadline.after(Duration.ofHours(1)));
  }

  @Test
  void remainingTimeNeverExceedsTheDelay() {
    Deadline deadline = Deadline.after(Duration.ofHours(1));
    assertThat(deadline.remaining()).isLessThanOrEqualTo(Duration.ofHours(1));
    assertThat(deadline.isExpired()).isFalse();
  }

  @Test
  void nullIsRefusedByName() {
    Deadline deadline = Deadline.after(SECOND, clock);
    assertThatNullPointerException()
        .isThrownBy(() -> Deadline.after(null, clock))
        .withMessage("delay");
    assertThatNullPointerException()
        .isThrownBy(() -> Deadline.after(SECOND, null))
        .withMessage("timeSource");
    assertThatNullPointerException().isThrownBy(() -> deadline.within(null)).withMessage("delay");
    assertThatNullPointerException().isThrownBy(() -> deadline.remaining(null)).withMessage("unit");
    assertThatNullPointerException()
        .isThrownBy(() -> deadline.compareTo(null))
        .withMessage("other");
  }

  private static Duration longest() {
    return Duration.ofSeconds(Long.MAX_VALUE);
  }
}
