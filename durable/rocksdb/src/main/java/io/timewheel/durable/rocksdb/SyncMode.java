// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * When a commit is forced to disk. In every mode a commit survives the end of the process, {@code
 * kill -9} too: it is with the operating system when it is acknowledged. The modes differ in what
 * the end of the machine may take: a power cut, a panic, a virtual machine that is destroyed.
 */
public final class SyncMode {
  private static final SyncMode SYNC = new SyncMode(Duration.ZERO);
  private static final SyncMode OS = new SyncMode(null);

  /** Zero for every commit, null for never. */
  private final @Nullable Duration interval;

  private SyncMode(@Nullable Duration interval) {
    this.interval = interval;
  }

  /**
   * Every commit, before it is acknowledged: nothing that was acknowledged is lost. Only claims of
   * handlers' attempts are not forced; one that is lost with the machine is attempted again
   * uncounted. The default.
   *
   * @return the mode
   */
  public static SyncMode sync() {
    return SYNC;
  }

  /**
   * Every so often: the machine's end may take what was acknowledged within the last interval. What
   * is left is what was before some moment, never a mixture.
   *
   * @param interval from one to the next; 1 ms to an hour
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
   * When the operating system likes, on Linux within half a minute as a rule: the machine's end may
   * take what was acknowledged since. What is left is what was before some moment, never a mixture.
   *
   * @return the mode
   */
  public static SyncMode os() {
    return OS;
  }

  boolean isEveryCommit() {
    return interval != null && interval.isZero();
  }

  /** The interval of the mode that has one; otherwise null. */
  @Nullable Duration intervalOrNull() {
    return interval == null || interval.isZero() ? null : interval;
  }

  @Override
  public String toString() {
    return interval == null ? "os" : interval.isZero() ? "sync" : "interval " + interval;
  }
}
