// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A histogram of the lag of timeouts. The width of a bucket is at most a sixteenth of its values,
 * so percentiles are at most 7 % too high.
 */
final class LagHistogram {
  private static final int STEP_BITS = 4;
  private static final int STEPS = 1 << STEP_BITS;

  /**
   * The number of buckets, which cover up to 2^44 ns (about five hours). The last one also counts
   * greater values.
   */
  private static final int BUCKETS = (44 - STEP_BITS + 1) * STEPS;

  private final AtomicLongArray counts = new AtomicLongArray(BUCKETS);
  private final AtomicLong max = new AtomicLong();

  void add(long nanos) {
    long value = Math.max(0, nanos);
    counts.incrementAndGet(bucket(value));
    if (value > max.get()) {
      max.accumulateAndGet(value, Math::max);
    }
  }

  private static int bucket(long nanos) {
    if (nanos < STEPS) {
      return (int) nanos;
    }
    int shift = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos) - STEP_BITS;
    return Math.min(BUCKETS - 1, (shift << STEP_BITS) + (int) (nanos >>> shift));
  }

  /** Returns the greatest value that a bucket counts. */
  private static long highest(int bucket) {
    if (bucket < 2 * STEPS) {
      return bucket;
    }
    int shift = (bucket >> STEP_BITS) - 1;
    long first = (long) (bucket - (shift << STEP_BITS)) << shift;
    return first + (1L << shift) - 1;
  }

  long count() {
    long sum = 0;
    for (int i = 0; i < BUCKETS; i++) {
      sum += counts.get(i);
    }
    return sum;
  }

  long maxNanos() {
    return max.get();
  }

  /**
   * Returns the lag that the given share of all timeouts (0 to 1) did not exceed; 0 if no timeout
   * has expired.
   */
  long percentileNanos(double share) {
    long wanted = (long) Math.ceil(share * count());
    long seen = 0;
    for (int i = 0; i < BUCKETS; i++) {
      seen += counts.get(i);
      if (seen >= wanted && seen > 0) {
        return Math.min(highest(i), max.get());
      }
    }
    return max.get();
  }
}
