// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the number of pending timeouts exactly, even under contention. No timeout starts while the
 * limit is reached. A cancelled timeout leaves the count before {@code cancel()} returns, an
 * expired one before its task runs. That requires one count for all stripes, so only timers with a
 * limit have it.
 */
final class PendingLimit {
  private final long limit;
  private final AtomicLong pending = new AtomicLong();

  PendingLimit(long limit) {
    this.limit = limit;
  }

  boolean tryAcquire() {
    // Not an increment that is undone above the limit: another thread could see the excess.
    long seen = pending.get();
    while (seen < limit) {
      long witness = pending.compareAndExchange(seen, seen + 1);
      if (witness == seen) {
        return true;
      }
      seen = witness;
    }
    return false;
  }

  /** Counts a timeout even if the limit is reached. */
  void acquireBeyond() {
    pending.incrementAndGet();
  }

  void release(long permits) {
    pending.addAndGet(-permits);
  }

  RejectedExecutionException exceeded() {
    return new RejectedExecutionException(
        "pending timeouts: "
            + pending.get()
            + " (expected: less than maxPendingTimeouts, "
            + limit
            + ")");
  }
}
