// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import java.time.Duration;

/** For how long a proof begins something new. */
final class TimeLimit {
  /** What a proof does at most if only its time is limited. */
  static final int MANY = 1_000_000;

  private final long beganNanos = System.nanoTime();
  private final long limitNanos;

  /**
   * Begins now.
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
