// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import java.util.Set;

/**
 * Takes the content of a store: {@link #begin}, then each timer, then {@link #end}. One thread
 * calls it. An exception of a method ends the copy.
 */
public interface TimerSink {
  /**
   * Takes the pauses and the last version.
   *
   * @param lastVersion a version that no timer of the store has exceeded, deleted ones included
   * @param paused the paused scopes
   */
  void begin(long lastVersion, Set<String> paused);

  /**
   * Takes a timer.
   *
   * @param timer the timer
   */
  void take(CopiedTimer timer);

  /** Ends the copy. The store calls it after the last timer that it can read. */
  void end();
}
