// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An ended attempt in the history of a timer.
 *
 * @param number the number of the attempt within its run, from 1
 * @param scheduledAtMillis the scheduled time of the run
 * @param beganAtMillis the time at which the attempt was claimed
 * @param endedAtMillis the time at which its end was recorded
 * @param end how it ended
 * @param error the reason for the failure, or null
 */
public record Attempt(
    int number,
    long scheduledAtMillis,
    long beganAtMillis,
    long endedAtMillis,
    End end,
    @Nullable String error) {

  /** The ways in which an attempt ends. */
  public enum End {
    /** The handler returned, or the consumer acknowledged the timer. */
    SUCCEEDED,
    /**
     * The handler threw an exception or exceeded its timeout, or the consumer gave the timer back
     * with an error.
     */
    FAILED,
    /**
     * The process crashed or the claim lease expired. The attempt may have done part of its work.
     */
    LOST,
    /** The attempt was given back before any work began, and does not count. */
    GIVEN_BACK,
    /** The handler moved the run to a later time. */
    RESCHEDULED,
    /** The timer was replaced during the attempt, so its result does not count. */
    SUPERSEDED
  }

  /**
   * Checks that the end is not null.
   *
   * @param number the number of the attempt within its run, from 1
   * @param scheduledAtMillis the scheduled time of the run
   * @param beganAtMillis the time at which the attempt was claimed
   * @param endedAtMillis the time at which its end was recorded
   * @param end how it ended
   * @param error the reason for the failure, or null
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
