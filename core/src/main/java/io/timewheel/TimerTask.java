// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/** What to do when a timeout expires. */
@FunctionalInterface
public interface TimerTask {
  /**
   * Called once if the timeout expires. Runs on the timer's executor if it has one; otherwise on
   * the timer thread, where a slow task delays every other.
   *
   * @param timeout the timeout that expired
   * @throws Exception whatever the task likes: it goes to the timer's {@link TaskErrorHandler} and
   *     harms nothing else
   */
  void run(Timeout timeout) throws Exception;

  /**
   * Called once if the timeout is cancelled: by the thread that cancels it or stops the timer,
   * after the timeout has left the timer and before {@link Timeout#cancel} or {@link Timer#stop()}
   * returns. An exception goes to the timer's {@link TaskErrorHandler}.
   *
   * @param timeout the timeout that was cancelled
   */
  default void cancelled(Timeout timeout) {}

  /**
   * Returns the class by which the log and the events of Flight Recorder name this task. A task
   * that wraps another returns the class of that one, which tells a reader more than its own.
   *
   * @return the class to name
   */
  default Class<?> taskClass() {
    return getClass();
  }
}
