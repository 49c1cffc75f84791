// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import static java.util.Objects.requireNonNull;

import java.util.List;

/**
 * The result of a cancel.
 *
 * @param outcome whether the cancel was in time
 * @param version the version that was cancelled; 0 if there is no such timer
 * @param attempts the attempts that had ended before, oldest first
 */
public record CancelResult(Outcome outcome, long version, List<Attempt> attempts) {
  /** Whether a cancel was in time. */
  public enum Outcome {
    /** The timer is cancelled. No further attempt begins. */
    CANCELLED,
    /** An attempt is claimed and still open. It may run, but no attempt begins after it. */
    RUNNING,
    /** The timer has completed. */
    COMPLETED,
    /** The timer does not exist, and no finished one is retained. */
    NOT_FOUND
  }

  /**
   * Copies the list.
   *
   * @param outcome whether the cancel was in time
   * @param version the version that was cancelled; 0 if there is no such timer
   * @param attempts the attempts that had ended before, oldest first
   */
  public CancelResult {
    requireNonNull(outcome, "outcome");
    attempts = List.copyOf(attempts);
  }
}
