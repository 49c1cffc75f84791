// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.health;

import io.timewheel.TimeSource;
import io.timewheel.durable.model.StackTraces;
import io.timewheel.durable.model.TimerKey;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The state of the engine for operators: counters, warnings, and whether the store answers. */
public final class Health {
  /**
   * The largest number of dropped runs that are counted at once, because a cron is counted run by
   * run.
   */
  public static final int MAX_COUNTED_RUNS = 10_000;

  /** Bounds the memory of {@link #overrun}. */
  private static final int MAX_OVERRUN = 1_000;

  public final Counters counters = new Counters();
  public final OperatorLog operatorLog = new OperatorLog();
  public final FailureLog failures;

  /** The health of reads from the store. */
  public final StoreHealth reading;

  /** The health of commits to the store. */
  public final StoreHealth writing;

  /** The timers whose runs take longer than their period. */
  private final Set<TimerKey> overrun = ConcurrentHashMap.newKeySet();

  /**
   * @param traces the failed attempts whose stack traces are logged
   */
  public Health(TimeSource time, StackTraces traces) {
    failures = new FailureLog(operatorLog, traces);
    reading = new StoreHealth(time);
    writing = new StoreHealth(time);
  }

  /** Counts missed runs that are dropped because a run has ended too late. Logs a timer once. */
  public void overrun(TimerKey key, long runs) {
    if (runs > 0) {
      counters.skipped.add(runs);
      if (overrun.size() < MAX_OVERRUN && overrun.add(key)) {
        operatorLog.add(
            "runs take longer than the period",
            key,
            "missed runs are dropped. Logged once for each timer. Schedule it less often, or make"
                + " its handler faster");
      }
    }
  }

  /** Counts and reports missed runs of a timer that are dropped. */
  public void dropped(TimerKey key, long runs) {
    if (runs > 0) {
      counters.skipped.add(runs);
      String many = runs == MAX_COUNTED_RUNS ? " or more" : "";
      operatorLog.add("behind", key, "missed runs dropped: " + runs + many);
    }
  }

  public boolean isStoreAvailable() {
    return reading.isAvailable() && writing.isAvailable();
  }
}
