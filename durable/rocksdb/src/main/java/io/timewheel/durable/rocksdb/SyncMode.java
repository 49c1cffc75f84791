// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Sets when a commit is forced to disk. In every mode a commit survives the end of the process,
 * including {@code kill -9}, because the operating system has the data when the call returns. The
 * modes differ in the loss after a power cut, a kernel panic, or the destruction of a virtual
 * machine.
 */
public final class SyncMode {
  private static final SyncMode SYNC = new SyncMode(Duration.ZERO);
  private static final SyncMode OS = new SyncMode(null);

  /** Zero to force every commit; null to force none. */
  private final @Nullable Duration interval;

  private SyncMode(@Nullable Duration interval) {
    this.interval = interval;
  }

  /**
   * Forces every commit to disk before the call returns, so that no commit is lost. This is the
   * default. Claims of handlers' attempts are the exception: if a power cut loses a claim, the
   * attempt runs again, and the lost one is not counted.
   *
   * @return the mode
   */
  public static SyncMode sync() {
    return SYNC;
  }

  /**
   * Forces commits to disk at an interval. A power cut may lose the commits of the last interval.
   * The store then contains all commits up to some moment, and none after it.
   *
   * @param interval the time between two syncs; 1 ms to 1 hour
   * @return the mode
   */
  public static SyncMode interval(Duration interval) {
    requireNonNull(interval, "interval");
    if (interval.compareTo(Duration.ofMillis(1)) < 0
        || interval.compareTo(Duration.ofHours(1)) > 0) {
      throw new IllegalArgumentException("interval: " + interval + " (expected: 1 ms to an hour)");
    }
    return new SyncMode(interval);
  }

  /**
   * Leaves syncing to the operating system, usually within 30 s on Linux. A power cut may lose the
   * commits since the last sync. The store then contains all commits up to some moment, and none
   * after it.
   *
   * @return the mode
   */
  public static SyncMode os() {
    return OS;
  }

  boolean isEveryCommit() {
    return interval != null && interval.isZero();
  }

  /** Returns the interval; null in the modes without one. */
  @Nullable Duration intervalOrNull() {
    return interval == null || interval.isZero() ? null : interval;
  }

  @Override
  public String toString() {
    return interval == null ? "os" : interval.isZero() ? "sync" : "interval " + interval;
  }
}
