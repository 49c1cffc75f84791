// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TicksTest {
  private static final long TICK_NANOS = 1_000_000;

  private final Clock clock = new Clock();

  /** A clock that stands still unless it is set, and notes for how long it was asked to park. */
  private static final class Clock implements TimeSource {
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

  private Ticks ticksFrom(long originNanos) {
    clock.nanos = originNanos;
    return new Ticks(clock, TICK_NANOS);
  }

  // Elapsed time

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, -TICK_NANOS, -1, 0, 1, Long.MAX_VALUE - 5, Long.MAX_VALUE})
  void countsFromWhereverTheClockStarts(long originNanos) {
    Ticks ticks = ticksFrom(originNanos);
    assertThat(ticks.elapsedNanos()).isZero();
    assertThat(ticks.nowTick()).isZero();
    clock.nanos = originNanos + TICK_NANOS - 1; // may wrap around
    assertThat(ticks.nowTick()).isZero();
    clock.nanos = originNanos + TICK_NANOS;
    assertThat(ticks.elapsedNanos()).isEqualTo(TICK_NANOS);
    assertThat(ticks.nowTick()).isEqualTo(1);
    clock.nanos = originNanos + Long.MAX_VALUE;
    assertThat(ticks.elapsedNanos()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void aClockThatFallsBehindItsStartStandsStillAtIt() {
    Ticks ticks = ticksFrom(100);
    clock.nanos = 99;
    assertThat(ticks.elapsedNanos()).isZero();
    clock.nanos = 100 + Long.MIN_VALUE; // or has it run for 292 years?
    assertThat(ticks.elapsedNanos()).isZero();
  }

  // Deadlines

  @Test
  void aDelayIsAddedToTheTime() {
    assertThat(Ticks.deadlineNanos(5, 7)).isEqualTo(12);
    assertThat(Ticks.deadlineNanos(0, 1)).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 0, -1, Long.MIN_VALUE})
  void aDelayOfZeroOrLessCountsAsOneNanosecond(long delayNanos) {
    assertThat(Ticks.deadlineNanos(5, delayNanos)).isEqualTo(6);
  }

  @Test
  void aSumThatOverflowsIsNever() {
    assertThat(Ticks.deadlineNanos(1, Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    assertThat(Ticks.deadlineNanos(Long.MAX_VALUE, Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    assertThat(Ticks.deadlineNanos(Long.MAX_VALUE, 0)).isEqualTo(Long.MAX_VALUE);
    assertThat(Ticks.deadlineNanos(0, Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    assertThat(Ticks.deadlineNanos(1, Long.MAX_VALUE - 2)).isEqualTo(Long.MAX_VALUE - 1);
  }

  @Test
  void aDeadlineBelongsToTheFirstTickThatBeginsAtOrAfterIt() {
    Ticks ticks = ticksFrom(0);
    assertThat(ticks.deadlineTick(1)).isEqualTo(1);
    assertThat(ticks.deadlineTick(TICK_NANOS)).isEqualTo(1);
    assertThat(ticks.deadlineTick(TICK_NANOS + 1)).isEqualTo(2);
    assertThat(ticks.deadlineTick(Long.MAX_VALUE)).isEqualTo(Wheel.NEVER);
    assertThat(ticks.deadlineTick(Long.MAX_VALUE - 1))
        .isEqualTo(Long.MAX_VALUE / TICK_NANOS + 1)
        .isLessThan(Wheel.NEVER);
  }

  @Test
  void theTickThatNeverComesNeverComesWithTheShortestTickEither() {
    clock.nanos = 0;
    Ticks ticks = new Ticks(clock, 1);
    assertThat(ticks.deadlineTick(Long.MAX_VALUE - 1)).isEqualTo(Wheel.NEVER - 1);
    assertThat(ticks.tickAt(Long.MAX_VALUE - 1)).isEqualTo(Wheel.NEVER - 1);
    assertThat(ticks.tickAt(Long.MAX_VALUE)).isEqualTo(Wheel.NEVER - 1);
  }

  // Ticks

  @Test
  void theTimeOfATickSaturates() {
    Ticks ticks = ticksFrom(0);
    assertThat(ticks.nanosAt(0)).isZero();
    assertThat(ticks.nanosAt(3)).isEqualTo(3 * TICK_NANOS);
    long lastTick = Long.MAX_VALUE / TICK_NANOS;
    assertThat(ticks.nanosAt(lastTick)).isEqualTo(lastTick * TICK_NANOS);
    assertThat(ticks.nanosAt(lastTick + 1)).isEqualTo(Long.MAX_VALUE);
    assertThat(ticks.nanosAt(Wheel.NEVER)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void theClockAtATickIsCountedFromItsStart() {
    long originNanos = Long.MAX_VALUE - 5;
    Ticks ticks = ticksFrom(originNanos);
    assertThat(ticks.clockAt(2) - originNanos).isEqualTo(2 * TICK_NANOS);
    assertThat(ticks.clockAt(Wheel.NEVER) - originNanos).isEqualTo(Long.MAX_VALUE);
  }

  /** Or never would be more than the greatest difference away, be taken for past, and no sleep. */
  @Test
  void neverIsAheadOfAClockThatFellBehindItsStart() {
    Ticks ticks = ticksFrom(Long.MIN_VALUE + 5);
    clock.nanos -= 7; // wraps around
    assertThat(ticks.clockAt(Wheel.NEVER) - clock.nanos).isEqualTo(Long.MAX_VALUE);
    assertThat(ticks.clockAt(2) - clock.nanos).isEqualTo(2 * TICK_NANOS + 7);
    ticks.parkUntil(Wheel.NEVER, this);
    assertThat(clock.parkedUntilNanos - clock.nanos).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void parksUntilTheClockReadsTheTick() {
    Ticks ticks = ticksFrom(-3);
    ticks.parkUntil(4, this);
    assertThat(clock.parkedUntilNanos).isEqualTo(-3 + 4 * TICK_NANOS);
    assertThat(clock.blocker).isSameAs(this);
  }

  // Together

  @Property
  void neverEarlyAndLateByLessThanATick(
      @ForAll @LongRange(min = 1, max = Long.MAX_VALUE - 1) long deadlineNanos,
      @ForAll @LongRange(min = 1) long tickNanos) {
    Ticks ticks = new Ticks(() -> 0, tickNanos);
    BigInteger deadline = BigInteger.valueOf(deadlineNanos);
    BigInteger tick = BigInteger.valueOf(tickNanos);
    BigInteger firing = BigInteger.valueOf(ticks.deadlineTick(deadlineNanos)).multiply(tick);
    assertThat(firing).isBetween(deadline, deadline.add(tick).subtract(BigInteger.ONE));
  }

  @Property
  void aTickHasBegunExactlyFromItsTimeOn(
      @ForAll @LongRange(min = 0, max = Long.MAX_VALUE - 1) long elapsedNanos,
      @ForAll @LongRange(min = 1) long tickNanos) {
    Ticks ticks = new Ticks(() -> 0, tickNanos);
    long tick = ticks.tickAt(elapsedNanos);
    assertThat(ticks.nanosAt(tick)).isLessThanOrEqualTo(elapsedNanos);
    assertThat(ticks.nanosAt(tick + 1)).isGreaterThan(elapsedNanos);
  }
}
