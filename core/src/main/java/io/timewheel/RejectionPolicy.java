// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * Decides what happens to a task that the timer's executor rejected. The timeout has expired and
 * can no longer be cancelled.
 *
 * <p>Called on the thread that expires timeouts, so it must return quickly. If the policy throws,
 * the task runs as with {@link #runOnWorker}.
 */
@FunctionalInterface
public interface RejectionPolicy {
  /**
   * Decides about one task. To run it, call {@code execution} on any thread, now or later. The task
   * runs once, however often {@code execution} is called, even if the executor accepted it after
   * all. To drop the task, do not call {@code execution}.
   *
   * @param timeout the timeout whose task was rejected
   * @param execution runs the task, and handles its errors as usual
   * @param cause the exception that the executor threw
   */
  void rejected(Timeout timeout, Runnable execution, Throwable cause);

  /** {@return the default policy: the task runs at once, on the timer thread} */
  static RejectionPolicy runOnWorker() {
    return (timeout, execution, cause) -> execution.run();
  }
}
