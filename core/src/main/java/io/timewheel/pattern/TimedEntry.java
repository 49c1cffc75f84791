// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An entry with one timeout for its whole life. The timeout is started once, re-armed each time it
 * fires, and cancelled when the entry is settled. The pattern decides which thread may settle it.
 *
 * <p>A re-armed timeout stays counted, so the limit on pending timeouts can refuse an entry only
 * when it is started. A run re-arms before it hands anything over, so user code may take any time.
 *
 * <h2>Races with settling and hastening</h2>
 *
 * <pre>
 *   starter or run                        settler, or a thread that hastens
 *   1 seen = changes                      1 changes = SETTLED, or one more
 *   2 makes the timeout pending           2 reads the deadline; cancels or moves the timeout,
 *                                           if it is pending
 *   3 if (changes != seen) looks again;
 *     if (changes == SETTLED) cancels
 * </pre>
 *
 * Each side writes and then reads the variable that the other side writes, with a full fence
 * between the two. So at least one side sees the other. Cancelling and moving take the lock of the
 * timeout, but reading its deadline does not: without the fence, step 3 could overtake step 2, and
 * both sides could see the old values.
 */
abstract class TimedEntry implements TimerTask {
  /** A delay that never ends: the timeout stays pending and does not fire. */
  static final long NEVER = Long.MAX_VALUE;

  private static final int SETTLED = -1;

  private static final VarHandle CHANGES;

  static {
    try {
      CHANGES = MethodHandles.lookup().findVarHandle(TimedEntry.class, "changes", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile @Nullable Timeout timeout;

  /** The number of {@link #hasten} calls, or SETTLED. */
  private volatile int changes;

  /** Starts the timeout. Throws the exceptions of the timer; then the entry has no timeout. */
  final void start(Timer timer, LongSupplier delayNanos) {
    int seen = changes;
    Timeout started = timer.newTimeout(this, delayNanos.getAsLong(), NANOSECONDS);
    timeout = started;
    lookAgain(started, seen, delayNanos);
  }

  /** Called when the timeout has fired. To make it pending again, this must call {@link #rearm}. */
  abstract void fired();

  @Override
  public final void run(Timeout fired) {
    timeout = fired; // the thread that started it may not have stored it yet
    if (!isSettled()) {
      fired();
    }
  }

  /**
   * Makes the timeout pending again, from inside {@link #fired}. Returns false if the timer is
   * stopped.
   */
  final boolean rearm(LongSupplier delayNanos) {
    Timeout fired = requireNonNull(timeout);
    int seen = changes;
    boolean rearmed = fired.reschedule(delayNanos.getAsLong(), NANOSECONDS);
    lookAgain(fired, seen, delayNanos);
    return rearmed;
  }

  private void lookAgain(Timeout pending, int before, LongSupplier delayNanos) {
    int seen = before;
    VarHandle.fullFence();
    for (int now = changes; now != seen && now != SETTLED; now = changes) {
      seen = now;
      pending.reschedule(delayNanos.getAsLong(), NANOSECONDS);
      VarHandle.fullFence();
    }
    // Even if the entry was settled before this call: the settling thread then found nothing
    // pending.
    if (changes == SETTLED) {
      pending.cancel();
    }
  }

  /** Makes the timeout fire after a delay, unless it fires earlier. Any thread may call this. */
  final void hasten(long delayNanos) {
    int seen = changes;
    while (seen != SETTLED && !CHANGES.compareAndSet(this, seen, (seen + 1) & Integer.MAX_VALUE)) {
      seen = changes;
    }
    VarHandle.fullFence();
    Timeout pending = timeout;
    if (pending != null && pending.remaining(NANOSECONDS) > delayNanos) {
      pending.reschedule(delayNanos, NANOSECONDS);
    }
  }

  /** Settles the entry: after this, nothing is pending. Idempotent. */
  final void settle() {
    changes = SETTLED;
    Timeout pending = timeout;
    if (pending != null) {
      pending.cancel();
    }
  }

  final boolean isSettled() {
    return changes == SETTLED;
  }

  /** Returns whether the timer was stopped, so the entry no longer fires. */
  final boolean isStopped() {
    Timeout last = timeout;
    return last != null && last.timer().isStopped();
  }

  /**
   * Returns whether to offer a task again to an executor that accepted it but has not begun it,
   * after its entry fired this often. The executor may have dropped the task. The gaps double, so
   * the queue of a busy executor does not fill up with offers. A task that was offered twice does
   * nothing the second time.
   */
  static boolean isToBeOffered(int firings) {
    return Integer.bitCount(firings) <= 1;
  }
}
