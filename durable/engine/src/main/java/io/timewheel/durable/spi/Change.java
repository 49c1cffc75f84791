// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import org.jspecify.annotations.Nullable;

/**
 * One conditional step of one record. What it does in which state, and what it answers, is said by
 * {@link Transitions}.
 *
 * <p>A change that has an {@link #epoch()} is made by the owner of a shard; a store refuses it with
 * {@link Outcome.Answer#STALE_OWNER} unless that epoch is the shard's present one. Claims and ends
 * of claims may be committed again when the first answer was lost: the second answer is that of the
 * first.
 */
public sealed interface Change {
  /** {@return the timer that is changed} */
  TimerKey key();

  /** {@return the time of the change, by the clock of the engine that makes it} */
  long now();

  /** {@return what a repetition of this change is recognised by; null if it is done again} */
  default @Nullable RequestId request() {
    return null;
  }

  /** {@return the epoch of the owner that makes this change; 0 if anybody may} */
  default long epoch() {
    return 0;
  }

  /**
   * Makes or replaces a timer.
   *
   * @param key the timer
   * @param definition the definition
   * @param dueAt when it is due
   * @param relative whether the time was given as a delay, so that the same again is another time
   * @param condition when to do it
   * @param version the version that {@link Condition#VERSION} asks for
   * @param evenFinished whether a finished timer that is remembered counts as present, for
   *     UNCHANGED and for the condition
   * @param request makes a repeated call answer as the first one did; or null
   * @param maxPending how many unfinished timers its namespace may have, this one included
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

  /** When a {@link Schedule} is done. */
  enum Condition {
    /** Always. */
    NONE,
    /** If there is no such timer. */
    ABSENT,
    /** If the timer has the given version, and is present. */
    VERSION
  }

  /**
   * Cancels a timer.
   *
   * @param key the timer
   * @param version only if it has this version; 0 for any
   * @param request makes a repeated call answer as the first one did; or null
   * @param now the time of the change
   */
  record Cancel(TimerKey key, long version, @Nullable RequestId request, long now)
      implements Change {
    /**
     * A cancel that is done again if it is repeated.
     *
     * @param key the timer
     * @param version only if it has this version; 0 for any
     * @param now the time of the change
     */
    public Cancel(TimerKey key, long version, long now) {
      this(key, version, null, now);
    }
  }

  /**
   * Moves the present or next run to another time; a new version.
   *
   * @param key the timer
   * @param version only if it has this version; 0 for any
   * @param dueAt the new time
   * @param request makes a repeated call answer as the first one did; or null
   * @param now the time of the change
   */
  record Move(TimerKey key, long version, long dueAt, @Nullable RequestId request, long now)
      implements Change {
    /**
     * A move that is done again if it is repeated.
     *
     * @param key the timer
     * @param version only if it has this version; 0 for any
     * @param dueAt the new time
     * @param now the time of the change
     */
    public Move(TimerKey key, long version, long dueAt, long now) {
      this(key, version, dueAt, null, now);
    }
  }

  /**
   * Does what a person asks for.
   *
   * @param key the timer
   * @param what what to do
   * @param version only if it has this version; 0 for any
   * @param request makes a repeated call answer as the first one did; or null
   * @param now the time of the change
   */
  record Verb(TimerKey key, What what, long version, @Nullable RequestId request, long now)
      implements Change {
    /**
     * A verb that is done again if it is repeated.
     *
     * @param key the timer
     * @param what what to do
     * @param version only if it has this version; 0 for any
     * @param now the time of the change
     */
    public Verb(TimerKey key, What what, long version, long now) {
      this(key, what, version, null, now);
    }

    /** What a person may ask for. */
    public enum What {
      /** Lets no further attempt begin. */
      PAUSE,
      /** Ends a pause; overdue timers fire. */
      RESUME,
      /** Puts back what a pause of its namespace held, or what was blocked; made by engines. */
      RELEASE,
      /** Fires now, and leaves the schedule of a recurring timer alone. */
      RUN,
      /** Fires failed or blocked timers, with attempts counted anew. */
      RETRY
    }
  }

  /**
   * Keeps a number as the answer of a request that is no change of one timer, unless that request
   * has an answer. {@link Outcome#version} is the number that is kept.
   *
   * @param key what the request is about; there need not be such a timer
   * @param request the request
   * @param value the number; {@link TimerRecord#NONE} to keep none, and to read the one that is
   *     kept. Then the answer is {@link Outcome.Answer#NOT_FOUND} if there is none
   * @param now the time of the change
   */
  record Keep(TimerKey key, RequestId request, long value, long now) implements Change {}

  /**
   * Begins an attempt of a handler's timer. A store may write it without forcing it to disk: if it
   * is lost with the machine, the attempt is merely repeated uncounted; it must survive the
   * process.
   *
   * @param key the timer
   * @param version the version that was read
   * @param revision the revision that was read
   * @param epoch the epoch of the owner
   * @param token the new claim's token
   * @param scheduledAt the time for which the run is scheduled, if this is the first attempt of a
   *     run that the recurrence gives, and runs were missed; {@link TimerRecord#NONE} for the due
   *     time of the record. It becomes the due time, so that all attempts have it. A retry, a
   *     take-over and a run by hand keep the time they have.
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
   * Makes a due timer ready to be claimed: one of a queue, or one whose handler other nodes know
   * and its owner does not. It ends an open attempt as lost, as {@link Begin} does.
   *
   * @param key the timer
   * @param version the version that was read
   * @param revision the revision that was read
   * @param epoch the epoch of the owner
   * @param scheduledAt the time for which the run is scheduled, as for {@link Begin}
   * @param now the time of the change
   */
  record MakeReady(
      TimerKey key, long version, long revision, long epoch, long scheduledAt, long now)
      implements Change {}

