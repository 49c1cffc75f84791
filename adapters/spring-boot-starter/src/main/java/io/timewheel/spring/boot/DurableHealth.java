// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.DurableStats;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.model.TimerState;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

/**
 * The health of the scheduler for durable timers. It is up if the store can be read and accepts
 * changes. Failed and blocked timers do not affect it, because neither a restart nor another node
 * would help: an operator must act on them.
 */
record DurableHealth(String status, Map<String, Object> details) {
  static final String FAILED = "the store of durable timers cannot be read";

  /** Reads the health from the store. Throws the exceptions of the store. */
  static DurableHealth of(DurableTimers timers) {
    DurableTimer timer = timers.inUse();
    if (timer == null) {
      return new DurableHealth("UNKNOWN", Map.of("timers", "not in use"));
    }
    Map<String, Object> details = new LinkedHashMap<>();
    Map<String, Map<TimerState, Long>> counts = timer.counts();
    for (TimerState state : TimerState.values()) {
      if (!state.isFinished()) {
        details.put(
            state.name().toLowerCase(Locale.ROOT),
            counts.values().stream().mapToLong(of -> of.getOrDefault(state, 0L)).sum());
      }
    }
    details.put("pausedNamespaces", new TreeSet<>(timer.paused()));
    DurableStats stats = timer.stats();
    details.put("maxLagMillis", stats.maxLagMillis());
    details.put("ownQueued", stats.ownQueued());
    details.put("failedCommits", stats.failedCommits());
    details.put("rejected", stats.rejected());
    if (!stats.storeAvailable()) {
      details.put("error", "the store of durable timers fails (see the log for the cause)");
    }
    return new DurableHealth(stats.storeAvailable() ? "UP" : "DOWN", details);
  }
}
