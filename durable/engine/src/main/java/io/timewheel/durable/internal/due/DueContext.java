// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.internal.commit.Delays;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.health.Health;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.spi.TimerStore;

/**
 * The parts of the engine that all shards use.
 *
 * @param lookAtClock checks whether the clock has jumped, before a read that uses the present time
 */
public record DueContext(
    TimerStore store,
    EngineClock clock,
    Delays delays,
    StoreTasks tasks,
    Health health,
    DueSink sink,
    LocalHandlers handlers,
    Runnable lookAtClock) {

  long nowMillis() {
    return clock.nowMillis();
  }

  /** Returns how long before its time an attempt is claimed. */
  long claimAheadMillis() {
    return store.traits().claimAhead().toMillis();
  }
}
