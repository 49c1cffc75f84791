// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

import io.timewheel.Timeout;
import io.timewheel.TimerTask;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;

/**
 * The task of one timeout, and the record of its outcome.
 *
 * <p>Every event of the timeout sets a bit here, and checks the bits that were set before. There
 * are three valid outcomes: RAN; NOTIFIED and WON; NOTIFIED and RETURNED. The task itself holds the
 * record. So it detects a run that must not happen, however much later that is.
 *
 * <p>It takes 32 bytes, in addition to the 40 of the timeout.
 */
class SoakTask implements TimerTask {
  /** The task was run. */
  private static final int RAN = 1;

  /** The task was notified of the cancellation. */
  private static final int NOTIFIED = 2;

  /** A call of cancel returned true. */
  private static final int WON = 4;

  /** A call of stop returned the timeout. */
  private static final int RETURNED = 8;

  private static final int FATE = RAN | NOTIFIED | WON | RETURNED;

  /** A thread is moving the deadline. */
  private static final int MOVING = 16;

  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(SoakTask.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final Subject subject;
  private final Manner manner;

  /**
   * The reading of the clock before which the task must not run. It is taken before the timer's own
   * reading, so it is never later than the deadline.
   */
  private volatile long earliestNanos;

  private volatile int state;

  SoakTask(Subject subject, Manner manner) {
    this.subject = subject;
    this.manner = manner;
  }

  /** Starts a timeout with this task. */
  Timeout start(long delay, TimeUnit unit) {
    earliestNanos = earliestNanos(delay, unit);
    Timeout timeout = subject.timer.newTimeout(this, delay, unit);
    subject.started.increment();
    return timeout;
  }

  /** Moves the deadline, unless another thread is moving it. */
  void move(Timeout timeout, long delay, TimeUnit unit) {
    if ((set(MOVING) & MOVING) != 0) {
      return;
    }
    long nanos = earliestNanos(delay, unit);
    if (nanos - earliestNanos < 0) {
      // Otherwise, the task could run at the new deadline before that is stored.
      earliestNanos = nanos;
    }
    if (timeout.reschedule(delay, unit)) {
      earliestNanos = nanos;
      subject.moved.increment();
    }
    STATE.getAndBitwiseAnd(this, ~MOVING);
  }

  boolean cancel(Timeout timeout) {
    if (!timeout.cancel()) {
      return false;
    }
    int before = set(WON);
    subject.won.increment();
    if ((before & FATE) != NOTIFIED) {
      subject.violations.add("cancel() returned true for a timeout that " + fate(before));
    }
    return true;
  }

  /** Records that stop returned the timeout. */
  void returned() {
    int before = set(RETURNED);
    subject.returned.increment();
    if ((before & FATE) != NOTIFIED) {
      subject.violations.add("stop() returned a timeout that " + fate(before));
    }
  }

  @Override
  public void run(Timeout timeout) throws Exception {
    long nowNanos = System.nanoTime();
    int before = set(RAN);
    subject.ran.increment();
    if ((before & FATE) != 0) {
      subject.violations.add("ran, but before that it " + fate(before));
    }
    if (nowNanos - earliestNanos < 0) {
      subject.violations.add("ran " + (earliestNanos - nowNanos) + " ns early");
    }
    if (!timeout.isExpired() || timeout.isCancelled() || timeout.cancel()) {
      subject.violations.add("is pending or cancelled while its task runs");
    }
    subject.behave(manner);
  }

  @Override
  public void cancelled(Timeout timeout) {
    int before = set(NOTIFIED);
    subject.told.increment();
    if ((before & FATE) != 0) {
      subject.violations.add(
          "was notified of its cancellation, but before that it " + fate(before));
    }
    if (!timeout.isCancelled()) {
      subject.violations.add("was notified of its cancellation, but is not cancelled");
    }
    if (manner == Manner.THROWS) {
      throw new IllegalStateException("injected, in cancelled()");
    }
  }

  /** Returns whether one of the three outcomes is complete. */
  boolean isSettled() {
    int fate = state & FATE;
    return fate == RAN || fate == (NOTIFIED | WON) || fate == (NOTIFIED | RETURNED);
  }

  /** Checks a timeout that has an outcome, before its place is used again. */
  void retire(Timeout timeout) {
    int seen = state;
    boolean ran = (seen & FATE) == RAN;
    if (!isSettled()
        || timeout.isExpired() != ran
        || timeout.isCancelled() == ran
        || timeout.cancel()
        || timeout.reschedule(1, TimeUnit.DAYS)) {
      subject.violations.add(timeout + " " + fate(seen));
    }
  }

  /** Returns by how much the task is overdue; negative if it is not due. */
  long overdueNanos() {
    return System.nanoTime() - earliestNanos;
  }

  String fate() {
    return fate(state);
  }

  private int set(int bit) {
    return (int) STATE.getAndBitwiseOr(this, bit);
  }

  /**
   * Returns the earliest time for a delay. Limits a very long delay, because the difference of two
   * readings would wrap around.
   */
  private static long earliestNanos(long delay, TimeUnit unit) {
    long delayNanos = Math.max(0, unit.toNanos(delay));
    return System.nanoTime() + Math.min(delayNanos, Long.MAX_VALUE / 2);
  }

  private static String fate(int bits) {
    StringBuilder text = new StringBuilder();
    append(text, bits, RAN, "ran");
    append(text, bits, NOTIFIED, "was notified of its cancellation");
    append(text, bits, WON, "was cancelled");
    append(text, bits, RETURNED, "was returned by stop()");
    return text.length() == 0 ? "has no outcome" : text.toString();
  }

  private static void append(StringBuilder text, int bits, int bit, String word) {
    if ((bits & bit) != 0) {
      text.append(text.length() == 0 ? "" : " and ").append(word);
    }
  }
}
