// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.health;

import io.timewheel.TimeSource;
import io.timewheel.durable.model.TimerKey;

/** What an operator sees of the engine: counters, warnings, and whether the store answers. */
public final class Health {
  /** Where counting dropped runs ends: a cron is counted run by run. */
  public static final int MAX_COUNTED_RUNS = 10_000;

  public final Counters counters = new Counters();
  public final OperatorLog operatorLog = new OperatorLog();

  /** Whether the store answers reads. */
  public final StoreHealth reading;

  /** Whether the store answers commits. */
  public final StoreHealth writing;

  public Health(TimeSource time) {
    reading = new StoreHealth(time);
    writing = new StoreHealth(time);
  }

  /** Counts and reports missed runs of a timer that are dropped. */
  public void dropped(TimerKey key, long runs) {
    if (runs > 0) {
      counters.skipped.add(runs);
      String many = runs == MAX_COUNTED_RUNS ? " or more" : "";
      operatorLog.add("behind", key, runs + many + " missed runs were dropped");
    }
  }

  public boolean isStoreAvailable() {
    return reading.isAvailable() && writing.isAvailable();
  }
}