  /**
   * Passes over missed runs of a recurring timer.
   *
   * @param key the timer
   * @param version the version that was read
   * @param revision the revision that was read
   * @param epoch the epoch of the owner
   * @param dueAt when it runs next; {@link TimerRecord#NEVER} if never again
   * @param now the time of the change
   */
  record Skip(TimerKey key, long version, long revision, long epoch, long dueAt, long now)
      implements Change {}

  /**
   * Lets a wait continue by elapsed time after the clock has gone back: moves the end of a backoff
   * or of a claim lease, or the next run of a recurring timer. A moved run makes a new version, so
   * that no two runs have the same identity. Backoffs and leases are moved only if the record was
   * certainly last changed before the step.
   *
   * @param key the timer
   * @param version the version that was read
   * @param revision the revision that was read
   * @param epoch the epoch of the owner
   * @param fireAt the new end of the backoff or lease, or the new time of the run
   * @param steppedTo a time that the clock has not gone back behind; a record that was changed
   *     between it and {@code now} may have been changed after the step
   * @param now the time of the change
   */
  record Retime(
      TimerKey key, long version, long revision, long epoch, long fireAt, long steppedTo, long now)
      implements Change {}

  /**
   * Blocks a due timer whose handler no live node knows. It ends an open attempt as lost, as {@link
   * Begin} does.
   *
   * @param key the timer
   * @param version the version that was read
   * @param revision the revision that was read
   * @param epoch the epoch of the owner
   * @param note says why
   * @param now the time of the change
   */
  record Park(TimerKey key, long version, long revision, long epoch, String note, long now)
      implements Change {}

  /**
   * Ends an attempt.
   *
   * @param key the timer
   * @param token the claim
   * @param epoch the epoch of the owner; 0 for a lease that its consumer ends
   * @param end how the attempt ended
   * @param nextAt for {@link End#SUCCEEDED}, {@link End#EXHAUSTED} and {@link End#LOST_EXHAUSTED}
   *     when a recurring timer runs next, {@link TimerRecord#NEVER} if never again; for the others
   *     when to try again
   * @param seriesAt for {@link End#RESCHEDULED}, when a recurring timer runs after the run that is
   *     postponed, {@link TimerRecord#NEVER} if never again; not looked at for the others
   * @param error why it failed, or null
   * @param claimed the record as the claim has left it, if whoever ends it knows: a store that
   *     writes only what has not changed since need not read it again; null otherwise
   * @param request makes a repeated end of a consumer answer as the first one did; or null
   * @param now the time of the change
   */
  record Finish(
      TimerKey key,
      ClaimToken token,
      long epoch,
      End end,
      long nextAt,
      long seriesAt,
      @Nullable String error,
      @Nullable TimerRecord claimed,
      @Nullable RequestId request,
      long now)
      implements Change {
    /**
     * An end that postpones no run of a recurring timer, of a claim that has to be read again.
     *
     * @param key the timer
     * @param token the claim
     * @param epoch the epoch of the owner; 0 for a lease that its consumer ends
     * @param end how the attempt ended
     * @param nextAt when a recurring timer runs next, or when to try again
     * @param error why it failed, or null
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
      this(key, token, epoch, end, nextAt, TimerRecord.NEVER, error, null, null, now);
    }

    /**
     * Returns the same end as the answer to a request.
     *
     * @param id what a repetition is recognised by; null if it is done again
     * @return the end
     */
    public Finish with(@Nullable RequestId id) {
      return new Finish(key, token, epoch, end, nextAt, seriesAt, error, claimed, id, now);
    }

    /** How an attempt ends. */
    public enum End {
      /** Well. */
      SUCCEEDED,
      /** Badly; to be tried again. */
      FAILED,
      /** Badly, and for the last time: failed, or on to the next run of a recurring timer. */
      EXHAUSTED,
      /** By a lease that ran out before {@code now}; to be tried again. */
      LOST,
      /** By a lease that ran out before {@code now}, for the last time. */
      LOST_EXHAUSTED,
      /**
       * By its handler, which wants another time for this run; attempts are counted anew. The
       * series of a recurring timer stays where it is: from then on the run is one beside it.
       */
      RESCHEDULED,
      /** Untouched: not counted. */
      GIVEN_BACK
    }
  }

  /**
   * Extends a lease.
   *
   * @param key the timer
   * @param token the lease
   * @param until its new end
   * @param request makes a repeated call answer as the first one did; or null
   * @param now the time of the change
   */
  record Extend(TimerKey key, ClaimToken token, long until, @Nullable RequestId request, long now)
      implements Change {
    /**
     * An extension that is done again if it is repeated.
     *
     * @param key the timer
     * @param token the lease
     * @param until its new end
     * @param now the time of the change
     */
    public Extend(TimerKey key, ClaimToken token, long until, long now) {
      this(key, token, until, null, now);
    }
  }
}
