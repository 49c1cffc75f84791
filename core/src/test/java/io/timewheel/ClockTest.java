// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClockTest {
  private static final long TICK_NANOS = 1_000_000;

  private final SetTime time = new SetTime();

  /** A clock that stands still unless it is set, and records the requested parking times. */
  private static final class SetTime implements TimeSource {
    long nanos;
    long parkedUntilNanos;
    Object blocker;

    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public void parkUntil(long deadlineNanos, Object blocker) {
      this.parkedUntilNanos = deadlineNanos;
      this.blocker = blocker;
    }
  }

  private Clock clockFrom(long originNanos) {
    time.nanos = originNanos;
    return new Clock(time, new Ticks(TICK_NANOS));
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, -TICK_NANOS, -1, 0, 1, Long.MAX_VALUE - 5, Long.MAX_VALUE})
  @Tag("promise-6")
  void countsFromWhereverTheClockStarts(long originNanos) {
    Clock clock = clockFrom(originNanos);
    assertThat(clock.elapsedNanos()).isZero();
    assertThat(clock.nowTick()).isZero();
    time.nanos = originNanos + TICK_NANOS - 1; // may wrap around
    assertThat(clock.nowTick()).isZero();
    time.nanos = originNanos + TICK_NANOS;
    assertThat(clock.elapsedNanos()).isEqualTo(TICK_NANOS);
    assertThat(clock.nowTick()).isEqualTo(1);
    time.nanos = originNanos + Long.MAX_VALUE;
    assertThat(clock.elapsedNanos()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  @Tag("promise-6")
  void aClockBehindItsStartReturnsZeroElapsedTime() {
    Clock clock = clockFrom(100);
    time.nanos = 99;
    assertThat(clock.elapsedNanos()).isZero();
    time.nanos = 100 + Long.MIN_VALUE; // or has it run for 292 years?
    assertThat(clock.elapsedNanos()).isZero();
  }

  @Test
  void readingAtATickCountsFromTheStart() {
    long originNanos = Long.MAX_VALUE - 5;
    Clock clock = clockFrom(originNanos);
    assertThat(clock.readingAt(2) - originNanos).isEqualTo(2 * TICK_NANOS);
    assertThat(clock.readingAt(Ticks.NEVER) - originNanos).isEqualTo(Long.MAX_VALUE);
  }

  /** Otherwise, never would exceed the greatest difference, look like the past, and not sleep. */
  @Test
  void neverIsAheadOfAClockThatFellBehindItsStart() {
    Clock clock = clockFrom(Long.MIN_VALUE + 5);
    time.nanos -= 7; // wraps around
    assertThat(clock.readingAt(Ticks.NEVER) - time.nanos).isEqualTo(Long.MAX_VALUE);
    assertThat(clock.readingAt(2) - time.nanos).isEqualTo(2 * TICK_NANOS + 7);
    clock.parkUntil(Ticks.NEVER, this);
    assertThat(time.parkedUntilNanos - time.nanos).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void parksUntilTheClockReadsTheTick() {
    Clock clock = clockFrom(-3);
    clock.parkUntil(4, this);
    assertThat(time.parkedUntilNanos).isEqualTo(-3 + 4 * TICK_NANOS);
    assertThat(time.blocker).isSameAs(this);
  }
}
