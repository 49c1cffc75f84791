// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.internal.commit.Committer;
import io.timewheel.durable.internal.commit.Delays;
import io.timewheel.durable.internal.health.Health;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.internal.time.MissedRunPolicy;
import io.timewheel.durable.spi.TimerStore;

/** The parts of the engine that all classes need to claim, run and end attempts. */
public record AttemptContext(
    TimerStore store,
    EngineClock clock,
    Delays delays,
    Health health,
    Committer committer,
    MissedRunPolicy policy,
    EndRule rule,
    AttemptEndRecorder ends,
    PauseGate pauseGate) {

  public long nowMillis() {
    return clock.nowMillis();
  }
}
