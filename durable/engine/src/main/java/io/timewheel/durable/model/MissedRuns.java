// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

/**
 * The rule for the missed runs of a recurring timer.
 *
 * <p>A run is missed if it has not begun within its grace after its scheduled time. The cause may
 * be that no node was up, or that the previous run took too long. A late run that is still within
 * its grace runs as scheduled. A timer that fires once always runs, however late.
 */
public enum MissedRuns {
  /** Runs once for all missed runs, with the scheduled time of the latest one. */
  FIRE_ONCE,

  /**
   * Runs each missed run, one after the other, the oldest first. If more than 1,000 are
   * outstanding, the oldest are dropped and reported.
   */
  FIRE_ALL,

  /** Skips all missed runs. The timer continues with the first run that was not missed. */
  SKIP
}
