// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;

/**
 * The contract that every {@link io.timewheel.Timer} is held to, as JUnit tests: extend it, make
 * timers, let time pass.
 *
 * <pre>{@code
 * class MyTimerTest extends TimerContract {
 *   private final ManualTimeSource clock = new ManualTimeSource();
 *   private final List<MyTimer> timers = new ArrayList<>();
 *
 *   @Override
 *   protected Timer newTimer(TimerSettings settings) {
 *     MyTimer timer = new MyTimer(clock, settings.tick(), settings.maxPendingTimeouts() ...);
 *     timers.add(timer);
 *     return timer;
 *   }
 *
 *   @Override
 *   protected void advance(Duration duration) throws InterruptedException {
 *     clock.advanceBy(duration);
 *     for (MyTimer timer : timers) {
 *       timer.poll();
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p>A timer with a thread of its own needs more care: {@code advance} must not return before that
 * thread has done all that is due. {@link ManualTimeSource#awaitParked} waits for that.
 *
 * <p>The tests do not sleep and do not measure time. They need the time to pass only when they say
 * so: a timer whose clock cannot be injected cannot be held to this contract. JUnit Jupiter has to
 * be on the class path; this class is the only one in this module that needs it.
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
public abstract class TimerContract extends RacingContract {
  /** For subclasses; JUnit makes an instance for each test. */
  protected TimerContract() {}
}
