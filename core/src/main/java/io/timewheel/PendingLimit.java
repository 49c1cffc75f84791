// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The bound on pending timeouts, exact under contention: no timeout starts while as many as the
 * limit are pending, and a place is free again before {@code cancel()} returns and before the task
 * runs. That takes one count for all stripes, so only timers with a limit have it.
 */
final class PendingLimit {
  private final long limit;
  private final AtomicLong pending = new AtomicLong();

  PendingLimit(long limit) {
    this.limit = limit;
  }

  boolean tryAcquire() {
    // Not an increment that is undone if it was one too many: another thread could see it.
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

  /** Takes a place even if none is free. */
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
