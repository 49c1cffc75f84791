// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.math.BigInteger;

/**
 * A timer's grid of ticks. Converts between <i>elapsed</i> nanoseconds, the time since the timer
 * was made, and ticks of equal length. Immutable.
 */
final class Ticks {
  /**
   * The tick that never comes: the deadline of saturated delays, and the next tick of an idle
   * wheel.
   */
  static final long NEVER = Long.MAX_VALUE;

  final long tickNanos;

  /** 2 to the power of 64 + {@link #reciprocalShift}, divided by the tick; fits a long. */
  private final long reciprocal;

  private final int reciprocalShift;

  Ticks(long tickNanos) {
    this.tickNanos = tickNanos;
    this.reciprocalShift = Math.max(0, Long.SIZE - 2 - Long.numberOfLeadingZeros(tickNanos));
    this.reciprocal =
        BigInteger.ONE
            .shiftLeft(Long.SIZE + reciprocalShift)
            .divide(BigInteger.valueOf(tickNanos))
            .min(BigInteger.valueOf(Long.MAX_VALUE))
            .longValueExact();
  }

  /**
   * Returns the last tick that has begun at a time. The end of time is never reached: {@link
   * #NEVER} stays {@link #NEVER}.
   */
  long tickAt(long elapsedNanos) {
    return wholeTicks(Math.min(elapsedNanos, Long.MAX_VALUE - 1));
  }

  /**
   * Returns the deadline of a delay. A delay of zero or less counts as one nanosecond, so every
   * deadline lies in a tick that has not begun yet. If the sum overflows, the deadline is {@link
   * #NEVER}.
   */
  static long deadlineNanos(long elapsedNanos, long delayNanos) {
    long deadlineNanos = elapsedNanos + Math.max(1, delayNanos);
    return deadlineNanos < 0 ? Long.MAX_VALUE : deadlineNanos;
  }

  /** Returns the first tick that begins at or after a deadline. */
  long deadlineTick(long deadlineNanos) {
    return deadlineNanos == Long.MAX_VALUE ? NEVER : wholeTicks(deadlineNanos - 1) + 1;
  }

  /**
   * Divides by the tick. Multiplies by the reciprocal instead, because a start waits for the result
   * and a division takes longer. The reciprocal is rounded down, so the product is never too large.
   * It is sometimes one too small, and much too small only for ticks of 1 ns.
   */
  private long wholeTicks(long nanos) {
    long quotient = Math.multiplyHigh(nanos, reciprocal) >> reciprocalShift;
    long rest = nanos - quotient * tickNanos;
    return rest < tickNanos ? quotient : quotient + rest / tickNanos;
  }

  /** Returns the elapsed time at which a tick begins, saturated. */
  long nanosAt(long tick) {
    long high = Math.multiplyHigh(tick, tickNanos);
    long low = tick * tickNanos;
    return high != 0 || low < 0 ? Long.MAX_VALUE : low;
  }
}
