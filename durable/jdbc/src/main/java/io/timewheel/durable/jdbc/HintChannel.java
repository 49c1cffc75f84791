// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Where this node sends its hints. A database that has no room for them refuses the whole commit;
 * then nothing is sent for a while, and the others find what is near when they look again.
 */
final class HintChannel {
  private static final System.Logger LOG = System.getLogger(JdbcTimerStore.class.getName());
  private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final @Nullable String name;
  private final LongSupplier nanoTime;
  private volatile @Nullable Long refusedNanos;

  /**
   * Makes a channel.
   *
   * @param name of the channel; null if hints are switched off
   */
  HintChannel(@Nullable String name, LongSupplier nanoTime) {
    this.name = name;
    this.nanoTime = nanoTime;
  }

  /** Where to send; null for not at all. */
  @Nullable String open() {
    Long since = refusedNanos;
    return since != null && nanoTime.getAsLong() - since < QUIET_NANOS ? null : name;
  }

  /** A commit has gone well without its hint, and not with it. */
  void refused() {
    refusedNanos = nanoTime.getAsLong();
    LOG.log(
        System.Logger.Level.WARNING,
        "the database has no room for hints, and gets none for a minute: somebody listens there and"
            + " does not read");
  }
}
