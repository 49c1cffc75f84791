// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * The result of a change.
 *
 * @param answer whether the change was applied, or why not
 * @param version the version to which the answer refers; 0 if there is no such timer
 * @param record the record after the change; null if there is none. It is complete for a {@link
 *     Change.Begin} that was applied. For any other change, a store may omit payload, headers and
 *     attempts.
 * @param repeated true if an earlier {@link Change.Finish} had ended the same claim in the same
 *     way, or an earlier change had the same request ID
 */
public record Outcome(Answer answer, long version, @Nullable TimerRecord record, boolean repeated) {
  /**
   * Checks that there is an answer.
   *
   * @param answer whether the change was applied, or why not
   * @param version the version to which the answer refers; 0 if there is no such timer
   * @param record the record after the change; null if there is none. It is complete for a {@link
   *     Change.Begin} that was applied. For any other change, a store may omit payload, headers and
   *     attempts.
   * @param repeated true if an earlier {@link Change.Finish} had ended the same claim in the same
   *     way, or an earlier change had the same request ID
   */
  public Outcome {
    requireNonNull(answer, "answer");
  }

  /**
   * Creates the outcome of a change that repeats no earlier one.
   *
   * @param answer whether the change was applied, or why not
   * @param version the version to which the answer refers; 0 if there is no such timer
   * @param record the record after the change; null if there is none
   */
  public Outcome(Answer answer, long version, @Nullable TimerRecord record) {
    this(answer, version, record, false);
  }

  /**
   * Creates the outcome of a change that the store passed over, because another transaction has
   * locked the timer and the engine will try again after its next lookup.
   *
   * @return the outcome
   */
  public static Outcome passedOver() {
    return new Outcome(Answer.OUTDATED, 0, null);
  }

  /**
   * Returns whether the store passed over the change without reading the timer.
   *
   * @return true if nothing is known about the timer
   */
  public boolean isPassedOver() {
    return answer == Answer.OUTDATED && record == null;
  }

  /**
   * Returns whether the store must write the record.
   *
   * @param current the record as it was before the change
   * @return true if the change made a new record
   */
  @SuppressWarnings("ReferenceEquality") // an unchanged record is the same object
  public boolean changes(@Nullable TimerRecord current) {
    return record != null && record != current;
  }

  /** The answers to a change. */
  public enum Answer {
    /** The timer is new. */
    CREATED,
    /** The timer replaced an unfinished one. */
    REPLACED,
    /** There was nothing to change. */
    UNCHANGED,
    /** The timer exists already. */
    EXISTS,
    /** The timer has another version or does not exist. */
    VERSION_DIFFERS,
    /** The namespace has reached its limit of pending timers. */
    OVER_LIMIT,
    /** The timer is cancelled: no further attempt begins. */
    CANCELLED,
    /** An attempt is claimed and still open. No attempt begins after it. */
    RUNNING,
    /** The timer has completed. */
    COMPLETED,
    /** The timer does not exist, and no finished one is retained. */
    NOT_FOUND,
    /** The change was applied, now or by an earlier call. */
    APPLIED,
    /** The state of the timer does not allow the change. */
    WRONG_STATE,
    /** The namespace is paused. The timer was removed from the due index. */
    HELD,
    /**
     * The record has changed since it was read for this change. Without a record, {@linkplain
     * Outcome#isPassedOver() the store did not read it}.
     */
    OUTDATED,
    /** The shard has another owner now. */
    STALE_OWNER,
    /** An earlier request with the same ID had different content. */
    REQUEST_DIFFERS
  }
}
