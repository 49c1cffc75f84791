// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.Timer;
import java.time.Duration;

/** The language of the contract's tests: timers, and the time that has passed. */
interface TimeScript {
  /**
   * Returns the default settings: a tick of 1 ms, no limit and no executor. What tasks throw fails
   * the test.
   *
   * @return the settings
   */
  TimerSettings settings();

  /**
   * Makes a timer, which is closed at the end of the test.
   *
   * @param settings what the test asks of the timer
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
   * Returns the time that has passed since the start of the test.
   *
   * @return the time
   */
  Duration elapsed();

  /**
   * Lets time pass, and runs everything that is due by then.
   *
   * @param duration how long
   */
  void advanceBy(Duration duration);

  /**
   * Lets time pass until a moment of the test, and runs everything that is due by then.
   *
   * @param moment the moment, counted from the start of the test
   */
  default void advanceUntil(Duration moment) {
    advanceBy(moment.minus(elapsed()));
  }

  /**
   * Lets time pass tick by tick, so what tasks start counts from the tick at which they run.
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
   * Registers what to do at the end of the test, before its timers are closed.
   *
   * @param action what to do
   */
  void atEnd(Runnable action);
}
