// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

/**
 * What becomes of the missed runs of a recurring timer.
 *
 * <p>A run is missed if it has not begun within its grace after its scheduled time: because nothing
 * was there to begin it, or because the run before it took so long. What is within its grace runs
 * as scheduled, late as it may be. A timer that fires once runs however late it is.
 */
public enum MissedRuns {
  /** One run for all that were missed, with the scheduled time of the latest one. */
  FIRE_ONCE,

  /**
   * Each missed run, one after the other, the oldest first. When more than 1,000 are outstanding,
   * the oldest are dropped, and reported.
   */
  FIRE_ALL,

  /** None: the timer goes on with the first run that was not missed. */
  SKIP
}
