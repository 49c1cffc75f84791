// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.TimerStore;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What callers asked for and were answered, and what handlers saw, in the order in which it
 * happened. Thread-safe; judged afterwards by {@link HistoryChecker}.
 */
public final class History {
  private final List<Event> events = new ArrayList<>();

  /** Makes an empty history. */
  public History() {}

  /** Something that happened. */
  public sealed interface Event {}

  /** Something that happened to a timer. */
  public sealed interface OfTimer extends Event {
    /** {@return the timer} */
    TimerKey key();
  }

  /** Something that happened to a namespace, or to everything. */
  public sealed interface OfScope extends Event {
    /** {@return the namespace, or {@link TimerStore#EVERYTHING}} */
    String scope();
  }

  /**
   * A call was made.
   *
   * @param call its number
   * @param key the timer
   * @param what what was asked for
   * @param dueAtMillis when the timer was to be due for the first time, of a schedule or a move;
   *     when the call was made, by a clock that is right, of a run; otherwise any
   * @param periodMillis the period, if it was to recur at a fixed rate; otherwise 0
   * @param requestId the request id, or null
   * @param version the only version that it may change; {@link #ABSENT} if there must be no such
   *     timer, 0 if it does not matter
   */
  public record Invoked(
      int call,
      TimerKey key,
      Call what,
      long dueAtMillis,
      long periodMillis,
      @Nullable String requestId,
      long version)
      implements OfTimer {
    /** The version of a schedule that must find no timer. */
    public static final long ABSENT = -1;

    /**
     * A call that does not ask which version there is.
     *
     * @param call its number
     * @param key the timer
     * @param what what was asked for
     * @param dueAtMillis as above
     * @param periodMillis as above
     * @param requestId the request id, or null
     */
    public Invoked(
        int call,
        TimerKey key,
        Call what,
        long dueAtMillis,
        long periodMillis,
        @Nullable String requestId) {
      this(call, key, what, dueAtMillis, periodMillis, requestId, 0);
    }

    /**
     * A call about a timer that fires once.
     *
     * @param call its number
     * @param key the timer
     * @param what what was asked for
     * @param dueAtMillis as above
     * @param requestId the request id, or null
     */
    public Invoked(
        int call, TimerKey key, Call what, long dueAtMillis, @Nullable String requestId) {
      this(call, key, what, dueAtMillis, 0, requestId);
    }
  }

  /** What a call asks for. */
  public enum Call {
    /** To schedule a timer. */
    SCHEDULE,
    /** To cancel it. */
    CANCEL,
    /** To move its present or next run, whatever its version. */
    MOVE,
    /** To pause it. */
    PAUSE,
    /** To resume it. */
    RESUME,
    /** To run it now. */
    RUN,
    /** To retry it. */
    RETRY
  }

  /**
   * A call was answered.
   *
   * @param call its number
   * @param key the timer
   * @param answer what it was answered
   * @param version the version that the answer named; 0 if none
   */
  public record Answered(int call, TimerKey key, Answer answer, long version) implements OfTimer {}

  /** What a call was answered. */
  public enum Answer {
    /** Scheduled: new. */
    CREATED,
    /** Scheduled: in the place of another. */
    REPLACED,
    /** Scheduled just so before. */
    UNCHANGED,
    /** Cancelled in time. */
    CANCELLED,
    /** An attempt had been claimed. */
    RUNNING,
    /** Its completion was recorded. */
    COMPLETED,
    /** No such timer. */
    NOT_FOUND,
    /** Moved, paused, resumed, run or retried. */
    DONE,
    /** Refused: nothing was done. */
    REFUSED,
    /** Nobody knows. A call without any answer counts the same. */
    UNKNOWN
  }

  /**
   * The pause of a namespace or of everything was asked for, or its end.
   *
   * @param call its number
   * @param scope the namespace, or {@link TimerStore#EVERYTHING}
   * @param pause whether to pause; otherwise to resume
   */
  public record ScopeInvoked(int call, String scope, boolean pause) implements OfScope {}

  /**
   * It was done. A call that was refused counts as one without an answer.
   *
   * @param call its number
   * @param scope the namespace, or {@link TimerStore#EVERYTHING}
   * @param pause whether it was paused; otherwise resumed
   */
  public record ScopeAnswered(int call, String scope, boolean pause) implements OfScope {}

  /**
   * A handler was called.
   *
   * @param key the timer
   * @param version its version
   * @param scheduledAtMillis the time for which the run was scheduled
   * @param attempt which attempt it was
   * @param atMillis when, by a clock that is right
   */
  public record Began(
      TimerKey key, long version, long scheduledAtMillis, int attempt, long atMillis)
      implements OfTimer {}

  /**
   * A handler asked for its run to fire again at another time; whether that was recorded is open.
   *
   * @param key the timer
   * @param version its version
   * @param scheduledAtMillis the time for which the run was scheduled
   * @param toMillis when it is to fire again
   */
  public record Postponed(TimerKey key, long version, long scheduledAtMillis, long toMillis)
      implements OfTimer {}

  /**
   * The success of an attempt was recorded in the store.
   *
   * @param key the timer
   * @param version its version
   * @param scheduledAtMillis the time for which the run was scheduled
   */
  public record Completed(TimerKey key, long version, long scheduledAtMillis) implements OfTimer {}

  /**
   * Adds an event.
   *
   * @param event what happened
   */
  public synchronized void add(Event event) {
    events.add(event);
  }

  /** {@return what has happened so far} */
  public synchronized List<Event> events() {
    return List.copyOf(events);
  }
}
