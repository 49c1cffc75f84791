// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

/**
 * Counts lags in buckets, from which percentiles are read.
 *
 * <p>Up to 64 ns each nanosecond has a bucket. Beyond that, each doubling is divided into 64
 * buckets of equal width, so that a percentile is exact to 1/64 of itself, from nanoseconds to
 * years, in 30 kB.
 *
 * <p>Not thread-safe: the thread of the timer fills it, and it is read when that thread has ended.
 */
final class LagHistogram {
  private static final int PER_DOUBLING_BITS = 6;
  private static final int PER_DOUBLING = 1 << PER_DOUBLING_BITS;
  private static final int DOUBLINGS = Long.SIZE - 1 - PER_DOUBLING_BITS;

  private final long[] buckets = new long[(1 + DOUBLINGS) * PER_DOUBLING];
  private long count;
  private long early;
  private long maxNanos;

  /** Counts a lag. A negative one means that a timeout fired before its deadline. */
  void add(long lagNanos) {
    if (lagNanos < 0) {
      early++;
    }
    long nanos = Math.max(0, lagNanos);
    buckets[bucketOf(nanos)]++;
    count++;
    maxNanos = Math.max(maxNanos, nanos);
  }

  long count() {
    return count;
  }

  long early() {
    return early;
  }

  long maxNanos() {
    return maxNanos;
  }

  /** The least lag that no more than the given share of all lags exceed, rounded up to a bucket. */
  long percentileNanos(double percent) {
    long rank = Math.max(1, (long) Math.ceil(percent / 100 * count));
    long counted = 0;
    for (int bucket = 0; bucket < buckets.length; bucket++) {
      counted += buckets[bucket];
      if (counted >= rank) {
        return Math.min(lastOf(bucket), maxNanos);
      }
    }
    return maxNanos;
  }

  private static int bucketOf(long nanos) {
    if (nanos < PER_DOUBLING) {
      return (int) nanos;
    }
    int shift = Long.SIZE - 1 - PER_DOUBLING_BITS - Long.numberOfLeadingZeros(nanos);
    return shift * PER_DOUBLING + (int) (nanos >>> shift);
  }

  /** The largest lag that a bucket counts. */
  private static long lastOf(int bucket) {
    if (bucket < PER_DOUBLING) {
      return bucket;
    }
    int shift = bucket / PER_DOUBLING - 1;
    long first = (long) (PER_DOUBLING + bucket % PER_DOUBLING) << shift;
    return first + (1L << shift) - 1;
  }
}
