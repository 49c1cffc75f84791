// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * Delays as programs have them: some short, some long. From 1 ms to 10 ms there are as many as from
 * 1 h to 10 h.
 */
final class Delays {
  static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  static final long MOST_NANOS = TimeUnit.DAYS.toNanos(365);

  private Delays() {}

  /** The same delays each time for the same state of the random generator. */
  static long[] random(int count, RandomGenerator random) {
    double range = Math.log((double) MOST_NANOS / LEAST_NANOS);
    long[] delaysNanos = new long[count];
    for (int i = 0; i < count; i++) {
      delaysNanos[i] = (long) (LEAST_NANOS * Math.exp(range * random.nextDouble()));
    }
    return delaysNanos;
  }
}
