// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.Timeout;
import io.timewheel.durable.internal.commit.Delays;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A call of a handler, and its time limit. Its thread is interrupted, or its stage is cancelled, at
 * the limit or at the close of the engine. Thread-safe.
 */
final class HandlerCall {
  private final Delays delays;
  private final @Nullable Duration timeLimit;
  private @Nullable Thread thread;
  private volatile @Nullable Timeout limit;
  private boolean outOfTime;

  /** The stage of an asynchronous call. */
  private volatile @Nullable PendingStage pending;

  HandlerCall(Delays delays, @Nullable Duration timeLimit) {
    this.delays = delays;
    this.timeLimit = timeLimit;
  }

  /** Sets the stage for which the call waits after the handler has returned. */
  void waitFor(PendingStage stage) {
    pending = stage;
  }

  void begin() {
    synchronized (this) {
      thread = Thread.currentThread();
    }
    if (timeLimit != null) {
      limit = delays.start(this::timeIsUp, timeLimit);
    }
  }

  /**
   * Ends on the current thread. Returns whether the limit was exceeded, and clears the interrupt
   * that it has caused.
   */
  synchronized boolean endThread() {
    thread = null;
    if (outOfTime) {
      Thread.interrupted();
    }
    return outOfTime;
  }

  void endLimit() {
    Timeout started = limit;
    if (started != null) {
      started.cancel();
    }
  }

  private void timeIsUp() {
    synchronized (this) {
      outOfTime = thread != null || pending != null;
    }
    stop(new TimeoutException());
  }

  /** Ends the call after the shutdown timeout. */
  void interrupt() {
    stop(new CancellationException("the timer was closed"));
  }

  private void stop(Exception why) {
    synchronized (this) {
      if (thread != null) {
        thread.interrupt();
        return;
      }
    }
    PendingStage stage = pending;
    if (stage != null) {
      stage.giveUp(why);
    }
  }

  /** Checks whether its stage has completed without a notification. */
  void look() {
    PendingStage stage = pending;
    if (stage != null) {
      stage.look();
    }
  }

  synchronized boolean isOn(Thread other) {
    return thread == other;
  }

  /** Returns the text of an exception, or of the exceeded limit that has caused it. */
  String text(Throwable error) {
    synchronized (this) {
      if (outOfTime) {
        return "exceeded its time limit of " + timeLimit;
      }
    }
    try {
      return error.toString();
    } catch (Throwable e) {
      return error.getClass().getName(); // toString() is code of the application, too
    }
  }
}
