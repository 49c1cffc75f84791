// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The timers of a test, and the API's answers about many of them. */
final class LaidTimers {
  static final JsonMapper JSON = new JsonMapper();

  private static final List<String> STATES =
      List.of(
          "scheduled",
          "ready",
          "running",
          "retrying",
          "failed",
          "blocked",
          "paused",
          "completed",
          "cancelled");

  private final Map<List<String>, ObjectNode> timers =
      new ConcurrentSkipListMap<>((a, b) -> String.join("\0", a).compareTo(String.join("\0", b)));
  private final AtomicLong version = new AtomicLong();

  /** The figures except the counts of the timers. */
  volatile String figures = "{}";

  /** Adds a timer. Absent fields get default values. */
  ObjectNode put(String namespace, String id, String json) {
    ObjectNode timer = (ObjectNode) JSON.readTree(json);
    String now = Instant.now().toString();
    Map<String, String> absent = new LinkedHashMap<>();
    absent.put("state", "scheduled");
    absent.put("dueAt", timer.path("at").asString("2099-06-01T09:30:00Z"));
    absent.put("createdAt", now);
    absent.put("missed", "fire_once");
    absent.forEach((name, value) -> timer.put(name, timer.path(name).asString(value)));
    timer.put("namespace", namespace).put("id", id).put("version", version.incrementAndGet());
    timer.remove("after");
    timers.put(List.of(namespace, id), timer);
    return timer;
  }

  @Nullable ObjectNode find(String namespace, String id) {
    return timers.get(List.of(namespace, id));
  }

  ObjectNode get(String namespace, String id) {
    return requireNonNull(find(namespace, id), id);
  }

  Stream<String> namespaces() {
    return timers.keySet().stream().map(key -> key.get(0)).distinct();
  }

  /** {@return the timers that match a filter, ordered by ID} */
  Stream<ObjectNode> matching(String namespace, Map<String, String> filter) {
    String wanted = filter.getOrDefault("state", String.join(",", STATES.subList(0, 7)));
    List<String> states = wanted.equals("all") ? STATES : List.of(wanted.split(","));
    Instant from = Instant.parse(filter.getOrDefault("dueFrom", "1970-01-01T00:00:00Z"));
    Instant to = Instant.parse(filter.getOrDefault("dueTo", "9999-01-01T00:00:00Z"));
    boolean anyTime = !filter.containsKey("dueFrom") && !filter.containsKey("dueTo");
    return of(namespace)
        .filter(timer -> states.contains(text(timer, "state")))
        .filter(timer -> text(timer, "id").startsWith(filter.getOrDefault("prefix", "")))
        .filter(
            timer ->
                !filter.containsKey("queue")
                    || text(timer.path("target"), "queue").equals(filter.get("queue")))
        .filter(timer -> anyTime || (!due(timer).isBefore(from) && due(timer).isBefore(to)));
  }

  private Stream<ObjectNode> of(String namespace) {
    return timers.values().stream()
        .filter(timer -> namespace.isEmpty() || text(timer, "namespace").equals(namespace));
  }

  /** The paused queues, each as namespace and name. */
  final Set<List<String>> pausedQueues = ConcurrentHashMap.newKeySet();

  /** {@return the queues of a namespace, with the counts of their timers} */
  ObjectNode queues(String namespace) {
    Map<String, List<ObjectNode>> queues =
        of(namespace)
            .filter(timer -> timer.path("target").has("queue"))
            .collect(
                groupingBy(timer -> text(timer.path("target"), "queue"), TreeMap::new, toList()));
    ObjectNode answer = JSON.createObjectNode();
    ArrayNode list = answer.putArray("queues");
    queues.forEach(
        (name, all) -> {
          List<Instant> ready =
              all.stream()
                  .filter(timer -> text(timer, "state").equals("ready"))
                  .map(LaidTimers::due)
                  .sorted()
                  .toList();
          ObjectNode queue = list.addObject().put("name", name).put("ready", ready.size());
          if (!ready.isEmpty()) {
            queue.put("oldestReadyAt", ready.get(0).toString());
          }
          long running = all.stream().filter(t -> text(t, "state").equals("running")).count();
          queue.put("running", running).put("waitingClaims", 0);
          queue.put("paused", pausedQueues.contains(List.of(namespace, name)));
        });
    return answer;
  }

  ObjectNode states(String namespace) {
    Map<String, Long> counts =
        of(namespace).collect(groupingBy(timer -> text(timer, "state"), counting()));
    ObjectNode states = JSON.createObjectNode();
    STATES.forEach(state -> states.put(state, counts.getOrDefault(state, 0L)));
    return states;
  }

  ObjectNode stats(String namespace) {
    ObjectNode stats =
        JSON.createObjectNode().put("now", Instant.now().toString()).put("storeAvailable", true);
    stats.set("states", states(namespace));
    stats.putObject("rates").put("scheduled", 12.5).put("fired", 3.0).put("failed", 0.0);
    stats
        .putObject("lag")
        .put("count", 90)
        .put("p50", "PT0.002S")
        .put("p99", "PT0.02S")
        .put("max", "PT0.4S");
    ArrayNode minutes = stats.putArray("minutes");
    Instant first = Instant.now().truncatedTo(ChronoUnit.MINUTES).minusSeconds(59 * 60);
    for (int i = 0; i < 60; i++) {
      minutes
          .addObject()
          .put("at", first.plusSeconds(60L * i).toString())
          .put("lagP50", "PT0.002S")
          .put("scheduled", i)
          .put("fired", i % 7)
          .put("failed", i == 9 ? 4 : 0)
          .put("lagP99", "PT0.0" + (10 + i) + "S");
    }
    return stats.setAll((ObjectNode) JSON.readTree(figures));
  }

  ObjectNode wheel(String namespace) {
    Instant now = Instant.now();
    ObjectNode wheel =
        JSON.createObjectNode().put("now", now.toString()).put("overdue", 0).put("beyond", 0);
    ArrayNode levels = wheel.putArray("levels");
    Map<Duration, Integer> slots = new LinkedHashMap<>();
    slots.put(Duration.ofSeconds(1), 60);
    slots.put(Duration.ofMinutes(1), 60);
    slots.put(Duration.ofHours(1), 24);
    slots.put(Duration.ofDays(1), 366);
    slots.forEach(
        (slot, count) -> {
          long from = now.toEpochMilli() / slot.toMillis() * slot.toMillis();
          long[] counts = new long[count];
          of(namespace)
              .filter(timer -> text(timer, "state").equals("scheduled"))
              .mapToLong(timer -> Math.floorDiv(due(timer).toEpochMilli() - from, slot.toMillis()))
              .filter(at -> at >= 0 && at < count)
              .forEach(at -> counts[(int) at]++);
          ObjectNode level = levels.addObject().put("from", Instant.ofEpochMilli(from).toString());
          ArrayNode all = level.putArray("counts");
          Arrays.stream(counts).forEach(all::add);
        });
    return wheel;
  }

  static Instant due(ObjectNode timer) {
    return Instant.parse(text(timer, "dueAt"));
  }

  static String text(JsonNode node, String name) {
    return node.path(name).asString("");
  }
}
