// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * What came of a change.
 *
 * @param answer whether the step was taken, or why not
 * @param version the version that the answer is about; 0 if there is no such timer
 * @param record the record after the change; null if there is none. For a {@link Change.Begin} that
 *     was applied it is complete. For any other change a store may leave out payload, headers and
 *     attempts.
 * @param repeated true if an earlier {@link Change.Finish} had ended the same claim in the same
 *     way, or an earlier change had the same request ID
 */
public record Outcome(Answer answer, long version, @Nullable TimerRecord record, boolean repeated) {
  /**
   * Checks that there is an answer.
   *
   * @param answer whether the step was taken, or why not
   * @param version the version that the answer is about; 0 if there is no such timer
   * @param record the record after the change; null if there is none. For a {@link Change.Begin}
   *     that was applied it is complete. For any other change a store may leave out payload,
   *     headers and attempts.
   * @param repeated true if an earlier {@link Change.Finish} had ended the same claim in the same
   *     way, or an earlier change had the same request ID
   */
  public Outcome {
    requireNonNull(answer, "answer");
  }

  /**
   * The outcome of a change that repeats no earlier one.
   *
   * @param answer whether the step was taken, or why not
   * @param version the version that the answer is about; 0 if there is no such timer
   * @param record the record after the change; null if there is none
   */
  public Outcome(Answer answer, long version, @Nullable TimerRecord record) {
    this(answer, version, record, false);
  }

  /**
   * Whether the record has to be written.
   *
   * @param current the record as it was before the change
   * @return true if the change made another one of it
   */
  @SuppressWarnings("ReferenceEquality") // a record that is left as it is is the same object
  public boolean changes(@Nullable TimerRecord current) {
    return record != null && record != current;
  }

  /** What a change is answered. */
  public enum Answer {
    /** The timer is new. */
    CREATED,
    /** The timer took the place of an unfinished one. */
    REPLACED,
    /** There was nothing to change. */
    UNCHANGED,
    /** There is such a timer already. */
    EXISTS,
    /** The timer has another version, or there is none. */
    VERSION_DIFFERS,
    /** The namespace has as many timers as it may have. */
    OVER_LIMIT,
    /** Cancelled: no attempt begins any more. */
    CANCELLED,
    /** An attempt was claimed, and its end is not recorded; none begins after it. */
    RUNNING,
    /** The completion is recorded. */
    COMPLETED,
    /** There is no such timer, and none is remembered. */
    NOT_FOUND,
    /** The step was taken, now or by an earlier call of the same. */
    APPLIED,
    /** The state of the timer does not allow it. */
    WRONG_STATE,
    /** The namespace is paused: the timer was taken out of the due index. */
    HELD,
    /** The record has moved on: what the change was based on holds no longer. */
    OUTDATED,
    /** The shard has another owner by now. */
    STALE_OWNER,
    /** An earlier request of the same ID had another content. */
    REQUEST_DIFFERS
  }
}
