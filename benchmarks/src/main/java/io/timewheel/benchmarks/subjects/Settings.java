// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

/**
 * What a timer is made for. Most have no use for the last two.
 *
 * @param tickNanos the tick, for those that have one
 * @param pending how many timeouts will be pending at once, about
 * @param horizonNanos the longest delay
 */
public record Settings(long tickNanos, int pending, long horizonNanos) {
  /**
   * The slots of a single wheel. Netty's and Dubbo's default is 512; with four times as many, four
   * times fewer of the timeouts for later are visited in a tick, and nothing gets worse.
   */
  static final int SLOTS = 2048;

  /** For those that count milliseconds: rounded up, so that rounding does not make them early. */
  static long wholeMillis(long nanos) {
    return (nanos + 999_999) / 1_000_000;
  }
}
