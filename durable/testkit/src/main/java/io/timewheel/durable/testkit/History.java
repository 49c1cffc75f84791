// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import io.timewheel.durable.TimerKey;
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
  public sealed interface Event {
    /** {@return the timer that it happened to} */
    TimerKey key();
  }

  /**
   * A call was made.
   *
   * @param call its number
   * @param key the timer
   * @param what what was asked for
   * @param dueAtMillis when the timer was to be due for the first time, of a schedule or a move;
   *     otherwise any
   * @param periodMillis the period, if it was to recur at a fixed rate; otherwise 0
   * @param requestId the request id, or null
   */
  public record Invoked(
      int call,
      TimerKey key,
      Call what,
      long dueAtMillis,
      long periodMillis,
      @Nullable String requestId)
      implements Event {
    /**
     * A call about a timer that fires once.
     *
     * @param call its number
     * @param key the timer
     * @param what what was asked for
     * @param dueAtMillis when the timer was to be due, of a schedule or a move; otherwise any
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
    RESUME
  }

  /**
   * A call was answered.
   *
   * @param call its number
   * @param key the timer
   * @param answer what it was answered
   * @param version the version that the answer named; 0 if none
   */
  public record Answered(int call, TimerKey key, Answer answer, long version) implements Event {}

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
    FIRING,
    /** Its completion was recorded. */
    FIRED,
    /** No such timer. */
    NOT_FOUND,
    /** Moved, paused or resumed. */
    DONE,
    /** Refused: nothing was done. */
    REFUSED,
    /** Nobody knows. A call without any answer counts the same. */
    UNKNOWN
  }

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
      implements Event {}

  /**
   * The success of an attempt was recorded in the store.
   *
   * @param key the timer
   * @param version its version
   * @param scheduledAtMillis the time for which the run was scheduled
   */
  public record Completed(TimerKey key, long version, long scheduledAtMillis) implements Event {}

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
