// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * Decides what becomes of a task that the timer's executor did not accept. The timeout has expired
 * and can no longer be cancelled.
 *
 * <p>Called on the thread that polls the timer, which must not be held for long. If the policy
 * throws, the task is run as by {@link #runOnWorker}.
 */
@FunctionalInterface
public interface RejectionPolicy {
  /**
   * Decides. To run the task, call {@code execution} on any thread, now or later; it runs the task
   * once, however often it is called, and even if the executor did accept it after all. Not to call
   * it is to drop the task.
   *
   * @param timeout the timeout whose task was rejected
   * @param execution runs the task, its errors handled as ever
   * @param cause what the executor threw
   */
  void rejected(Timeout timeout, Runnable execution, Throwable cause);

  /** {@return the default policy: the task runs at once, on the timer's own thread} */
  static RejectionPolicy runOnWorker() {
    return (timeout, execution, cause) -> execution.run();
  }
}
