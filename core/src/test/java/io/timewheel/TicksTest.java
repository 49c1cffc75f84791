// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TicksTest {
  private static final long TICK_NANOS = 1_000_000;

  private final Ticks ticks = new Ticks(TICK_NANOS);

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
  @Tag("promise-5")
  void aSumThatOverflowsIsNever() {
    assertThat(Ticks.deadlineNanos(1, Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    assertThat(Ticks.deadlineNanos(Long.MAX_VALUE, Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    assertThat(Ticks.deadlineNanos(Long.MAX_VALUE, 0)).isEqualTo(Long.MAX_VALUE);
    assertThat(Ticks.deadlineNanos(0, Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    assertThat(Ticks.deadlineNanos(1, Long.MAX_VALUE - 2)).isEqualTo(Long.MAX_VALUE - 1);
  }

  @Test
  void deadlineBelongsToTheFirstTickAtOrAfterIt() {
    assertThat(ticks.deadlineTick(1)).isEqualTo(1);
    assertThat(ticks.deadlineTick(TICK_NANOS)).isEqualTo(1);
    assertThat(ticks.deadlineTick(TICK_NANOS + 1)).isEqualTo(2);
    assertThat(ticks.deadlineTick(Long.MAX_VALUE)).isEqualTo(Ticks.NEVER);
    assertThat(ticks.deadlineTick(Long.MAX_VALUE - 1))
        .isEqualTo(Long.MAX_VALUE / TICK_NANOS + 1)
        .isLessThan(Ticks.NEVER);
  }

  @Test
  void neverStaysNeverWithTheShortestTick() {
    Ticks ticks = new Ticks(1);
    assertThat(ticks.deadlineTick(Long.MAX_VALUE - 1)).isEqualTo(Ticks.NEVER - 1);
    assertThat(ticks.tickAt(Long.MAX_VALUE - 1)).isEqualTo(Ticks.NEVER - 1);
    assertThat(ticks.tickAt(Long.MAX_VALUE)).isEqualTo(Ticks.NEVER - 1);
  }

  // Ticks

  @Test
  void theTimeOfATickSaturates() {
    assertThat(ticks.nanosAt(0)).isZero();
    assertThat(ticks.nanosAt(3)).isEqualTo(3 * TICK_NANOS);
    long lastTick = Long.MAX_VALUE / TICK_NANOS;
    assertThat(ticks.nanosAt(lastTick)).isEqualTo(lastTick * TICK_NANOS);
    assertThat(ticks.nanosAt(lastTick + 1)).isEqualTo(Long.MAX_VALUE);
    assertThat(ticks.nanosAt(Ticks.NEVER)).isEqualTo(Long.MAX_VALUE);
  }

  // Together

  @Property
  @net.jqwik.api.Tag("promise-2")
  void neverEarlyAndLateByLessThanATick(
      @ForAll @LongRange(min = 1, max = Long.MAX_VALUE - 1) long deadlineNanos,
      @ForAll @LongRange(min = 1) long tickNanos) {
    Ticks ticks = new Ticks(tickNanos);
    BigInteger deadline = BigInteger.valueOf(deadlineNanos);
    BigInteger tick = BigInteger.valueOf(tickNanos);
    BigInteger firing = BigInteger.valueOf(ticks.deadlineTick(deadlineNanos)).multiply(tick);
    assertThat(firing).isBetween(deadline, deadline.add(tick).subtract(BigInteger.ONE));
  }

  @Property
  void aTickHasBegunExactlyFromItsTimeOn(
      @ForAll @LongRange(min = 0, max = Long.MAX_VALUE - 1) long elapsedNanos,
      @ForAll @LongRange(min = 1) long tickNanos) {
    Ticks ticks = new Ticks(tickNanos);
    long tick = ticks.tickAt(elapsedNanos);
    assertThat(ticks.nanosAt(tick)).isLessThanOrEqualTo(elapsedNanos);
    assertThat(ticks.nanosAt(tick + 1)).isGreaterThan(elapsedNanos);
  }
}
