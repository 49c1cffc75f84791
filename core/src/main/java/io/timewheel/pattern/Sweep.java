// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Work that is done again and again on an executor, as long as there is something to do it for. Its
 * timeout is pending while there is, and for one period more: who adds something adds it first and
 * then looks whether the timeout is pending; the timeout that fires says that it is not, and then
 * looks whether there is something.
 */
final class Sweep extends Filed {
  private final Timer timer;
  private final long periodNanos;
  private final Executor executor;
  private final Errors errors;
  private final BooleanSupplier nothingToDo;
  private final Runnable work;

  private final AtomicBoolean pending = new AtomicBoolean();

  /** Whether the executor has a sweep that it has not begun: then it needs no other. */
  private final AtomicBoolean queued = new AtomicBoolean();

  Sweep(
      Timer timer,
      long periodNanos,
      Executor executor,
      Errors errors,
      BooleanSupplier nothingToDo,
      Runnable work) {
    this.timer = timer;
    this.periodNanos = periodNanos;
    this.executor = executor;
    this.errors = errors;
    this.nothingToDo = nothingToDo;
    this.work = work;
  }

  /** Throws what the timer throws. */
  void start() {
    if (pending.compareAndSet(false, true)) {
      try {
        file(timer, periodNanos);
      } catch (Throwable e) {
        pending.set(false);
        throw e;
      }
    }
  }

  @Override
  public void run(Timeout timeout) {
    pending.set(false);
    if (nothingToDo.getAsBoolean()) {
      return;
    }
    tryToStart();
    if (queued.compareAndSet(false, true)) {
      try {
        executor.execute(this::begin);
      } catch (Throwable e) {
        queued.set(false);
        errors.handle(e);
      }
    }
  }

  /** By the stopping timer: who starts a sweep from now on is refused by that. */
  @Override
  public void cancelled(Timeout timeout) {
    pending.set(false);
  }

  private void begin() {
    queued.set(false);
    errors.run(work);
    if (!nothingToDo.getAsBoolean()) {
      tryToStart(); // if the timer was at its limit before
    }
  }

  private void tryToStart() {
    try {
      start();
    } catch (Throwable e) {
      errors.handle(e);
    }
  }
}
