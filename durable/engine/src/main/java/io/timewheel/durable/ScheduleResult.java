// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

/**
 * The result of scheduling a timer.
 *
 * @param outcome the effect of the call
 * @param timer the timer as this call schedules it, before its first run. The stored timer may
 *     differ if the call changed nothing, or repeats an earlier one by its request ID
 */
public record ScheduleResult(Outcome outcome, TimerInfo timer) {
  /** The effects of the call. */
  public enum Outcome {
    /** The timer is new. */
    CREATED,
    /** The timer replaced an unfinished one. */
    REPLACED,
    /** The timer was already scheduled in the same way. */
    UNCHANGED
  }

  /**
   * Checks that all components are present.
   *
   * @param outcome the effect of the call
   * @param timer the timer as this call schedules it, before its first run. The stored timer may
   *     differ if the call changed nothing, or repeats an earlier one by its request ID
   */
  public ScheduleResult {
    requireNonNull(outcome, "outcome");
    requireNonNull(timer, "timer");
  }

  /** {@return the version of the timer after the call} */
  public long version() {
    return timer.version();
  }
}
