// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * Receives everything that the callbacks of a timer throw, {@link Error}s included: {@link
 * TimerTask#run}, {@link TimerTask#cancelled}, the {@link TimerListener} and the {@link
 * RejectionPolicy}.
 *
 * <p>Called on the thread that threw. The default handler logs a warning to the {@link
 * System.Logger} {@code io.timewheel}. An exception of a handler itself is logged there too.
 */
@FunctionalInterface
public interface TaskErrorHandler {
  /**
   * Handles an error.
   *
   * @param timeout the timeout whose callback threw
   * @param error the exception or error
   */
  void handle(Timeout timeout, Throwable error);
}
