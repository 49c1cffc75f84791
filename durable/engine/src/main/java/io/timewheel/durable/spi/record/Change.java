// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import org.jspecify.annotations.Nullable;

/**
 * One conditional step of one record. {@link Transitions} defines its effect and its answer in each
 * state.
 *
 * <p>The owner of a shard makes the changes that have an {@link #epoch()}. If that epoch is no
 * longer the current one of the shard, the store answers {@link Outcome.Answer#STALE_OWNER}. If the
 * answer to a claim or to its end is lost, the engine may commit the same change again and gets the
 * same answer.
 */
public sealed interface Change {
  /** {@return the timer that is changed} */
  TimerKey key();

  /** {@return the time of the change, by the clock of the engine that makes it} */
  long now();

  /**
   * {@return the ID by which the store recognises a repetition; null if a repetition takes effect
   * again}
   */
  default @Nullable RequestId request() {
    return null;
  }

  /** {@return the epoch of the owner that makes this change; 0 if any session may make it} */
  default long epoch() {
    return 0;
  }

  /**
   * Creates or replaces a timer.
   *
   * @param key the timer
   * @param definition the definition
   * @param dueAt its due time; {@link TimerRecord#NEVER} if its schedule has no run, so that the
   *     timer is completed at once
   * @param relative true if the caller gave a delay, so that a repeated call has another due time
   * @param condition the condition that must hold
   * @param version the version that {@link Condition#VERSION} requires
   * @param evenFinished true if a retained finished timer counts as present, for UNCHANGED and for
   *     the condition
   * @param request the request ID, by which a repetition is recognised and gets the first answer;
   *     or null
   * @param maxPending the largest number of unfinished timers in its namespace, including this one
   * @param now the time of the change
   */
  record Schedule(
      TimerKey key,
      TimerDefinition definition,
      long dueAt,
      boolean relative,
      Condition condition,
      long version,
      boolean evenFinished,
      @Nullable RequestId request,
      long maxPending,
      long now)
      implements Change {}

  /** The condition of a {@link Schedule}. */
  enum Condition {
    /** No condition. */
    NONE,
    /** The timer must not exist. */
    ABSENT,
    /** The timer must exist and have the given version. */
    VERSION
  }

  /**
   * Cancels a timer.
   *
   * @param key the timer
   * @param version the version that the timer must have; 0 for any
   * @param request the request ID, by which a repetition is recognised and gets the first answer;
   *     or null
   * @param now the time of the change
   */
  record Cancel(TimerKey key, long version, @Nullable RequestId request, long now)
      implements Change {
    /**
     * Creates a cancel without a request ID: a repetition takes effect again.
     *
     * @param key the timer
     * @param version the version that the timer must have; 0 for any
     * @param now the time of the change
     */
    public Cancel(TimerKey key, long version, long now) {
      this(key, version, null, now);
    }
  }

  /**
   * Moves the present or next run to another time. The timer gets a new version.
   *
   * @param key the timer
   * @param version the version that the timer must have; 0 for any
   * @param dueAt the new time
   * @param request the request ID, by which a repetition is recognised and gets the first answer;
   *     or null
   * @param now the time of the change
   */
  record Move(TimerKey key, long version, long dueAt, @Nullable RequestId request, long now)
      implements Change {
    /**
     * Creates a move without a request ID: a repetition takes effect again.
     *
     * @param key the timer
     * @param version the version that the timer must have; 0 for any
     * @param dueAt the new time
     * @param now the time of the change
     */
    public Move(TimerKey key, long version, long dueAt, long now) {
      this(key, version, dueAt, null, now);
    }
  }

  /**
   * Applies a command of an operator.
   *
   * @param key the timer
   * @param command the command
   * @param version the version that the timer must have; 0 for any
   * @param request the request ID, by which a repetition is recognised and gets the first answer;
   *     or null
   * @param now the time of the change
   */
  record Verb(TimerKey key, Command command, long version, @Nullable RequestId request, long now)
      implements Change {
    /**
     * Creates a verb without a request ID: a repetition takes effect again.
     *
     * @param key the timer
     * @param command the command
     * @param version the version that the timer must have; 0 for any
     * @param now the time of the change
     */
    public Verb(TimerKey key, Command command, long version, long now) {
      this(key, command, version, null, now);
    }

    /** The commands of an operator. */
    public enum Command {
      /** Pauses the timer: no further attempt begins. */
      PAUSE,
      /** Ends the pause. An overdue timer fires. */
      RESUME,
      /** Schedules a held or blocked timer again. Engines make this change, not operators. */
      RELEASE,
      /** Fires the timer now. The schedule of a recurring timer stays the same. */
      RUN,
      /** Fires a failed or blocked timer. Its attempts are counted from 1 again. */
      RETRY
    }
  }

