// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

/** Handles the firings of durable timers. */
@FunctionalInterface
public interface Handler {
  /**
   * Handles a firing. The engine may call it more than once for the same run, with the same fire
   * ID, after a failure or a crash. An exception fails the attempt.
   *
   * @param firing the firing
   * @throws Exception if the attempt failed; the retry policy of the timer decides about the next
   *     one
   */
  void handle(Firing firing) throws Exception;
}
