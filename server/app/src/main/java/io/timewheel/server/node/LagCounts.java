// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.node;

import io.timewheel.api.StatsAnswer;
import io.timewheel.durable.LagHistogram;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** Counts the lags of timers in the buckets of {@link LagHistogram}. Thread-safe. */
public final class LagCounts {
  private static final int BUCKETS = LagHistogram.bounds().size() + 1;

  private final AtomicLongArray counts = new AtomicLongArray(BUCKETS);
  private final AtomicLong sumMillis = new AtomicLong();
  private final AtomicLong maxMillis = new AtomicLong();

  void add(long lagMillis) {
    int found = Collections.binarySearch(LagHistogram.bounds(), Duration.ofMillis(lagMillis));
    counts.incrementAndGet(found >= 0 ? found : -found - 1);
    sumMillis.addAndGet(lagMillis);
    maxMillis.accumulateAndGet(lagMillis, Math::max);
  }

  void addAll(LagCounts other) {
    for (int i = 0; i < BUCKETS; i++) {
      counts.addAndGet(i, other.counts.get(i));
    }
    sumMillis.addAndGet(other.sumMillis.get());
    maxMillis.accumulateAndGet(other.maxMillis.get(), Math::max);
  }

  /** Adds all counts to another object, and begins again at zero. */
  void moveTo(LagCounts other) {
    for (int i = 0; i < BUCKETS; i++) {
      other.counts.addAndGet(i, counts.getAndSet(i, 0));
    }
    other.sumMillis.addAndGet(sumMillis.getAndSet(0));
    other.maxMillis.accumulateAndGet(maxMillis.getAndSet(0), Math::max);
  }

  /** {@return the number of timers in each bucket} */
  public long[] counts() {
    long[] copy = new long[BUCKETS];
    for (int i = 0; i < BUCKETS; i++) {
      copy[i] = counts.get(i);
    }
    return copy;
  }

  public long count() {
    long sum = 0;
    for (long count : counts()) {
      sum += count;
    }
    return sum;
  }

  /** {@return the sum of all lags, in seconds} */
  public double sumSeconds() {
    return sumMillis.get() / 1_000.0;
  }

  public Duration max() {
    return Duration.ofMillis(maxMillis.get());
  }

  /** {@return the upper bound of the bucket of a percentile; the longest lag if that is shorter} */
  public Duration percentile(int percent) {
    double wanted = count() * percent / 100.0;
    long within = 0;
    for (int i = 0; i < BUCKETS - 1; i++) {
      within += counts.get(i);
      if (within >= wanted) {
        Duration bound = LagHistogram.bounds().get(i);
        return bound.compareTo(max()) < 0 ? bound : max();
      }
    }
    return max();
  }

  public StatsAnswer.Lag answer() {
    return new StatsAnswer.Lag(percentile(50), percentile(99), max(), count());
  }
}
