// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Tests the reference implementation against the contract. This also verifies the contract. */
class NaiveTimerTest extends TimerContract {
  private final ManualTimeSource clock = new ManualTimeSource();
  private final List<NaiveTimer> timers = new ArrayList<>();

  @Override
  protected Timer newTimer(TimerSettings settings) {
    NaiveTimer timer = new NaiveTimer(settings, clock);
    timers.add(timer);
    return timer;
  }

  @Override
  protected void advance(Duration duration) {
    clock.advanceBy(duration);
    timers.forEach(NaiveTimer::runDue);
  }
}
