// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.timewheel.durable.DurableStats;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerState;
import io.timewheel.micrometer.DurableTimerMetrics;
import io.timewheel.server.Route.Role;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** How things stand: namespaces, counts, and the metrics for a monitor. */
final class ViewResource {
  private static final String METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final Supplier<DurableTimer> timers;
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private @Nullable DurableTimer measured;

  ViewResource(Supplier<DurableTimer> timers) {
    this.timers = timers;
  }

  void addTo(Api api) {
    api.add(Route.of("GET", "/v1/namespaces", Role.READ, this::namespaces));
    api.add(Route.of("GET", "/v1/stats", Role.READ, this::stats));
    api.add(Route.of("GET", "/metrics", Role.READ, this::metrics));
  }

  private void namespaces(Exchange exchange) {
    exchange.query();
    DurableTimer timer = timers.get();
    var counts = counts(timer, exchange.caller(), null);
    Set<String> paused = timer.paused();
    exchange.json(
        200,
        json -> {
          json.writeStartObject();
          json.writeArrayPropertyStart("namespaces");
          counts.forEach(
              (namespace, states) -> {
                json.writeStartObject();
                json.writeStringProperty("namespace", namespace);
                json.writeBooleanProperty(
                    "paused", paused.contains(namespace) || paused.contains(""));
                states(json, states);
                json.writeEndObject();
              });
          json.writeEndArray();
          json.writeEndObject();
        });
  }

  private static Map<String, Map<TimerState, Long>> counts(
      DurableTimer timer, Caller caller, @Nullable String only) {
    Map<String, Map<TimerState, Long>> counts = new TreeMap<>(timer.counts());
    counts.keySet().removeIf(name -> !caller.sees(name) || (only != null && !name.equals(only)));
    return counts;
  }

  private static void states(JsonGenerator json, Map<TimerState, Long> counts) {
    json.writeObjectPropertyStart("states");
    for (TimerState state : TimerState.values()) {
      json.writeNumberProperty(TimerView.name(state), counts.getOrDefault(state, 0L));
    }
    json.writeEndObject();
  }

  private void stats(Exchange exchange) {
    String only = exchange.query("namespace").text("namespace");
    Caller caller = exchange.caller();
    if (only != null) {
      caller.checkNamespace(Names.checked("namespace", only));
    }
    DurableTimer timer = timers.get();
    Map<TimerState, Long> sum = new TreeMap<>();
    counts(timer, caller, only)
        .values()
        .forEach(states -> states.forEach((state, count) -> sum.merge(state, count, Long::sum)));
    Set<String> paused = new TreeSet<>();
    for (String name : timer.paused()) {
      if (name.isEmpty() || caller.sees(name)) {
        paused.add(name.isEmpty() ? "*" : name);
      }
    }
    Instant now = timer.now();
    DurableStats stats = timer.stats();
    long overdue = overdue(timer, caller, only, now);
    exchange.json(
        200,
        json -> {
          json.writeStartObject();
          json.writeStringProperty("now", now.toString());
          json.writeBooleanProperty("storeAvailable", stats.storeAvailable());
          json.writeArrayPropertyStart("paused");
          paused.forEach(json::writeString);
          json.writeEndArray();
          states(json, sum);
          json.writeNumberProperty("overdue", overdue);
          figures(json, stats);
          json.writeEndObject();
        });
  }

  /** Timers that wait though their time was more than a second ago. */
  private static long overdue(
      DurableTimer timer, Caller caller, @Nullable String only, Instant now) {
    Instant late = now.minusSeconds(1);
    if (only != null || caller.namespaces().isEmpty()) {
      return timer.histogram(only, ListResource.BEGIN_OF_TIME, late, 1)[0];
    }
    return caller.namespaces().stream()
        .mapToLong(name -> timer.histogram(name, ListResource.BEGIN_OF_TIME, late, 1)[0])
        .sum();
  }

  /** Those of this node, whatever the namespace. */
  private static void figures(JsonGenerator json, DurableStats stats) {
    json.writeNumberProperty("window", stats.window());
    json.writeNumberProperty("backlog", stats.backlog());
    json.writeNumberProperty("waiting", stats.waiting());
    json.writeNumberProperty("running", stats.running());
    json.writeNumberProperty("queued", stats.queued());
    json.writeNumberProperty("ownQueued", stats.ownQueued());
    json.writeObjectPropertyStart("totals");
    json.writeNumberProperty("fired", stats.fired());
    json.writeNumberProperty("succeeded", stats.succeeded());
    json.writeNumberProperty("failed", stats.failed());
    json.writeNumberProperty("setAside", stats.setAside());
    json.writeNumberProperty("parked", stats.parked());
    json.writeNumberProperty("lost", stats.lost());
    json.writeNumberProperty("skipped", stats.skipped());
    json.writeNumberProperty("staleOwner", stats.staleOwner());
    json.writeNumberProperty("unknownOutcomes", stats.unknownOutcomes());
    json.writeNumberProperty("clockJumps", stats.clockJumps());
    json.writeEndObject();
  }

  private void metrics(Exchange exchange) {
    exchange.query();
    measure(timers.get());
    exchange.send(200, METRICS_TYPE, registry.scrape().getBytes(StandardCharsets.UTF_8));
  }

  private synchronized void measure(DurableTimer timer) {
    if (measured == null) {
      measured = timer;
      new DurableTimerMetrics(timer, "server").bindTo(registry);
    }
  }
}
