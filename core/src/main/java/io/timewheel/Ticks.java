// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.math.BigInteger;

/**
 * A timer's grid of ticks: pure arithmetic between <i>elapsed</i> nanoseconds, the time since the
 * timer was made, and ticks of equal length.
 */
final class Ticks {
  /**
   * The tick that never comes: the deadline of saturated delays, the next tick of an idle wheel.
   */
  static final long NEVER = Long.MAX_VALUE;

  final long tickNanos;

  /** 2 to the power of 64 + {@link #reciprocalShift}, divided by the tick; at most a long. */
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

  /** The last tick that has begun at a time. The end of time is not reached: never stays never. */
  long tickAt(long elapsedNanos) {
    return wholeTicks(Math.min(elapsedNanos, Long.MAX_VALUE - 1));
  }

  /**
   * The deadline of a delay. A delay of zero or less counts as one nanosecond, so every deadline
   * lies in a tick that has not begun yet; a sum that overflows is never.
   */
  static long deadlineNanos(long elapsedNanos, long delayNanos) {
    long deadlineNanos = elapsedNanos + Math.max(1, delayNanos);
    return deadlineNanos < 0 ? Long.MAX_VALUE : deadlineNanos;
  }

  /** The first tick that begins at or after a deadline. */
  long deadlineTick(long deadlineNanos) {
    return deadlineNanos == Long.MAX_VALUE ? NEVER : wholeTicks(deadlineNanos - 1) + 1;
  }

  /**
   * Divides by the tick. It multiplies by the reciprocal instead, because a start waits for the
   * result and a division takes longer. The reciprocal is rounded down, so the product is never too
   * great; it is one too small at times, and much too small only for ticks of 1 ns.
   */
  private long wholeTicks(long nanos) {
    long quotient = Math.multiplyHigh(nanos, reciprocal) >> reciprocalShift;
    long rest = nanos - quotient * tickNanos;
    return rest < tickNanos ? quotient : quotient + rest / tickNanos;
  }

  /** The elapsed time at which a tick begins, saturated. */
  long nanosAt(long tick) {
    long high = Math.multiplyHigh(tick, tickNanos);
    long low = tick * tickNanos;
    return high != 0 || low < 0 ? Long.MAX_VALUE : low;
  }
}
