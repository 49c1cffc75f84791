// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import org.HdrHistogram.Histogram;

/**
 * Counts lags, to three significant digits.
 *
 * <p>Not thread-safe: the timer thread fills it, and it is read after that thread has ended.
 */
final class LagHistogram {
  private final Histogram lagsNanos = new Histogram(3);
  private long early;

  /** Counts a lag. A negative one means that a timeout fired before its deadline. */
  void add(long lagNanos) {
    if (lagNanos < 0) {
      early++;
    }
    lagsNanos.recordValue(Math.max(0, lagNanos));
  }

  long count() {
    return lagsNanos.getTotalCount();
  }

  long early() {
    return early;
  }

  long maxNanos() {
    return lagsNanos.getMaxValue();
  }

  /** Returns the smallest lag that at most the given share of all lags exceeds. */
  long percentileNanos(double percent) {
    return lagsNanos.getValueAtPercentile(percent);
  }
}
