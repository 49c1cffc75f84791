// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import java.time.Duration;

/** The time within which a test starts new work. */
final class TimeLimit {
  /** The largest number of steps of a test that is limited only by time. */
  static final int MAX_STEPS = 1_000_000;

  private final long beganNanos = System.nanoTime();
  private final long limitNanos;

  /**
   * Starts the time.
   *
   * @param minutes 0 for no limit
   */
  TimeLimit(int minutes) {
    limitNanos = minutes == 0 ? Long.MAX_VALUE : Duration.ofMinutes(minutes).toNanos();
  }

  boolean isOver() {
    return System.nanoTime() - beganNanos >= limitNanos;
  }
}
