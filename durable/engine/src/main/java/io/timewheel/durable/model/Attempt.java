// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One ended attempt, as the history keeps it.
 *
 * @param number which attempt of its run it was; the first is 1
 * @param scheduledAtMillis the time for which the run was scheduled
 * @param beganAtMillis when the attempt was claimed
 * @param endedAtMillis when its end was recorded
 * @param end how it ended
 * @param error why it failed, or null
 */
public record Attempt(
    int number,
    long scheduledAtMillis,
    long beganAtMillis,
    long endedAtMillis,
    End end,
    @Nullable String error) {

  /** How an attempt ended. */
  public enum End {
    /** The handler returned, or the consumer acknowledged. */
    SUCCEEDED,
    /** The handler threw, ran out of time, or the consumer gave it back with an error. */
    FAILED,
    /** The process died, or the lease ran out: nobody knows how far it came. */
    LOST,
    /** Given back untouched; does not count as an attempt. */
    GIVEN_BACK,
    /** The handler moved the run to a later time. */
    RESCHEDULED,
    /** The timer was replaced meanwhile; whatever the attempt did no longer counts. */
    SUPERSEDED
  }

  /**
   * Checks that the end is not null.
   *
   * @param number which attempt of its run it was; the first is 1
   * @param scheduledAtMillis the time for which the run was scheduled
   * @param beganAtMillis when the attempt was claimed
   * @param endedAtMillis when its end was recorded
   * @param end how it ended
   * @param error why it failed, or null
   */
  public Attempt {
    requireNonNull(end, "end");
  }

  @Override
  public String toString() {
    return "Attempt("
        + number
        + ", "
        + end
        + ", scheduled "
        + Instant.ofEpochMilli(scheduledAtMillis)
        + ", began "
        + Instant.ofEpochMilli(beganAtMillis)
        + ", ended "
        + Instant.ofEpochMilli(endedAtMillis)
        + (error == null ? ")" : ", " + error + ")");
  }
}
