// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import org.HdrHistogram.Histogram;

/**
 * Counts lags, to three significant digits.
 *
 * <p>Not thread-safe: the timer thread fills it, and it is read when that thread has ended.
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

  /** The least lag that no more than the given share of all lags exceed. */
  long percentileNanos(double percent) {
    return lagsNanos.getValueAtPercentile(percent);
  }
}
