// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

/**
 * What came of a schedule.
 *
 * @param outcome what was done
 * @param version the version that the timer has since
 */
public record ScheduleResult(Outcome outcome, long version) {
  /** What was done. */
  public enum Outcome {
    /** The timer is new. */
    CREATED,
    /** It took the place of an unfinished one. */
    REPLACED,
    /** It was scheduled just so already. */
    UNCHANGED
  }

  /**
   * Checks that there is an outcome.
   *
   * @param outcome what was done
   * @param version the version that the timer has since
   */
  public ScheduleResult {
    requireNonNull(outcome, "outcome");
  }
}
