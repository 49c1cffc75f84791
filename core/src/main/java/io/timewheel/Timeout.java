// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A task that was started on a {@link Timer}. It is pending until it expires or is cancelled.
 * Exactly one of the two happens, once, unless its own task re-arms it.
 *
 * <p>All methods may be called from any thread.
 */
public interface Timeout {
  /** {@return the timer that this timeout was started on} */
  Timer timer();

  /** {@return the task that was given to the timer} */
  TimerTask task();

  /**
   * Returns whether the task runs or has run, or was handed to the executor that runs it.
   *
   * @return true inside the task, and from then on
   */
  boolean isExpired();

  /** {@return whether this timeout was cancelled, by {@link #cancel} or by {@link Timer#stop()}} */
  boolean isCancelled();

  /**
   * Cancels this timeout if it is pending. If this returns true, the task never runs, and the timer
   * no longer counts this timeout or refers to it. {@link TimerTask#cancelled} is called before
   * this returns, on the calling thread.
   *
   * @return true for the one call that cancelled the timeout; false if it had expired or been
   *     cancelled before
   */
  boolean cancel();

  /**
   * Moves the deadline of this timeout, earlier or later, to {@code delay} from now, if it is
   * pending. The timeout keeps its identity, and nothing is allocated.
   *
   * <p>If its own task calls this, on the thread that runs the task, it re-arms the timeout. The
   * timeout is then pending again, and the task will run again. Use this to repeat a task without a
   * new timeout. The limit on pending timeouts does not apply, so a timer may exceed it by the
   * number of tasks that are running. If the timer is stopped, this returns false. A task on an
   * executor may overlap with its next run, unless re-arming is the last thing it does.
   *
   * <pre>{@code
   * timer.newTimeout(timeout -> {
   *   beat();
   *   timeout.reschedule(1, SECONDS);
   * }, 1, SECONDS);
   * }</pre>
   *
   * @param delay as in {@link Timer#newTimeout(TimerTask, long, TimeUnit)}
   * @param unit the unit of {@code delay}
   * @return true if the deadline was moved or the timeout was re-armed; false if the timeout had
   *     expired or been cancelled before. After a move, the task does not run at the old deadline
   */
  boolean reschedule(long delay, TimeUnit unit);

  /**
   * Moves the deadline of this timeout, as {@link #reschedule(long, TimeUnit)} does.
   *
   * @param delay how long from now
   * @return whether the deadline was moved
   */
  default boolean reschedule(Duration delay) {
    requireNonNull(delay, "delay");
    return reschedule(TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
  }

  /**
   * Returns the time from now to the deadline, rounded toward zero. It is negative after the
   * deadline, also for a timeout that is no longer pending.
   *
   * @param unit the unit of the result
   * @return the time left, in {@code unit}
   */
  long remaining(TimeUnit unit);
}
