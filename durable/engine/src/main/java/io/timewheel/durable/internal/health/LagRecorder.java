// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.health;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the lag of attempts, from their due time to their start, in fixed buckets. Thread-safe.
 */
public final class LagRecorder {
  private static final long[] BOUNDS_MILLIS = {
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000,
    900_000, 3_600_000
  };

  /** The inclusive upper bounds of the buckets; the last bucket has none. */
  public static final List<Duration> BOUNDS =
      Arrays.stream(BOUNDS_MILLIS).mapToObj(Duration::ofMillis).toList();

  private final LongAdder[] counts = new LongAdder[BOUNDS_MILLIS.length + 1];
  private final LongAccumulator maxMillis = new LongAccumulator(Math::max, 0);

  LagRecorder() {
    Arrays.setAll(counts, i -> new LongAdder());
  }

  public void record(long lagMillis) {
    int found = Arrays.binarySearch(BOUNDS_MILLIS, lagMillis);
    counts[found >= 0 ? found : -found - 1].increment();
    maxMillis.accumulate(lagMillis);
  }

  /** {@return the count of each bucket} */
  public long[] counts() {
    return Arrays.stream(counts).mapToLong(LongAdder::sum).toArray();
  }

  public long maxMillis() {
    return maxMillis.get();
  }
}