  /**
   * Stores a number as the answer to a request that does not belong to one timer, unless the
   * request already has an answer. {@link Outcome#version} is the stored number.
   *
   * @param key the subject of the request; a timer with this key need not exist
   * @param request the request
   * @param value the number; {@link TimerRecord#NONE} to read the stored one, with the answer
   *     {@link Outcome.Answer#NOT_FOUND} if there is none
   * @param now the time of the change
   */
  record Keep(TimerKey key, RequestId request, long value, long now) implements Change {}

  /**
   * Begins an attempt of a handler's timer. The write must survive a crash of the process, but the
   * store need not force it to disk. If the machine loses it, the attempt is repeated and not
   * counted.
   *
   * @param key the timer
   * @param version the version that was read
   * @param revision the revision that was read
   * @param epoch the epoch of the owner
   * @param token the token of the new claim
   * @param scheduledAt the scheduled time of the run, if this is its first attempt, the recurrence
   *     gives it and runs were missed; {@link TimerRecord#NONE} for the due time of the record. It
   *     becomes the due time, so that all attempts have it. A retry, a take-over and a run by hand
   *     keep their time.
   * @param now the time of the change
   */
  record Begin(
      TimerKey key,
      long version,
      long revision,
      long epoch,
      ClaimToken token,
      long scheduledAt,
      long now)
      implements Change {}

  /**
   * Makes a due timer ready to be claimed: a timer of a queue, or a timer whose handler only other
   * nodes have. Ends an open attempt as lost, as {@link Begin} does.
   *
   * @param key the timer
   * @param version the version that was read
   * @param revision the revision that was read
   * @param epoch the epoch of the owner
   * @param scheduledAt the scheduled time of the run, as for {@link Begin}
   * @param now the time of the change
   */
  record MakeReady(
      TimerKey key, long version, long revision, long epoch, long scheduledAt, long now)
      implements Change {}

  /**
   * Skips missed runs of a recurring timer.
   *
   * @param key the timer
   * @param version the version that was read
   * @param revision the revision that was read
   * @param epoch the epoch of the owner
   * @param dueAt the time of the next run; {@link TimerRecord#NEVER} if there is none
   * @param now the time of the change
   */
  record Skip(TimerKey key, long version, long revision, long epoch, long dueAt, long now)
      implements Change {}

  /**
   * Corrects a wait after the clock was set back, so that it lasts as long as intended. Moves the
   * end of a backoff, the expiry of a claim lease, or the next run of a recurring timer. A moved
   * run gets a new version, so that no two runs have the same identity. A backoff or claim lease is
   * moved only if the record certainly last changed before the step.
   *
   * @param key the timer
   * @param version the version that was read
   * @param revision the revision that was read
   * @param epoch the epoch of the owner
   * @param fireAt the new end of the backoff, expiry of the claim lease, or time of the run
   * @param steppedTo a lower bound of the clock readings since the step; a record that was changed
   *     between it and {@code now} may have been changed after the step
   * @param now the time of the change
   */
  record Retime(
      TimerKey key, long version, long revision, long epoch, long fireAt, long steppedTo, long now)
      implements Change {}

  /**
   * Blocks a due timer whose handler no live node has. Ends an open attempt as lost, as {@link
   * Begin} does.
   *
   * @param key the timer
   * @param version the version that was read
   * @param revision the revision that was read
   * @param epoch the epoch of the owner
   * @param note the reason
   * @param now the time of the change
   */
  record Park(TimerKey key, long version, long revision, long epoch, String note, long now)
      implements Change {}

