// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Tests the manual timer against the contract. */
class ManualTimerContractTest extends TimerContract {
  private final List<ManualTimer> timers = new ArrayList<>();

  @Override
  protected Timer newTimer(TimerSettings settings) {
    ManualTimer timer =
        ManualTimer.create(
            builder -> {
              builder
                  .tick(settings.tick())
                  .maxPendingTimeouts(settings.maxPendingTimeouts())
                  .onError(settings.onError());
              if (settings.executor() != null) {
                builder.executor(settings.executor());
              }
            });
    timers.add(timer);
    return timer;
  }

  @Override
  protected void advance(Duration duration) {
    timers.forEach(timer -> timer.advanceBy(duration));
  }
}
