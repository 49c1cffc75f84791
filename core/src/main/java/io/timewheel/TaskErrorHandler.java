// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * Notified of whatever the callbacks of a timer throw, {@link Error}s included: {@link
 * TimerTask#run} and {@link TimerTask#cancelled}, the {@link TimerListener} and the {@link
 * RejectionPolicy}.
 *
 * <p>Called on the thread that threw. The default writes a warning to the {@link System.Logger}
 * {@code io.timewheel}; what a handler itself throws is written there too.
 */
@FunctionalInterface
public interface TaskErrorHandler {
  /**
   * Handles an error.
   *
   * @param timeout the timeout whose callback threw
   * @param error what it threw
   */
  void handle(Timeout timeout, Throwable error);
}
