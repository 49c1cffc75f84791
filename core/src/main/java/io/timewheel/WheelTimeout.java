// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.TimeUnit;

/**
 * A timeout. One object of 40 bytes is both the handle that the user holds and the node that the
 * wheel links.
 *
 * <h2>States</h2>
 *
 * <pre>
 *   PENDING ──► EXPIRED ◄──► RUNNING    taken by the timer thread, which runs it itself
 *    ▲ │ │         ▲            │
 *    │ │ └─► HANDED_OFF         │       taken for an executor, whose thread then claims it
 *    │ └───► CANCELLED          │       taken by cancel() or stop()
 *    └──────────────────────────┘       re-armed by its own task
 * </pre>
 *
 * A timeout leaves PENDING under the lock of its stripe, so exactly one of the timer thread, a
 * cancel and a stop takes it. HANDED_OFF to EXPIRED is a compare-and-set. It keeps a task from
 * running twice if an executor accepts the task and then reports a rejection.
 *
 * <h2>Re-arming</h2>
 *
 * While its task runs, the state identifies the thread that runs it. On that thread, {@link
 * #reschedule} makes the timeout pending again. No other thread can leave RUNNING, so a task that
 * has not re-armed its timeout finds it unchanged when it ends. The state contains the lower bits
 * of the thread's ID. If two threads share these bits, the second could re-arm the timeout, but
 * nothing more, because the end of a run is a compare-and-set.
 */
final class WheelTimeout extends Node implements Timeout, Runnable {
  static final int HANDED_OFF = 1;
  static final int EXPIRED = 2;
  static final int RUNNING = 3;
  static final int CANCELLED = 4;

  private final TimerTask task;
  final Stripe stripe;

  WheelTimeout(TimerTask task, Stripe stripe, long deadlineNanos) {
    super(deadlineNanos);
    this.task = task;
    this.stripe = stripe;
  }

  /** Returns the state while the current thread runs the task. */
  private static int runningHere() {
    return (int) Thread.currentThread().getId() << STATE_BITS | RUNNING;
  }

  /** Returns whether the caller is inside the task and has not re-armed the timeout. */
  boolean isRunningHere() {
    return state() == RUNNING && (int) STATE.getOpaque(this) == runningHere();
  }

  /** Records that the current thread, which took the timeout, is about to run the task. */
  void begin() {
    settle(runningHere());
  }

  /** Records that the task has ended on the current thread. */
  void end() {
    STATE.compareAndSet(this, runningHere(), EXPIRED);
  }

  @Override
  int touch() {
    return task == null ? 0 : place();
  }

  @Override
  public Timer timer() {
    return stripe.engine.timer;
  }

  @Override
  public TimerTask task() {
    return task;
  }

  @Override
  public boolean isExpired() {
    int state = state();
    return state != PENDING && state != CANCELLED;
  }

  @Override
  public boolean isCancelled() {
    return state() == CANCELLED;
  }

  @Override
  public boolean cancel() {
    if (!stripe.cancel(this)) {
      return false;
    }
    stripe.engine.cancelled(this);
    return true;
  }

  @Override
  public boolean reschedule(long delay, TimeUnit unit) {
    requireNonNull(unit, "unit");
    return stripe.engine.reschedule(this, unit.toNanos(delay));
  }

  @Override
  public long remaining(TimeUnit unit) {
    requireNonNull(unit, "unit");
    return unit.convert(remainingNanos(), TimeUnit.NANOSECONDS);
  }

  private long remainingNanos() {
    return deadlineNanos() - stripe.engine.clock.elapsedNanos();
  }

  /** Runs the task of a timeout that was handed off, unless it was run before. */
  @Override
  public void run() {
    if (STATE.compareAndSet(this, HANDED_OFF, EXPIRED)) {
      stripe.engine.callbacks.run(this);
    }
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("Timeout(deadline: ");
    long remainingNanos = remainingNanos();
    if (remainingNanos > 0) {
      text.append("in ").append(remainingNanos).append(" ns");
    } else if (remainingNanos < 0) {
      text.append(-remainingNanos).append(" ns ago");
    } else {
      text.append("now");
    }
    if (isCancelled()) {
      text.append(", cancelled");
    } else if (isExpired()) {
      text.append(", expired");
    }
    return text.append(", task: ").append(task).append(')').toString();
  }
}
