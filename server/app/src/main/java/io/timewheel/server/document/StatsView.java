// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.document;

import io.timewheel.api.StatsAnswer;
import io.timewheel.durable.DurableStats;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerState;
import io.timewheel.server.json.Json;
import io.timewheel.server.node.NamespaceTraffic;
import io.timewheel.server.node.Node;
import io.timewheel.server.node.WatchedStore;
import io.timewheel.server.security.Scope;
import io.timewheel.server.store.StoreReads;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Returns the figures of this node, and the counts of the timers that a caller may see. */
public final class StatsView {
  /** Each event stream receives the figures once a second. */
  private static final int MAX_PAUSED = 100;

  private final Node node;

  public StatsView(Node node) {
    this.node = node;
  }

  /** The figures that only the store can return. */
  private record Counted(Map<TimerState, Long> states, List<String> paused, long overdue) {}

  /** {@return the figures} */
  public StatsAnswer answer(StoreReads reads, Scope scope, boolean withMinutes) {
    DurableTimer timer = reads.timer();
    Instant now = timer.now();
    Counted counted = count(reads, scope, now);
    DurableStats stats = timer.stats();
    WatchedStore store = node.store();
    boolean all = scope.namespaces() == null;
    NamespaceTraffic.Seen traffic = node.namespaceTraffic().of(scope.namespaces(), now);
    return new StatsAnswer(
        now,
        node.startedAt(),
        Node.version(),
        node.id(),
        store == null ? null : store.name(),
        stats.storeAvailable() && counted != null,
        counted == null ? null : counted.paused,
        counted == null ? null : states(counted.states),
        counted == null ? null : counted.overdue,
        all ? stats.window() : null,
        all ? stats.backlog() : null,
        all ? stats.waiting() : null,
        all ? stats.running() : null,
        all ? stats.queued() : null,
        all ? stats.ownQueued() : null,
        all ? totals(stats) : null,
        traffic == null ? null : traffic.rates(),
        traffic == null ? null : traffic.lag().answer(),
        traffic == null || !withMinutes ? null : traffic.minutes());
  }

  /** Asks the store. Returns null if the store does not answer, which the figures report. */
  private static @Nullable Counted count(StoreReads reads, Scope scope, Instant now) {
    try {
      Map<TimerState, Long> states = reads.states(scope);
      List<String> paused =
          reads.ask(DurableTimer::paused).stream()
              .filter(name -> name.isEmpty() || scope.sees(name))
              .sorted() // the global pause is first
              .limit(MAX_PAUSED)
              .map(name -> name.isEmpty() ? "*" : name)
              .toList();
      Instant late = now.minusSeconds(1);
      long overdue = reads.histogram(scope, StoreReads.BEGIN_OF_TIME, late, 1)[0];
      return new Counted(states, paused, overdue);
    } catch (DurableTimerException e) {
      if (e.reason() == DurableTimerException.Reason.STORE_UNAVAILABLE) {
        return null;
      }
      throw e;
    }
  }

  /** {@return the number of timers in each state, by name} */
  public static Map<String, Long> states(Map<TimerState, Long> counts) {
    Map<String, Long> states = new LinkedHashMap<>();
    for (TimerState state : TimerState.values()) {
      states.put(Json.name(state), counts.getOrDefault(state, 0L));
    }
    return states;
  }

  private StatsAnswer.Totals totals(DurableStats stats) {
    return new StatsAnswer.Totals(
        node.traffic().scheduled.sum(),
        node.traffic().fired.sum(),
        node.traffic().succeeded.sum(),
        node.traffic().failed.sum(),
        node.traffic().exhausted.sum(),
        stats.blocked(),
        stats.lost(),
        stats.skipped(),
        stats.staleOwner(),
        stats.unknownOutcomes(),
        stats.clockJumps());
  }
}
