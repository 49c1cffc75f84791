// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The foreign code of a timer: tasks, executor, listener, policy and handler. Whatever a call
 * throws, {@link Error}s included, goes to the handler, and the caller goes on.
 *
 * <p>Nothing is allocated before the foreign code is called: a timeout that was taken from its
 * wheel is run even when memory is short.
 */
final class Callbacks {
  private static final System.Logger LOGGER = System.getLogger("io.timewheel");

  private final Clock clock;
  private final @Nullable Executor executor;
  private final @Nullable TimerListener listener;
  private final RejectionPolicy onRejected;
  private final TaskErrorHandler onError;
  private final AtomicLong failed = new AtomicLong();
  private final AtomicLong rejected = new AtomicLong();
  private final AtomicLong maxLagNanos = new AtomicLong();

  Callbacks(TimerBuilder<?> settings, Clock clock) {
    this.clock = clock;
    this.executor = settings.executor;
    this.listener = settings.listener;
    this.onRejected = settings.onRejected;
    this.onError = settings.onError;
  }

  /** The state in which a timeout is taken whose task {@link #expired} will run or hand off. */
  int takenState() {
    return executor == null ? WheelTimeout.EXPIRED : WheelTimeout.HANDED_OFF;
  }

  void started(Timeout timeout) {
    if (listener != null) {
      try {
        listener.started(timeout);
      } catch (Throwable e) {
        handle(timeout, e);
      }
    }
  }

  void rescheduled(Timeout timeout) {
    if (listener != null) {
      try {
        listener.rescheduled(timeout);
      } catch (Throwable e) {
        handle(timeout, e);
      }
    }
  }

  void cancelled(Timeout timeout) {
    try {
      timeout.task().cancelled(timeout);
    } catch (Throwable e) {
      handle(timeout, e);
    }
    if (listener != null) {
      try {
        listener.cancelled(timeout);
      } catch (Throwable e) {
        handle(timeout, e);
      }
    }
  }

  /** Runs the task of a timeout that was taken in {@link #takenState}, or hands it off. */
  void expired(WheelTimeout timeout) {
    try {
      long elapsedNanos = clock.elapsedNanos();
      long lagNanos = elapsedNanos - timeout.deadlineNanos();
      if (lagNanos > maxLagNanos.get()) {
        maxLagNanos.accumulateAndGet(lagNanos, Math::max);
      }
      Events.taken(timeout, clock.ticks, elapsedNanos);
      if (listener != null) {
        listener.expired(timeout, lagNanos);
      }
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
    rejected.incrementAndGet();
    try {
      if (listener != null) {
        listener.rejected(timeout, cause);
      }
    } catch (Throwable e) {
      handle(timeout, e);
    }
    try {
      onRejected.rejected(timeout, timeout, cause);
    } catch (Throwable e) {
      handle(timeout, e);
      timeout.run();
    }
  }

  /** Runs the task of a timeout that the current thread has made its own. */
  void run(WheelTimeout timeout) {
    long begunNanos = 0;
    Object event = null;
    Throwable error = null;
    try {
      if (listener != null) {
        begunNanos = clock.elapsedNanos();
      }
      event = Events.taskBegins();
      timeout.begin();
      timeout.task().run(timeout);
    } catch (Throwable e) {
      error = e;
      failed.incrementAndGet();
    }
    timeout.end();
    Events.taskEnded(event, timeout);
    if (listener != null) {
      ran(listener, timeout, error, begunNanos);
    }
    if (error != null) {
      handle(timeout, error);
    }
  }

  private void ran(
      TimerListener listener, Timeout timeout, @Nullable Throwable error, long begunNanos) {
    try {
      long runNanos = clock.elapsedNanos() - begunNanos;
      if (error == null) {
        listener.completed(timeout, runNanos);
      } else {
        listener.failed(timeout, error, runNanos);
      }
    } catch (Throwable e) {
      handle(timeout, e);
    }
  }

  private void handle(Timeout timeout, Throwable error) {
    try {
      onError.handle(timeout, error);
    } catch (Throwable e) {
      log(timeout, e);
    }
  }

  /** Names the class of the task and not the task, whose text may hold anything. */
  static void log(Timeout timeout, Throwable error) {
    try {
      LOGGER.log(
          Level.WARNING,
          "a callback of a " + timeout.task().getClass().getName() + " threw",
          error);
    } catch (Throwable e) {
      // A log is foreign code too, as is the text of an error. There is nobody left to tell.
    }
  }

  long failedCount() {
    return failed.get();
  }

  long rejectedCount() {
    return rejected.get();
  }

  long maxLagNanos() {
    return maxLagNanos.get();
  }
}
