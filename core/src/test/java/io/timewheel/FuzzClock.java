// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.List;

/**
 * The clock of a {@link FuzzedTimer}, which moves on command, and the model's time. It uses ticks,
 * but not slots and levels, and counts ticks by division.
 */
final class FuzzClock {
  private static final long MILLI = 1_000_000;
  private static final long DAY = 86_400_000 * MILLI;

  /** How far the clock may fall behind the start of the timer. */
  private static final long EARLIEST = -10 * MILLI;

  final long tickNanos;
  private final long originNanos;
  private long offsetNanos;

  /** The latest time that the timer can have read. */
  private long seenNanos;

  FuzzClock(List<FuzzOp> program) {
    originNanos = FuzzOp.setting(program, "origin", 0);
    tickNanos = Math.min(DAY, Math.max(1, FuzzOp.setting(program, "tick", MILLI)));
  }

  /** Returns the reading of the time source. */
  long reading() {
    return originNanos + offsetNanos;
  }

  long offsetOf(long reading) {
    return reading - originNanos;
  }

  long offsetNanos() {
    return offsetNanos;
  }

  long elapsedNanos() {
    return Math.max(0, offsetNanos);
  }

  /** Records that the timer is about to read the clock. */
  void see() {
    seenNanos = Math.max(seenNanos, elapsedNanos());
  }

  long seenNanos() {
    return seenNanos;
  }

  /**
   * Moves the clock: forward at most to the end of time, back at most a little before the start of
   * the timer.
   */
  void advance(long nanos) {
    long to = offsetNanos + nanos;
    boolean over = nanos > 0 && to < offsetNanos;
    offsetNanos = over ? Long.MAX_VALUE - 1 : Math.min(Math.max(EARLIEST, to), Long.MAX_VALUE - 1);
  }

  long deadlineNanos(long delayNanos) {
    long sum = elapsedNanos() + Math.max(1, delayNanos);
    return sum < 0 ? Long.MAX_VALUE : sum;
  }

  /**
   * Returns the beginning of the first tick at or after a deadline; the end of time if there is
   * none.
   */
  long dueNanos(long deadlineNanos) {
    long before = (deadlineNanos - 1) / tickNanos * tickNanos;
    return before > Long.MAX_VALUE - 1 - tickNanos ? Long.MAX_VALUE : before + tickNanos;
  }

  /** Returns whether a tick begins at or after a deadline, and not after a time. */
  boolean isDue(long deadlineNanos, long nowNanos) {
    return nowNanos / tickNanos * tickNanos >= deadlineNanos;
  }

  /** Returns the length of a number of ticks, saturated. */
  long nanos(long ticks) {
    return Math.multiplyHigh(ticks, tickNanos) != 0 || ticks * tickNanos < 0
        ? Long.MAX_VALUE
        : ticks * tickNanos;
  }
}
