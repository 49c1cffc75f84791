// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

/**
 * The settings of a measured timer. Most timers do not use the last two.
 *
 * @param tickNanos the tick, for timers that have one
 * @param pending the approximate number of timeouts pending at once
 * @param horizonNanos the longest delay
 */
public record Settings(long tickNanos, int pending, long horizonNanos) {
  /**
   * The slots of a single wheel. The default of Netty and Dubbo is 512. With four times as many, a
   * tick visits a quarter of the timeouts that are due later, and there is no disadvantage.
   */
  static final int SLOTS = 2048;

  /**
   * Returns whole milliseconds, for timers that count them. Rounds up, so that rounding makes no
   * timeout early.
   */
  static long wholeMillis(long nanos) {
    return (nanos + 999_999) / 1_000_000;
  }
}
