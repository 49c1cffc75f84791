// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.TimerStore;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Records the calls, the answers and the firings of a run, in order, for a {@link HistoryChecker}.
 * Thread-safe.
 */
public final class History {
  private final List<Event> events = new ArrayList<>();

  /** Creates an empty history. */
  public History() {}

  /** An event of a run. */
  public sealed interface Event {}

  /** An event of a timer. */
  public sealed interface OfTimer extends Event {
    /** {@return the timer} */
    TimerKey key();
  }

  /** An event of a namespace or of everything. */
  public sealed interface OfScope extends Event {
    /** {@return the namespace, or {@link TimerStore#EVERYTHING}} */
    String scope();
  }

  /**
   * A call.
   *
   * @param call its number
   * @param key the timer
   * @param kind the kind of the call
   * @param dueAtMillis the first due time of a schedule or a move; the correct time of the call for
   *     a run by hand; otherwise any value
   * @param periodMillis the period of a fixed rate; otherwise 0
   * @param requestId the request id, or null
   * @param version the only version that it may change; {@link #ABSENT} if the timer must not
   *     exist, 0 for any
   */
  public record Invoked(
      int call,
      TimerKey key,
      Call kind,
      long dueAtMillis,
      long periodMillis,
      @Nullable String requestId,
      long version)
      implements OfTimer {
    /** The version of a schedule that requires that the timer does not exist. */
    public static final long ABSENT = -1;

    /**
     * Creates a call for any version.
     *
     * @param call its number
     * @param key the timer
     * @param kind the kind of the call
     * @param dueAtMillis the due time, as in the record
     * @param periodMillis the period, as in the record
     * @param requestId the request id, or null
     */
    public Invoked(
        int call,
        TimerKey key,
        Call kind,
        long dueAtMillis,
        long periodMillis,
        @Nullable String requestId) {
      this(call, key, kind, dueAtMillis, periodMillis, requestId, 0);
    }

    /**
     * Creates a call for a timer that fires once.
     *
     * @param call its number
     * @param key the timer
     * @param kind the kind of the call
     * @param dueAtMillis the due time, as in the record
     * @param requestId the request id, or null
     */
    public Invoked(
        int call, TimerKey key, Call kind, long dueAtMillis, @Nullable String requestId) {
      this(call, key, kind, dueAtMillis, 0, requestId);
    }
  }

  /** The kinds of calls. */
  public enum Call {
    /** Schedule the timer. */
    SCHEDULE,
    /** Cancel it. */
    CANCEL,
    /** Move its present or next run, whatever its version. */
    MOVE,
    /** Pause it. */
    PAUSE,
    /** Resume it. */
    RESUME,
    /** Run it now. */
    RUN,
    /** Retry it. */
    RETRY
  }

  /**
   * The answer to a call.
   *
   * @param call its number
   * @param key the timer
   * @param answer the answer
   * @param version the version in the answer; 0 if none
   */
  public record Answered(int call, TimerKey key, Answer answer, long version) implements OfTimer {}

  /** The answers to calls. */
  public enum Answer {
    /** Scheduled a new timer. */
    CREATED,
    /** Scheduled, and replaced another one. */
    REPLACED,
    /** Already scheduled in the same way. */
    UNCHANGED,
    /** Cancelled in time. */
    CANCELLED,
    /** An attempt was claimed before. */
    RUNNING,
    /** The timer had completed. */
    COMPLETED,
    /** The timer did not exist. */
    NOT_FOUND,
    /** Moved, paused, resumed, run or retried. */
    DONE,
    /** Refused. Nothing was changed. */
    REFUSED,
    /** The effect is unknown, as for a call without an answer. */
    UNKNOWN
  }

  /**
   * A call to pause or resume a namespace or everything.
   *
   * @param call its number
   * @param scope the namespace, or {@link TimerStore#EVERYTHING}
   * @param pause true to pause, false to resume
   */
  public record ScopeInvoked(int call, String scope, boolean pause) implements OfScope {}

  /**
   * The success of a call to pause or resume. A refused call counts as one without an answer.
   *
   * @param call its number
   * @param scope the namespace, or {@link TimerStore#EVERYTHING}
   * @param pause true if it was paused, false if it was resumed
   */
  public record ScopeAnswered(int call, String scope, boolean pause) implements OfScope {}

  /**
   * The call of a handler.
   *
   * @param key the timer
   * @param version its version
   * @param scheduledAtMillis the scheduled time of the run
   * @param attempt the number of the attempt
   * @param atMillis the correct time of the call
   */
  public record Began(
      TimerKey key, long version, long scheduledAtMillis, int attempt, long atMillis)
      implements OfTimer {}

  /**
   * The request of a handler to postpone its run. The request may not have been recorded.
   *
   * @param key the timer
   * @param version its version
   * @param scheduledAtMillis the scheduled time of the run
   * @param toMillis the new time of the run
   */
  public record Postponed(TimerKey key, long version, long scheduledAtMillis, long toMillis)
      implements OfTimer {}

  /**
   * The recorded success of an attempt.
   *
   * @param key the timer
   * @param version its version
   * @param scheduledAtMillis the scheduled time of the run
   */
  public record Completed(TimerKey key, long version, long scheduledAtMillis) implements OfTimer {}

  /**
   * Adds an event.
   *
   * @param event the event
   */
  public synchronized void add(Event event) {
    events.add(event);
  }

  /** {@return the events so far} */
  public synchronized List<Event> events() {
    return List.copyOf(events);
  }
}
