// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * Notified of everything that happens to the timeouts of a timer; the one seam for metrics, events
 * and traces. A timer without a listener pays nothing for it.
 *
 * <p>Each method is called on the thread that caused the event, the timer thread included. It holds
 * up that thread, but holds no lock that others need to start, move or cancel timeouts. The futures
 * of {@code io.timewheel.concurrent} are different: a thread that cancels one waits for a start of
 * its timeout that is under way, {@link #started} included. So a listener must not wait, on a lock
 * or otherwise, for a thread that cancels such a future.
 *
 * <p>What a listener throws goes to the {@link TaskErrorHandler}. Calls for one timeout may overlap
 * and overtake each other: it may expire on one thread before {@link #started} is called on the one
 * that started it.
 */
public interface TimerListener {
  /**
   * A timeout was started, or re-armed by its own task.
   *
   * @param timeout the timeout
   */
  default void started(Timeout timeout) {}

  /**
   * The deadline of a pending timeout was moved.
   *
   * @param timeout the timeout
   */
  default void rescheduled(Timeout timeout) {}

  /**
   * A timeout was cancelled, by {@link Timeout#cancel} or {@link Timer#stop()}.
   *
   * @param timeout the timeout
   */
  default void cancelled(Timeout timeout) {}

  /**
   * A timeout expired: its task is about to be run or handed to the executor.
   *
   * @param timeout the timeout
   * @param lagNanos the time since its deadline, the tick's own share included
   */
  default void expired(Timeout timeout, long lagNanos) {}

  /**
   * The executor rejected a task; the {@link RejectionPolicy} decides next.
   *
   * @param timeout the timeout
   * @param cause what the executor threw
   */
  default void rejected(Timeout timeout, Throwable cause) {}

  /**
   * A task returned.
   *
   * @param timeout the timeout
   * @param runNanos how long it ran
   */
  default void completed(Timeout timeout, long runNanos) {}

  /**
   * A task threw; the {@link TaskErrorHandler} is notified next.
   *
   * @param timeout the timeout
   * @param error what it threw
   * @param runNanos how long it ran
   */
  default void failed(Timeout timeout, Throwable error, long runNanos) {}
}
