// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * Receives all events of the timeouts of a timer. Use it for metrics, events and traces. A timer
 * without a listener has no cost for it.
 *
 * <p>Each method is called on the thread that caused the event, which may be the timer thread. A
 * slow listener delays that thread, but holds no lock that other threads need to start, move or
 * cancel timeouts. The futures of {@code io.timewheel.concurrent} are different: a thread that
 * cancels one waits until a concurrent start of its timeout is complete, {@link #started} included.
 * So a listener must not wait, on a lock or otherwise, for a thread that cancels such a future.
 *
 * <p>Exceptions of a listener go to the {@link TaskErrorHandler}. Calls for one timeout may overlap
 * and arrive out of order. For example, a timeout may expire on one thread before {@link #started}
 * is called on the thread that started it.
 */
public interface TimerListener {
  /**
   * Called when a timeout was started, or re-armed by its own task.
   *
   * @param timeout the timeout
   */
  default void started(Timeout timeout) {}

  /**
   * Called when the deadline of a pending timeout was moved.
   *
   * @param timeout the timeout
   */
  default void rescheduled(Timeout timeout) {}

  /**
   * Called when a timeout was cancelled, by {@link Timeout#cancel} or {@link Timer#stop()}.
   *
   * @param timeout the timeout
   */
  default void cancelled(Timeout timeout) {}

  /**
   * Called when a timeout expired: its task is about to be run or handed to the executor.
   *
   * @param timeout the timeout
   * @param lagNanos the time since its deadline in nanoseconds, including the wait for the tick
   */
  default void expired(Timeout timeout, long lagNanos) {}

  /**
   * Called when the executor rejected a task, before the {@link RejectionPolicy} decides.
   *
   * @param timeout the timeout
   * @param cause the exception that the executor threw
   */
  default void rejected(Timeout timeout, Throwable cause) {}

  /**
   * Called when a task returned.
   *
   * @param timeout the timeout
   * @param runNanos how long the task ran, in nanoseconds
   */
  default void completed(Timeout timeout, long runNanos) {}

  /**
   * Called when a task threw, before the {@link TaskErrorHandler} is notified.
   *
   * @param timeout the timeout
   * @param error the exception or error
   * @param runNanos how long the task ran, in nanoseconds
   */
  default void failed(Timeout timeout, Throwable error, long runNanos) {}
}
