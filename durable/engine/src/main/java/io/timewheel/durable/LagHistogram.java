// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/**
 * How long attempts took to begin once they were due, as counts in fixed buckets: 1, 2 and 5 times
 * the powers of ten from a millisecond on, and coarser above ten seconds. Immutable.
 */
public final class LagHistogram {
  private static final long[] BOUNDS_MILLIS = {
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000,
    900_000, 3_600_000
  };
  private static final List<Duration> BOUNDS =
      Arrays.stream(BOUNDS_MILLIS).mapToObj(Duration::ofMillis).toList();

  private final long[] counts;
  private final long maxMillis;

  private LagHistogram(long[] counts, long maxMillis) {
    this.counts = counts;
    this.maxMillis = maxMillis;
  }

  /**
   * {@return the upper bounds of the buckets, each part of its bucket; the last bucket has none}
   */
  public static List<Duration> bounds() {
    return BOUNDS;
  }

  /**
   * How many attempts began within a bound.
   *
   * @param bucket the place of the bound in {@link #bounds()}; one more for all
   * @return the count of this bucket and of those below it
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

  /** {@return how many attempts were counted} */
  public long total() {
    return countWithin(counts.length - 1);
  }

  /** {@return the longest lag} */
  public Duration max() {
    return Duration.ofMillis(maxMillis);
  }

  /**
   * The bound within which a share of the attempts began; the longest lag if that is shorter.
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
    for (int i = 0; i < BOUNDS_MILLIS.length; i++) {
      count += counts[i];
      if (count >= wanted) {
        return Duration.ofMillis(Math.min(maxMillis, BOUNDS_MILLIS[i]));
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

  /** Counts; thread-safe. */
  static final class Recorder {
    private final LongAdder[] counts = new LongAdder[BOUNDS_MILLIS.length + 1];
    private final LongAccumulator maxMillis = new LongAccumulator(Math::max, 0);

    Recorder() {
      Arrays.setAll(counts, i -> new LongAdder());
    }

    void record(long lagMillis) {
      int found = Arrays.binarySearch(BOUNDS_MILLIS, lagMillis);
      counts[found >= 0 ? found : -found - 1].increment();
      maxMillis.accumulate(lagMillis);
    }

    LagHistogram snapshot() {
      return new LagHistogram(
          Arrays.stream(counts).mapToLong(LongAdder::sum).toArray(), maxMillis.get());
    }
  }
}
