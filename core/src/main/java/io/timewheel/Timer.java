// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Runs tasks after a delay: a clock that millions of timeouts can be pending on at once, each
 * started, moved and cancelled in constant time.
 *
 * <p>Time passes in ticks of equal length. A timeout fires at the first tick that begins at or
 * after its deadline: never early, and late by at most one tick, plus the time to wake up and to
 * run what is due before it.
 *
 * <p>All methods may be called from any thread, tasks included, except where they say otherwise.
 * The whole contract, with its races and limits, is in {@code docs/CONTRACT.md}.
 *
 * @see HierarchicalWheelTimer
 * @see HashedWheelTimer
 * @see PolledTimer
 */
public interface Timer extends AutoCloseable {
  /**
   * Starts a timeout: {@code task} runs once, after {@code delay}, unless the timeout is cancelled
   * or the timer is stopped before.
   *
   * <p>A delay of zero or less means the next tick; the task never runs inside this call. A delay
   * that leads beyond 292 years of the timer's life never fires.
   *
   * @param task what to run
   * @param delay how long from now
   * @param unit the unit of {@code delay}
   * @return the timeout, which is pending
   * @throws IllegalStateException if this timer is stopped, or can no longer run tasks
   * @throws RejectedExecutionException if as many timeouts are pending as this timer allows
   */
  Timeout newTimeout(TimerTask task, long delay, TimeUnit unit);

  /**
   * Starts a timeout, as {@link #newTimeout(TimerTask, long, TimeUnit)} does.
   *
   * @param task what to run
   * @param delay how long from now
   * @return the timeout, which is pending
   * @throws IllegalStateException if this timer is stopped, or can no longer run tasks
   * @throws RejectedExecutionException if as many timeouts are pending as this timer allows
   */
  default Timeout newTimeout(TimerTask task, Duration delay) {
    requireNonNull(delay, "delay");
    return newTimeout(task, TimeUnit.NANOSECONDS.convert(delay), TimeUnit.NANOSECONDS);
  }

  /**
   * Stops this timer: cancels every pending timeout and waits for the task that runs on the timer
   * thread, if there is one, as {@link #stop(Duration)} does with a patience of ten seconds.
   *
   * @return the timeouts that this call cancelled; empty if the timer was stopped before
   * @throws IllegalStateException if called by a task on the timer thread
   */
  Set<Timeout> stop();

  /**
   * Stops this timer: from now on {@link #newTimeout newTimeout} throws, and every pending timeout
   * is cancelled, its {@link TimerTask#cancelled cancelled} called on the calling thread. A timeout
   * started by another thread at the same time is either refused, or runs, or is returned here.
   *
   * <p>If a task runs on the timer thread, this call waits for it to end, but no longer than {@code
   * patience}; then it interrupts the thread, once, and returns anyway. An interrupt of the caller
   * ends the wait too, and stays set. It does not wait for tasks that were handed to an executor.
   *
   * @param patience how long to wait for a running task; zero or less to not wait at all
   * @return the timeouts that this call cancelled; empty if the timer was stopped before
   * @throws IllegalStateException if called by a task on the timer thread
   */
  Set<Timeout> stop(Duration patience);

  /** {@return whether {@link #stop stop} was called} */
  boolean isStopped();

  /**
   * How many timeouts are pending: neither expired nor cancelled. Exact when no other thread is
   * starting, cancelling or expiring timeouts; otherwise, each timeout is counted as it was at some
   * moment of this call.
   *
   * @return how many
   */
  long pendingTimeouts();

  /** {@return what this timer has done so far} */
  TimerStats stats();

  /** {@return the clock of this timer, in whose time all delays are counted} */
  TimeSource timeSource();

  /** Stops this timer, as {@link #stop()} does, and forgets which timeouts were pending. */
  @Override
  default void close() {
    stop();
  }
}
