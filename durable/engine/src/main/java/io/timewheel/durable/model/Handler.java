// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.model;

/** What is done when a durable timer fires. */
@FunctionalInterface
public interface Handler {
  /**
   * Handles a firing. It may be called more than once for the same one, with the same fire id:
   * after a failure, and after a crash. What it throws is a failed attempt.
   *
   * @param firing the firing
   * @throws Exception if the attempt failed; it is tried again by the timer's retry policy
   */
  void handle(Firing firing) throws Exception;
}
