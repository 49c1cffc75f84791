// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import io.timewheel.Timer;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * Work that is repeated on an executor while there is something to do. One timeout is pending for
 * the whole life of the sweep. So the timer's limit can refuse the sweep when it is made, but never
 * a call of {@link #wake}. While there is nothing to do, the timeout is parked: pending, but never
 * due.
 *
 * <p>A thread first adds work and then checks whether the sweep is parked. A sweep first announces
 * that it parks and then checks whether there is work.
 */
final class Sweep extends TimedEntry {
  private final long periodNanos;
  private final Executor executor;
  private final Errors errors;
  private final BooleanSupplier nothingToDo;
  private final Runnable work;

  private final AtomicBoolean parked = new AtomicBoolean(true);

  /**
   * The number of times that the timeout fired since the first offer of the run that has not begun.
   */
  private final AtomicInteger firings = new AtomicInteger();

  /** Makes a parked sweep. Throws the exceptions of the timer. */
  Sweep(
      Timer timer,
      long periodNanos,
      Executor executor,
      Errors errors,
      BooleanSupplier nothingToDo,
      Runnable work) {
    this.periodNanos = periodNanos;
    this.executor = executor;
    this.errors = errors;
    this.nothingToDo = nothingToDo;
    this.work = work;
    start(timer, () -> NEVER);
  }

  /**
   * Wakes the sweep because there is work. Returns whether the work will be done: false if the
   * timer is stopped.
   */
  boolean wake() {
    if (parked.get() && parked.compareAndSet(true, false)) {
      hasten(periodNanos);
    }
    return !isStopped();
  }

  @Override
  void fired() {
    rearm(this::delayNanos);
    if (parked.get()) {
      firings.set(0);
    } else if (isToBeOffered(firings.getAndIncrement())) {
      try {
        executor.execute(this::begin);
      } catch (Throwable e) {
        firings.compareAndSet(1, 0);
        errors.handle(null, e);
      }
    }
  }

  private long delayNanos() {
    parked.set(true);
    if (nothingToDo.getAsBoolean()) {
      return NEVER;
    }
    parked.set(false);
    return periodNanos;
  }

  private void begin() {
    if (firings.getAndSet(0) > 0) {
      errors.run(null, work);
    }
  }
}
