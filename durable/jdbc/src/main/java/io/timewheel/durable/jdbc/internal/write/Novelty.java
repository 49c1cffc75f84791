// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether to insert a list of timers as entirely new: any list by a direct write, which
 * takes one round trip, or a long list in a write batch, where the insert then need not skip
 * existing timers. But if one timer exists, the whole insert is repeated, and the server logs an
 * error. After such a failure, no list is inserted as new for a while.
 */
public final class Novelty {
  /**
   * The minimum length of a list in a write batch; for shorter ones the gain is not worth the risk.
   */
  public static final int LEAST_TIMERS = 100;

  private static final long DOUBT_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final LongSupplier nanoTime;
  private volatile @Nullable Long refutedNanos;

  Novelty(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  boolean isLikely(int timers) {
    return timers >= LEAST_TIMERS && isLikely();
  }

  /** {@return true if no such insert has failed within the last minute} */
  boolean isLikely() {
    Long since = refutedNanos;
    return since == null || nanoTime.getAsLong() - since >= DOUBT_NANOS;
  }

  /** Records that a list was not entirely new. */
  void refuted() {
    refutedNanos = nanoTime.getAsLong();
  }
}
