// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.document;

import io.timewheel.durable.DurableStats;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerState;
import io.timewheel.server.json.Json;
import io.timewheel.server.node.Node;
import io.timewheel.server.node.Traffic;
import io.timewheel.server.node.WatchedStore;
import io.timewheel.server.security.Scope;
import io.timewheel.server.store.StoreReads;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** The figures of this node, and the counts of the timers that a caller may see. */
public final class StatsView {
  private final Node node;

  public StatsView(Node node) {
    this.node = node;
  }

  /** What only the store knows. */
  private record Counted(Map<TimerState, Long> states, Set<String> paused, long overdue) {}

  /** {@return the figures as JSON} */
  public byte[] json(StoreReads reads, Scope scope, boolean minutes) {
    DurableTimer timer = reads.timer();
    Instant now = timer.now();
    Counted counted = count(reads, scope, now);
    DurableStats stats = timer.stats();
    return Json.bytes(
        json -> {
          json.writeStartObject();
          json.writeStringProperty("now", now.toString());
          self(json);
          json.writeBooleanProperty("storeAvailable", stats.storeAvailable() && counted != null);
          if (counted != null) {
            json.writeArrayPropertyStart("paused");
            counted.paused.forEach(json::writeString);
            json.writeEndArray();
            states(json, counted.states);
            json.writeNumberProperty("overdue", counted.overdue);
          }
          queues(json, stats);
          totals(json, stats);
          traffic(json);
          if (minutes) {
            minutes(json);
          }
          json.writeEndObject();
        });
  }

  /** Asks the store; null if it does not answer, which is a figure too. */
  private static @Nullable Counted count(StoreReads reads, Scope scope, Instant now) {
    try {
      Map<TimerState, Long> states = new EnumMap<>(TimerState.class);
      for (var counts : scope.of(reads.ask(DurableTimer::counts)).values()) {
        counts.forEach((state, count) -> states.merge(state, count, Long::sum));
      }
      Set<String> paused = new TreeSet<>();
      for (String name : reads.ask(DurableTimer::paused)) {
        if (name.isEmpty() || scope.sees(name)) {
          paused.add(name.isEmpty() ? "*" : name);
        }
      }
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

  public static void states(JsonGenerator json, Map<TimerState, Long> counts) {
    json.writeObjectPropertyStart("states");
    for (TimerState state : TimerState.values()) {
      json.writeNumberProperty(Json.name(state), counts.getOrDefault(state, 0L));
    }
    json.writeEndObject();
  }

  private void self(JsonGenerator json) {
    json.writeStringProperty("startedAt", node.startedAt().toString());
    String version = Node.version();
    if (version != null) {
      json.writeStringProperty("version", version);
    }
    json.writeStringProperty("node", node.id());
    WatchedStore store = node.store();
    if (store != null) {
      json.writeStringProperty("store", store.name());
    }
  }

  private static void queues(JsonGenerator json, DurableStats stats) {
    json.writeNumberProperty("window", stats.window());
    json.writeNumberProperty("backlog", stats.backlog());
    json.writeNumberProperty("waiting", stats.waiting());
    json.writeNumberProperty("running", stats.running());
    json.writeNumberProperty("queued", stats.queued());
    json.writeNumberProperty("ownQueued", stats.ownQueued());
  }

  private void totals(JsonGenerator json, DurableStats stats) {
    json.writeObjectPropertyStart("totals");
    json.writeNumberProperty("scheduled", node.traffic().scheduled.sum());
    json.writeNumberProperty("fired", node.traffic().fired.sum());
    json.writeNumberProperty("succeeded", node.traffic().succeeded.sum());
    json.writeNumberProperty("failed", node.traffic().failed.sum());
    json.writeNumberProperty("exhausted", node.traffic().exhausted.sum());
    json.writeNumberProperty("blocked", stats.blocked());
    json.writeNumberProperty("lost", stats.lost());
    json.writeNumberProperty("skipped", stats.skipped());
    json.writeNumberProperty("staleOwner", stats.staleOwner());
    json.writeNumberProperty("unknownOutcomes", stats.unknownOutcomes());
    json.writeNumberProperty("clockJumps", stats.clockJumps());
    json.writeEndObject();
  }

  private void traffic(JsonGenerator json) {
    Traffic.Rates rates = node.traffic().rates();
    json.writeObjectPropertyStart("rates");
    json.writeNumberProperty("scheduled", rates.scheduled());
    json.writeNumberProperty("fired", rates.fired());
    json.writeNumberProperty("failed", rates.failed());
    json.writeEndObject();
    Traffic.Lag lag = node.traffic().lag();
    json.writeObjectPropertyStart("lag");
    json.writeStringProperty("p50", lag.percentile(50).toString());
    json.writeStringProperty("p99", lag.percentile(99).toString());
    json.writeStringProperty("max", lag.max().toString());
    json.writeNumberProperty("count", lag.count());
    json.writeEndObject();
  }

  private void minutes(JsonGenerator json) {
    json.writeArrayPropertyStart("minutes");
    for (Traffic.Minute minute : node.traffic().minutes()) {
      json.writeStartObject();
      json.writeStringProperty("at", minute.at().toString());
      json.writeNumberProperty("scheduled", minute.scheduled());
      json.writeNumberProperty("fired", minute.fired());
      json.writeNumberProperty("failed", minute.failed());
      if (minute.lag().count() > 0) {
        json.writeStringProperty("lagP50", minute.lag().percentile(50).toString());
        json.writeStringProperty("lagP99", minute.lag().percentile(99).toString());
        json.writeStringProperty("lagMax", minute.lag().max().toString());
      }
      json.writeEndObject();
    }
    json.writeEndArray();
  }
}
