// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.Objects.requireNonNull;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A timeout: the handle that the user holds and the node that the wheel links, in one object of 40
 * bytes.
 *
 * <h2>States</h2>
 *
 * <pre>
 *   PENDING ──► RUN          the worker took it and runs it itself
 *      │  └───► HANDED_OFF ──► RUN   the worker took it for an executor
 *      └──────► CANCELLED    cancel() or stop() took it
 * </pre>
 *
 * A timeout is PENDING exactly as long as it is linked in the wheel of its stripe, and leaves that
 * state under the stripe's lock, so that exactly one of the worker, a cancel and a stop gets it.
 * HANDED_OFF to RUN is a compare-and-set, which keeps a task from running twice when an executor
 * accepts it and then reports that it did not. Writes under the lock are releases and not volatile:
 * the lock orders them among writers, and a reader without the lock needs only to see what happened
 * before. The index of the slot shares the field with PENDING; it is written opaquely, because it
 * is for the holder of the lock alone.
 */
final class WheelTimeout implements Timeout, Runnable {
  static final int PENDING = 0;
  static final int HANDED_OFF = 1;
  static final int RUN = 2;
  static final int CANCELLED = 3;
  private static final int STATE_BITS = 2;
  private static final int STATE_MASK = (1 << STATE_BITS) - 1;

  private static final VarHandle STATE;
  private static final VarHandle DEADLINE;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      STATE = lookup.findVarHandle(WheelTimeout.class, "state", int.class);
      DEADLINE = lookup.findVarHandle(WheelTimeout.class, "deadlineNanos", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** The neighbours in the slot, null at its ends and in no slot; {@link Slot} alone sets them. */
  @Nullable WheelTimeout prev;

  @Nullable WheelTimeout next;

  private final TimerTask task;
  final Stripe stripe;

  @SuppressWarnings("unused") // read through DEADLINE
  private long deadlineNanos;

  /** The state in the lower bits; above them, as long as it is PENDING, the index of the slot. */
  @SuppressWarnings("unused") // read and written through STATE
  private int state;

  WheelTimeout(TimerTask task, Stripe stripe, long deadlineNanos) {
    this.task = task;
    this.stripe = stripe;
    this.deadlineNanos = deadlineNanos;
  }

  /** The deadline in elapsed time. Changes under the lock of the stripe only. */
  long deadlineNanos() {
    return (long) DEADLINE.getOpaque(this);
  }

  void deadlineNanos(long nanos) {
    DEADLINE.setOpaque(this, nanos);
  }

  boolean isPending() {
    return state() == PENDING;
  }

  /** Leaves PENDING. The caller holds the lock of the stripe. */
  void settle(int newState) {
    STATE.setRelease(this, newState);
  }

  private int state() {
    return (int) STATE.getAcquire(this) & STATE_MASK;
  }

  /** The index of the slot that this timeout was added to. The caller holds the lock. */
  int slotIndex() {
    return (int) STATE.getOpaque(this) >>> STATE_BITS;
  }

  /** Sets the index of the slot of a pending timeout. The caller holds the lock. */
  void slotIndex(int index) {
    STATE.setOpaque(this, index << STATE_BITS | PENDING);
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
    return state == RUN || state == HANDED_OFF;
  }

  @Override
  public boolean isCancelled() {
    return state() == CANCELLED;
  }

  @Override
  public boolean cancel() {
    return stripe.engine.cancel(this);
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
    return deadlineNanos() - stripe.engine.ticks.elapsedNanos();
  }

  /** Runs the task of a timeout that was handed off, unless that has happened before. */
  @Override
  public void run() {
    if (STATE.compareAndSet(this, HANDED_OFF, RUN)) {
      stripe.engine.runTask(this);
    }
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("Timeout(deadline: ");
    long remainingNanos = remainingNanos();
    if (remainingNanos > 0) {
      text.append(remainingNanos).append(" ns later");
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
