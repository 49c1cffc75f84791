// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.math.BigInteger;

/**
 * The grid of ticks that a timer lives on: ticks of equal length, counted from the moment at which
 * the timer was made.
 *
 * <p>Everything below the timer counts in <i>elapsed</i> nanoseconds, the difference to that
 * moment, and in ticks, so that neither the origin of the clock nor its wrap-around is seen
 * anywhere else. Elapsed time is never negative and reaches to 292 years; after them, a clock
 * cannot be told from one that has fallen behind that moment.
 */
final class Ticks {
  final long tickNanos;
  private final TimeSource timeSource;
  private final long startNanos;

  /** 2 to the power of 64 + {@link #reciprocalShift}, divided by the tick; at most a long. */
  private final long reciprocal;

  private final int reciprocalShift;

  Ticks(TimeSource timeSource, long tickNanos) {
    this.timeSource = timeSource;
    this.tickNanos = tickNanos;
    this.startNanos = timeSource.nanoTime();
    this.reciprocalShift = Math.max(0, Long.SIZE - 2 - Long.numberOfLeadingZeros(tickNanos));
    this.reciprocal =
        BigInteger.ONE
            .shiftLeft(Long.SIZE + reciprocalShift)
            .divide(BigInteger.valueOf(tickNanos))
            .min(BigInteger.valueOf(Long.MAX_VALUE))
            .longValueExact();
  }

  /**
   * The time since the timer was made. A clock that falls behind that moment stands still at it.
   */
  long elapsedNanos() {
    return Math.max(0, timeSource.nanoTime() - startNanos);
  }

  /** The last tick that has begun. */
  long nowTick() {
    return tickAt(elapsedNanos());
  }

  /** The last tick that has begun at a time. The end of time is not reached: never stays never. */
  long tickAt(long elapsedNanos) {
    return wholeTicks(Math.min(elapsedNanos, Long.MAX_VALUE - 1));
  }

  /**
   * The time a delay leads to. A delay of zero or less counts as one nanosecond, so that every
   * deadline lies in a tick that has not begun yet; a sum that overflows is never.
   */
  static long deadlineNanos(long elapsedNanos, long delayNanos) {
    long deadlineNanos = elapsedNanos + Math.max(1, delayNanos);
    return deadlineNanos < 0 ? Long.MAX_VALUE : deadlineNanos;
  }

  /** The first tick that begins at or after a deadline. */
  long deadlineTick(long deadlineNanos) {
    return deadlineNanos == Long.MAX_VALUE ? Wheel.NEVER : wholeTicks(deadlineNanos - 1) + 1;
  }

  /**
   * Divides by the tick. That is a multiplication by the reciprocal, because all of a start waits
   * for the result, and a division takes longer. As the reciprocal is rounded down, the product is
   * never too great; it is one too small at times, and much too small for ticks of 1 ns only.
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

  /**
   * The reading of the clock at which a tick begins, to be compared by the difference to the
   * present one. No difference tells of more than 292 years, so while the clock is behind the
   * moment at which the timer was made, what is further ahead than that is brought as near.
   */
  long clockAt(long tick) {
    long behindNanos = Math.max(0, startNanos - timeSource.nanoTime());
    return startNanos + Math.min(nanosAt(tick), Long.MAX_VALUE - behindNanos);
  }

  /** Parks the current thread until a tick begins; may return early. */
  void parkUntil(long tick, Object blocker) {
    timeSource.parkUntil(clockAt(tick), blocker);
  }
}
