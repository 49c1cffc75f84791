// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Runs tasks after a delay. Millions of timeouts can be pending at once, and each is started, moved
 * and cancelled in constant time.
 *
 * <p>Time passes in ticks of equal length. A timeout fires at the first tick that begins at or
 * after its deadline. It is never early. It is late by at most one tick, plus the time to wake up
 * and to run the timeouts due before it.
 *
 * <p>All methods may be called from any thread, tasks included, unless they state otherwise. The
 * complete contract, with its races and limits, is in {@code docs/reference/guarantees.md}.
 *
 * @see HierarchicalWheelTimer
 * @see HashedWheelTimer
 * @see PolledTimer
 */
public interface Timer extends AutoCloseable {
  /**
   * Starts a timeout: {@code task} runs once, after {@code delay}, unless the timeout is cancelled
   * or the timer is stopped first.
   *
   * <p>A delay of zero or less means the next tick; the task never runs inside this call. A timeout
   * whose deadline is more than 292 years after the timer was created never fires.
   *
   * @param task the task to run
   * @param delay the time from now; zero or less for the next tick
   * @param unit the unit of {@code delay}
   * @return the timeout, which is pending
   * @throws IllegalStateException if this timer is stopped, or can no longer run tasks
   * @throws RejectedExecutionException if the limit on pending timeouts is reached
   */
  Timeout newTimeout(TimerTask task, long delay, TimeUnit unit);

  /**
   * Starts a timeout, as {@link #newTimeout(TimerTask, long, TimeUnit)} does.
   *
   * @param task the task to run
   * @param delay the time from now; zero or less for the next tick
   * @return the timeout, which is pending
   * @throws IllegalStateException if this timer is stopped, or can no longer run tasks
   * @throws RejectedExecutionException if the limit on pending timeouts is reached
   */
  default Timeout newTimeout(TimerTask task, Duration delay) {
    requireNonNull(delay, "delay");
    return newTimeout(task, TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
  }

  /**
   * Stops this timer, as {@link #stop(Duration)} does with ten seconds. Cancels every pending
   * timeout and waits for a task that runs on the timer thread.
   *
   * @return the timeouts that this call cancelled; empty if the timer was stopped before
   * @throws IllegalStateException if called by a task on the timer thread
   */
  Set<Timeout> stop();

  /**
   * Stops this timer. From now on, {@link #newTimeout newTimeout} throws. Every pending timeout is
   * cancelled, and its {@link TimerTask#cancelled cancelled} is called on the calling thread. If
   * another thread starts a timeout at the same time, the timeout is refused, runs, or is returned
   * here.
   *
   * <p>If a task runs on the timer thread, this call waits for the task to end, at most for {@code
   * shutdownTimeout}. Then it interrupts the thread once and returns. If the calling thread is
   * interrupted, the wait ends too, and the interrupt status stays set. This call does not wait for
   * tasks that were handed to an executor.
   *
   * @param shutdownTimeout how long to wait for a running task; zero or less to not wait
   * @return the timeouts that this call cancelled; empty if the timer was stopped before
   * @throws IllegalStateException if called by a task on the timer thread
   */
  Set<Timeout> stop(Duration shutdownTimeout);

  /** {@return whether {@link #stop stop} was called} */
  boolean isStopped();

  /**
   * Returns how many timeouts are pending: neither expired nor cancelled. The number is exact if no
   * other thread starts, cancels or expires timeouts. Otherwise, each timeout is counted as of some
   * moment of this call.
   *
   * @return the number of pending timeouts
   */
  long pendingTimeouts();

  /** {@return the statistics of this timer since it was made} */
  TimerStats stats();

  /** {@return the clock of this timer, which measures all delays} */
  TimeSource timeSource();

  /** Stops this timer, as {@link #stop()} does, without returning the cancelled timeouts. */
  @Override
  default void close() {
    stop();
  }
}
