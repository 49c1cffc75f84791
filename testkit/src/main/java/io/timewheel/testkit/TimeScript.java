// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.Timer;
import java.time.Duration;

/** The operations that the tests of the contract use: they make timers and advance the time. */
interface TimeScript {
  /**
   * Returns the default settings: a tick of 1 ms, no limit and no executor. Exceptions of tasks
   * fail the test.
   *
   * @return the settings
   */
  TimerSettings settings();

  /**
   * Makes a timer, which is closed at the end of the test.
   *
   * @param settings the settings that the test needs
   * @return the timer
   */
  Timer timer(TimerSettings settings);

  /**
   * Makes a timer with the usual settings, which is closed at the end of the test.
   *
   * @return the timer
   */
  default Timer timer() {
    return timer(settings());
  }

  /**
   * Returns the time since the start of the test.
   *
   * @return the time
   */
  Duration elapsed();

  /**
   * Advances the time, and runs everything that is due by then.
   *
   * @param duration the time to advance by
   */
  void advanceBy(Duration duration);

  /**
   * Advances the time to a moment of the test, and runs everything that is due by then.
   *
   * @param moment the moment, counted from the start of the test
   */
  default void advanceUntil(Duration moment) {
    advanceBy(moment.minus(elapsed()));
  }

  /**
   * Advances the time tick by tick. So the delays of timeouts that tasks start count from the tick
   * at which the tasks run.
   *
   * @param moment the moment, counted from the start of the test
   */
  default void advanceTickwiseUntil(Duration moment) {
    while (elapsed().plus(Contracts.TICK).compareTo(moment) <= 0) {
      advanceBy(Contracts.TICK);
    }
    advanceUntil(moment);
  }

  /**
   * Registers an action for the end of the test, before its timers are closed.
   *
   * @param action the action
   */
  void atEnd(Runnable action);
}
