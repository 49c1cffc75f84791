// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The entry point for the changed classes, which call it through reflection. */
public final class Bridge {
  private Bridge() {}

  /**
   * Makes the engine of a timer.
   *
   * @param timer the application's timer, at the end of its constructor
   * @param tickNanos the length of the application's tick
   * @param slots the number of slots of the application's wheel
   * @param pending the application's count of pending timeouts; null if it has none
   * @return the engine, a consumer of lag (null unless it is reported), the queue of timeouts to
   *     start, and the queue of cancelled timeouts. If the timer keeps its own wheel, only the
   *     first two
   */
  public static @Nullable Object[] attach(
      Object timer, long tickNanos, int slots, @Nullable AtomicLong pending) {
    return Agent.current().attach(timer, tickNanos, slots, pending);
  }
}
