// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/** The action of a timeout. */
@FunctionalInterface
public interface TimerTask {
  /**
   * Runs once when the timeout expires, on the timer's executor if it has one. Otherwise it runs on
   * the timer thread, where a slow task delays all others.
   *
   * @param timeout the timeout that expired
   * @throws Exception any exception; it goes to the timer's {@link TaskErrorHandler} and affects no
   *     other task
   */
  void run(Timeout timeout) throws Exception;

  /**
   * Called once if the timeout is cancelled. The thread that cancels the timeout or stops the timer
   * makes this call. It does so after the timeout has left the timer, and before {@link
   * Timeout#cancel} or {@link Timer#stop()} returns. An exception goes to the timer's {@link
   * TaskErrorHandler}.
   *
   * @param timeout the timeout that was cancelled
   */
  default void cancelled(Timeout timeout) {}

  /**
   * Returns the class that the log and the events of Flight Recorder show for this task. A task
   * that wraps another should return the class of the wrapped task, which is more informative.
   *
   * @return the class to show
   */
  default Class<?> taskClass() {
    return getClass();
  }
}
