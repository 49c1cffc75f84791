// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

/**
 * The result of scheduling a timer.
 *
 * @param outcome the effect of the call
 * @param version the version of the timer after the call
 */
public record ScheduleResult(Outcome outcome, long version) {
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
   * Checks that there is an outcome.
   *
   * @param outcome the effect of the call
   * @param version the version of the timer after the call
   */
  public ScheduleResult {
    requireNonNull(outcome, "outcome");
  }
}