  /**
   * Ends an attempt.
   *
   * @param key the timer
   * @param token the claim
   * @param epoch the epoch of the owner; 0 if a consumer ends its claim lease
   * @param end how the attempt ended
   * @param nextAt for {@link End#SUCCEEDED}, {@link End#EXHAUSTED} and {@link End#LOST_EXHAUSTED}
   *     the next run of a recurring timer, {@link TimerRecord#NEVER} if its schedule has nothing
   *     left, {@link TimerRecord#NONE} if the next run is unknown, so that the timer must fail; for
   *     the others the time of the next attempt
   * @param nextScheduledAt for {@link End#RESCHEDULED}, the run of a recurring timer after the
   *     postponed one, {@link TimerRecord#NEVER} if there is none; ignored for the others
   * @param error the reason for the failure, cut to 4,000 characters, or null
   * @param trace the first lines of the stack trace of the failure, or null
   * @param claimed the record as the claim left it, if the engine still has it; null otherwise. A
   *     store that writes conditionally need not read the record again
   * @param request the request ID of a consumer, by which a repetition is recognised and gets the
   *     first answer; or null
   * @param now the time of the change
   */
  record Finish(
      TimerKey key,
      ClaimToken token,
      long epoch,
      End end,
      long nextAt,
      long nextScheduledAt,
      @Nullable String error,
      @Nullable String trace,
      @Nullable TimerRecord claimed,
      @Nullable RequestId request,
      long now)
      implements Change {
    /**
     * Limits the length of the error.
     *
     * @param key the timer
     * @param token the claim
     * @param epoch the epoch of the owner, or 0
     * @param end how the attempt ended
     * @param nextAt the next run or attempt
     * @param nextScheduledAt the run after a postponed one
     * @param error the reason for the failure, or null
     * @param trace the first lines of the stack trace, or null
     * @param claimed the record as the claim left it, or null
     * @param request the request ID, or null
     * @param now the time of the change
     */
    public Finish {
      error = ErrorTexts.latest(error);
    }

    /**
     * Creates an end that does not postpone the run. The store must read the claim.
     *
     * @param key the timer
     * @param token the claim
     * @param epoch the epoch of the owner; 0 if a consumer ends its claim lease
     * @param end how the attempt ended
     * @param nextAt the next run of a recurring timer, or the time of the next attempt
     * @param error the reason for the failure, or null
     * @param now the time of the change
     */
    public Finish(
        TimerKey key,
        ClaimToken token,
        long epoch,
        End end,
        long nextAt,
        @Nullable String error,
        long now) {
      this(key, token, epoch, end, nextAt, TimerRecord.NEVER, error, null, null, null, now);
    }

    /**
     * Returns this end with a stack trace.
     *
     * @param lines the first lines of the stack trace, or null
     * @return the end
     */
    public Finish withTrace(@Nullable String lines) {
      return new Finish(
          key, token, epoch, end, nextAt, nextScheduledAt, error, lines, claimed, request, now);
    }

    /**
     * Returns this end with a request ID.
     *
     * @param id the request ID; null if a repetition takes effect again
     * @return the end
     */
    public Finish with(@Nullable RequestId id) {
      return new Finish(
          key, token, epoch, end, nextAt, nextScheduledAt, error, trace, claimed, id, now);
    }

    /** The ways in which an attempt ends. */
    public enum End {
      /** It succeeded. */
      SUCCEEDED,
      /** It failed and will be retried. */
      FAILED,
      /**
       * The last attempt failed: the timer fails, or a recurring timer continues with its next run
       * or completes.
       */
      EXHAUSTED,
      /** Its claim lease expired before {@code now}; it will be retried. */
      LOST,
      /** Its claim lease expired before {@code now}, and it was the last attempt. */
      LOST_EXHAUSTED,
      /**
       * Its handler postponed the run. Attempts are counted from 1 again. The schedule of a
       * recurring timer does not change; the postponed run is then separate from it.
       */
      RESCHEDULED,
      /** It was given back before any work began, and does not count. */
      GIVEN_BACK
    }
  }

  /**
   * Extends a claim lease.
   *
   * @param key the timer
   * @param token the token of the claim
   * @param until the new expiry of the claim lease
   * @param request the request ID, by which a repetition is recognised and gets the first answer;
   *     or null
   * @param now the time of the change
   */
  record Extend(TimerKey key, ClaimToken token, long until, @Nullable RequestId request, long now)
      implements Change {
    /**
     * Creates an extension without a request ID: a repetition takes effect again.
     *
     * @param key the timer
     * @param token the token of the claim
     * @param until the new expiry of the claim lease
     * @param now the time of the change
     */
    public Extend(TimerKey key, ClaimToken token, long until, long now) {
      this(key, token, until, null, now);
    }
  }
}
