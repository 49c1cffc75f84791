// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.PolledTimer;
import io.timewheel.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Tests the timer without a thread against the contract, on a clock that wraps around at once. */
class PolledTimerTest extends TimerContract {
  private final ManualTimeSource clock = new ManualTimeSource(Long.MAX_VALUE);
  private final List<PolledTimer> timers = new ArrayList<>();

  @Override
  protected Timer newTimer(TimerSettings settings) {
    PolledTimer timer = settings.applyTo(PolledTimer.builder()).timeSource(clock).build();
    timers.add(timer);
    return timer;
  }

  @Override
  protected void advance(Duration duration) {
    clock.advanceBy(duration);
    timers.forEach(PolledTimer::poll);
  }
}
