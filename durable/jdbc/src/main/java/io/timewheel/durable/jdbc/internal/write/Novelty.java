// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether a long list of timers is likely to be new as a whole. To insert it is cheaper if what is
 * there need not be passed over; but where something is, all of it is done twice, and the server's
 * log says so. Then nothing is taken for new as a whole for a while.
 */
public final class Novelty {
  /** For a short one it is not worth the risk. */
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

  /** {@return whether no list was refuted within a minute} */
  boolean isLikely() {
    Long since = refutedNanos;
    return since == null || nanoTime.getAsLong() - since >= DOUBT_NANOS;
  }

  /** A list that was taken for new was not. */
  void refuted() {
    refutedNanos = nanoTime.getAsLong();
  }
}
