// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The counts of a timer that belong to no stripe. They change rarely compared with starts and
 * cancels, which a {@link Stripe} counts under its lock.
 */
final class Counters {
  final AtomicLong failed = new AtomicLong();
  final AtomicLong rejected = new AtomicLong();
  final AtomicLong wakeups = new AtomicLong();
  private final AtomicLong maxLagNanos = new AtomicLong();

  void lag(long lagNanos) {
    if (lagNanos > maxLagNanos.get()) {
      maxLagNanos.accumulateAndGet(lagNanos, Math::max);
    }
  }

  long maxLagNanos() {
    return maxLagNanos.get();
  }
}
