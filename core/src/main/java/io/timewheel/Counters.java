// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Holds the counts of a timer that belong to no stripe. They change rarely. A {@link Stripe} counts
 * starts and cancels under its lock.
 */
final class Counters {
  final AtomicLong failed = new AtomicLong();
  final AtomicLong rejected = new AtomicLong();
  final AtomicLong wakeups = new AtomicLong();
  private final AtomicLong maxLagNanos = new AtomicLong();

  /** Records a lag. Only one thread at a time expires timeouts, so a plain maximum suffices. */
  void lag(long lagNanos) {
    maxLagNanos.setOpaque(Math.max(lagNanos, maxLagNanos.getPlain()));
  }

  long maxLagNanos() {
    return maxLagNanos.get();
  }
}
