// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.internal.health.LagRecorder;
import java.time.Duration;
import java.util.List;

/**
 * Counts the lag of attempts, from their due time to their start, in fixed buckets. The bounds are
 * 1, 2 and 5 times the powers of ten from a millisecond on, and coarser above ten seconds.
 * Immutable.
 */
public final class LagHistogram {
  private final long[] counts;
  private final long maxMillis;

  LagHistogram(long[] counts, long maxMillis) {
    this.counts = counts;
    this.maxMillis = maxMillis;
  }

  /** {@return the inclusive upper bounds of the buckets; the last bucket has none} */
  public static List<Duration> bounds() {
    return LagRecorder.BOUNDS;
  }

  /**
   * Returns the number of attempts whose lag is within a bound.
   *
   * @param bucket the index of the bound in {@link #bounds()}; one more for all attempts
   * @return the count of this bucket and all lower ones
   */
  public long countWithin(int bucket) {
    if (bucket < 0 || bucket >= counts.length) {
      throw new IllegalArgumentException(
          "bucket: " + bucket + " (expected: 0 to " + (counts.length - 1) + ")");
    }
    long count = 0;
    for (int i = 0; i <= bucket; i++) {
      count += counts[i];
    }
    return count;
  }

  /** {@return the number of counted attempts} */
  public long total() {
    return countWithin(counts.length - 1);
  }

  /** {@return the longest lag} */
  public Duration max() {
    return Duration.ofMillis(maxMillis);
  }

  /**
   * Returns the bound of the lag of a share of the attempts, or the longest lag if that is shorter.
   *
   * @param percent the share in percent: more than 0, at most 100
   * @return an upper bound of the percentile; zero if nothing was counted
   */
  public Duration percentile(double percent) {
    if (!(percent > 0 && percent <= 100)) {
      throw new IllegalArgumentException(
          "percent: " + percent + " (expected: more than 0, at most 100)");
    }
    double wanted = total() * percent / 100;
    long count = 0;
    for (int i = 0; i < bounds().size(); i++) {
      count += counts[i];
      if (count >= wanted) {
        return Duration.ofMillis(Math.min(maxMillis, bounds().get(i).toMillis()));
      }
    }
    return max();
  }

  @Override
  public String toString() {
    return "LagHistogram("
        + total()
        + ", p50 "
        + percentile(50)
        + ", p99 "
        + percentile(99)
        + ", max "
        + max()
        + ")";
  }
}
