// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.Attempt;
import java.util.List;

/**
 * What came of a cancel.
 *
 * @param outcome whether it was in time
 * @param version the version that was cancelled; 0 if there is no such timer
 * @param attempts the attempts that had ended before
 */
public record CancelResult(Outcome outcome, long version, List<Attempt> attempts) {
  /** Whether a cancel was in time. */
  public enum Outcome {
    /** No attempt begins any more. */
    CANCELLED,
    /** An attempt was claimed, and its end is not recorded: it may run, and none does after it. */
    RUNNING,
    /** The completion is recorded. */
    COMPLETED,
    /** There is no such timer, and none is remembered. */
    NOT_FOUND
  }

  /**
   * Copies the list.
   *
   * @param outcome whether it was in time
   * @param version the version that was cancelled; 0 if there is no such timer
   * @param attempts the attempts that had ended before
   */
  public CancelResult {
    requireNonNull(outcome, "outcome");
    attempts = List.copyOf(attempts);
  }
}
