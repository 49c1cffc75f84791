// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * Makes realistic delays: some short, some long, as many from 1 ms to 10 ms as from 1 h to 10 h.
 */
final class Delays {
  static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  static final long MOST_NANOS = TimeUnit.DAYS.toNanos(365);

  private Delays() {}

  /** Returns random delays, the same for the same state of the generator. */
  static long[] random(int count, RandomGenerator random) {
    double range = Math.log((double) MOST_NANOS / LEAST_NANOS);
    long[] delaysNanos = new long[count];
    for (int i = 0; i < count; i++) {
      delaysNanos[i] = (long) (LEAST_NANOS * Math.exp(range * random.nextDouble()));
    }
    return delaysNanos;
  }
}
