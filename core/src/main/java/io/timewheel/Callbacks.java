// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.Objects.requireNonNull;

import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Calls the user code of a timer: tasks, executor, listener, policy and handler. An exception of
 * the executor goes to the listener and the policy; all others, {@link Error}s included, go to the
 * handler. Then the timer continues.
 *
 * <p>Allocates nothing before it calls user code. So a timeout taken from its wheel runs even if
 * the heap is full.
 */
final class Callbacks {
  private static final TimerListener NOBODY = new TimerListener() {};

  private final Clock clock;
  private final Counters counters;
  private final @Nullable Executor executor;
  private final TimerListener listener;
  private final RejectionPolicy onRejected;
  private final TaskErrorHandler onError;

  Callbacks(TimerBuilder<?> settings, Clock clock, Counters counters) {
    this.clock = clock;
    this.counters = counters;
    this.executor = settings.executor;
    this.onRejected = settings.onRejected;
    this.onError = settings.onError;
    this.listener =
        settings.listener == null ? NOBODY : new GuardedListener(settings.listener, this::handle);
  }

  /**
   * Returns the state in which to take a timeout, so that {@link #expired} can run or hand off its
   * task.
   */
  int takenState() {
    return executor == null ? WheelTimeout.EXPIRED : WheelTimeout.HANDED_OFF;
  }

  void started(Timeout timeout) {
    listener.started(timeout);
  }

  void rescheduled(Timeout timeout) {
    listener.rescheduled(timeout);
  }

  void cancelled(Timeout timeout) {
    try {
      timeout.task().cancelled(timeout);
    } catch (Throwable e) {
      handle(timeout, e);
    }
    listener.cancelled(timeout);
  }

  /** Runs the task of a timeout that was taken in {@link #takenState}, or hands it off. */
  void expired(WheelTimeout timeout) {
    try {
      long elapsedNanos = clock.elapsedNanos();
      long lagNanos = elapsedNanos - timeout.deadlineNanos();
      counters.lag(lagNanos);
      Events.taken(timeout, clock.ticks, elapsedNanos);
      listener.expired(timeout, lagNanos);
    } catch (Throwable e) {
      handle(timeout, e);
    }
    if (executor == null) {
      run(timeout);
    } else {
      handOff(timeout, executor);
    }
  }

  private void handOff(WheelTimeout timeout, Executor executor) {
    try {
      executor.execute(timeout);
    } catch (Throwable e) {
      rejected(timeout, e);
    }
  }

  private void rejected(WheelTimeout timeout, Throwable cause) {
    counters.rejected.incrementAndGet();
    listener.rejected(timeout, cause);
    try {
      onRejected.rejected(timeout, timeout, cause);
    } catch (Throwable e) {
      handle(timeout, e);
      timeout.run();
    }
  }

  /** Runs the task of a timeout that the current thread has claimed. */
  void run(WheelTimeout timeout) {
    long begunNanos = 0;
    Object event = null;
    Throwable error = null;
    try {
      begunNanos = elapsedForListener();
      event = Events.taskBegins();
      timeout.begin();
      timeout.task().run(timeout);
    } catch (Throwable e) {
      error = e;
      counters.failed.incrementAndGet();
    }
    timeout.end();
    Events.taskEnded(event, timeout);
    ran(timeout, error, begunNanos);
    if (error != null) {
      handle(timeout, error);
    }
  }

  private void ran(Timeout timeout, @Nullable Throwable error, long begunNanos) {
    try {
      long runNanos = elapsedForListener() - begunNanos;
      if (error == null) {
        listener.completed(timeout, runNanos);
      } else {
        listener.failed(timeout, error, runNanos);
      }
    } catch (Throwable e) {
      handle(timeout, e);
    }
  }

  /** Returns the elapsed time, or zero if there is no listener, which saves a clock reading. */
  private long elapsedForListener() {
    return listener == NOBODY ? 0 : clock.elapsedNanos();
  }

  private void handle(Timeout timeout, Throwable error) {
    try {
      onError.handle(timeout, error);
    } catch (Throwable e) {
      log(timeout, e);
    }
  }

  /** Logs the class of the task, not the task: its {@code toString} may reveal anything. */
  static void log(Timeout timeout, Throwable error) {
    try {
      Log.logger()
          .log(
              Level.WARNING,
              "a callback of task " + taskClass(timeout).getName() + " threw",
              error);
    } catch (Throwable e) {
      // Logging and the text of an error are user code too, so their exceptions are dropped.
    }
  }

  /**
   * Returns {@link TimerTask#taskClass} of the task, or the task's own class if that call fails.
   */
  static Class<?> taskClass(Timeout timeout) {
    TimerTask task = timeout.task();
    try {
      return requireNonNull(task.taskClass());
    } catch (Throwable e) {
      return task.getClass();
    }
  }
}
