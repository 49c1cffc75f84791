// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.load;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.regex.Pattern;
import org.HdrHistogram.Histogram;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The workloads of clients. Each workload fails if any answer is not the expected one. */
final class Workloads {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final int BATCH = 1_000;
  private static final int BATCH_CONNECTIONS = 4;
  private static final int CONSUMERS = 32;
  private static final int LOOKS = 1_000;

  /** The duration of a claim lease: long enough for a stall of this process. */
  private static final String LAG_CLAIM =
      "{\"max\":10,\"wait\":\"PT1S\",\"leaseDuration\":\"PT1H\"}";

  private static final String CROWD_CLAIM =
      "{\"max\":1,\"wait\":\"PT1M\",\"leaseDuration\":\"PT1H\"}";
  private static final Pattern CREATED = Pattern.compile("\"status\":201\\b");
  private static final Pattern OPEN = Pattern.compile("^HTTP/1\\.1 200 ");
  private static final Pattern CHANGE = Pattern.compile("\"change\":");
  private static final Pattern FIRE_ID = Pattern.compile("\"fireId\":\"[^\"]+\"");

  private final ServerProcess server;
  private final Map<String, Double> figures;

  /**
   * Creates workloads for a server.
   *
   * @param figures receives the figures
   */
  Workloads(ServerProcess server, Map<String, Double> figures) {
    this.server = server;
    this.figures = figures;
  }

  /** Runs every workload that has a target, one after the other. */
  void all(int seconds) throws Exception {
    batches("warm-up", seconds);
    batches("batches", seconds);
    singles("warm-up", 32, seconds);
    singles("singles", 32, seconds);
    lag("warm-up", 1_000, seconds);
    lag("lag", 1_000, seconds);
    crowd(10_000, 1_000, Duration.ofSeconds(5));
    silent(10_000);
    figures.put("peakMegabytes", server.peakMegabytes());
  }

  // Creates

  /** {@return the number of timers that were created, in batches} */
  int batches(String namespace, int seconds) throws Exception {
    long cpuMicros = server.cpuMicros();
    long beganNanos = System.nanoTime();
    long untilNanos = beganNanos + TimeUnit.SECONDS.toNanos(seconds);
    List<Integer> each =
        together(BATCH_CONNECTIONS, number -> () -> batches(namespace, number, untilNanos));
    int created = each.stream().mapToInt(Integer::intValue).sum();
    rate(namespace, created, beganNanos, cpuMicros);
    return created;
  }

  private int batches(String namespace, int number, long untilNanos) throws IOException {
    int created = 0;
    try (Wire wire = new Wire(server.port())) {
      while (System.nanoTime() - untilNanos < 0) {
        Instant tomorrow = Instant.now().plus(1, ChronoUnit.DAYS);
        createAll(
            wire, namespace, "b" + number + "-" + created + "-", tomorrow, Duration.ZERO, BATCH);
        created += BATCH;
      }
    }
    return created;
  }

  /** Creates timers in one queue, the name of the namespace, at regular intervals. */
  private static void createAll(
      Wire wire, String namespace, String prefix, Instant first, Duration interval, int count)
      throws IOException {
    StringBuilder body = new StringBuilder("{\"timers\":[");
    for (int i = 0; i < count; i++) {
      body.append(i == 0 ? "" : ",")
          .append("{\"id\":\"" + prefix + i + "\",")
          .append(timer(first.plus(interval.multipliedBy(i)), namespace));
    }
    String path = "/v1/namespaces/" + namespace + "/timers:batch";
    String answer = wire.send("POST", path, body.append("]}").toString()).expect(200);
    long created = CREATED.matcher(answer).results().count();
    if (created != count) {
      throw new IOException(created + " timers created, of " + count + ": " + answer);
    }
  }

  private static String timer(Instant at, String queue) {
    return "\"at\":\""
        + at
        + "\",\"target\":{\"queue\":\""
        + queue
        + "\"},\"payload\":{\"order\":4711,\"reason\":\"not paid\"}}";
  }

  /** {@return the response times of all timers that were created one by one} */
  Histogram singles(String namespace, int connections, int seconds) throws Exception {
    long cpuMicros = server.cpuMicros();
    long beganNanos = System.nanoTime();
    long untilNanos = beganNanos + TimeUnit.SECONDS.toNanos(seconds);
    Histogram took =
        sum(together(connections, number -> () -> singles(namespace, number, untilNanos)));
    rate(namespace, took.getTotalCount(), beganNanos, cpuMicros);
    latency(namespace, took);
    return took;
  }

  private Histogram singles(String namespace, int number, long untilNanos) throws IOException {
    Histogram took = micros();
    String body = "{" + timer(Instant.now().plus(1, ChronoUnit.DAYS), namespace);
    try (Wire wire = new Wire(server.port())) {
      for (int i = 0; System.nanoTime() - untilNanos < 0; i++) {
        String path = "/v1/namespaces/" + namespace + "/timers/s" + number + "-" + i;
        long sentNanos = System.nanoTime();
        wire.send("PUT", path, body).expect(201);
        took.recordValue(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - sentNanos));
      }
    }
    return took;
  }

  // Lag

  /** {@return the time from the due time of each timer until a waiting claim received it} */
  Histogram lag(String namespace, int perSecond, int seconds) throws Exception {
    int count = perSecond * seconds;
    // Timers that are due before all are created would add to the lag.
    Instant first = Instant.now().plusSeconds(3);
    Duration interval = Duration.ofSeconds(1).dividedBy(perSecond);
    try (Wire wire = new Wire(server.port())) {
      for (int i = 0; i < count; i += BATCH) {
        Instant from = first.plus(interval.multipliedBy(i));
        createAll(wire, namespace, "t" + i + "-", from, interval, Math.min(BATCH, count - i));
      }
    }
    Set<String> seen = ConcurrentHashMap.newKeySet();
    Histogram lag = sum(together(CONSUMERS, number -> () -> consume(namespace, seen, count)));
    latency(namespace, lag);
    return lag;
  }

  private Histogram consume(String namespace, Set<String> seen, int count) throws IOException {
    Histogram lag = micros();
    String base = "/v1/namespaces/" + namespace;
    try (Wire wire = new Wire(server.port())) {
      while (seen.size() < count) {
        String claim = base + "/queues/" + namespace + "/firings:claim";
        String body = wire.send("POST", claim, LAG_CLAIM).expect(200);
        Instant now = Instant.now();
        for (JsonNode firing : JSON.readTree(body).get("firings")) {
          Instant due = Instant.parse(firing.get("scheduledAt").asString());
          lag.recordValue(Math.max(0, ChronoUnit.MICROS.between(due, now)));
          String fireId = firing.get("fireId").asString();
          String lease = "{\"leaseToken\":\"" + firing.get("leaseToken").asString() + "\"}";
          wire.send("POST", base + "/firings/" + fireId + ":ack", lease).expect(200);
          if (!seen.add(fireId)) {
            throw new IOException("claimed twice: " + fireId);
          }
        }
      }
    }
    return lag;
  }

  // Crowds

  /**
   * Runs waiting claims and event streams at the same time.
   *
   * @param claims the number of claims, for one timer each
   * @param streams the number of streams that receive the changes
   * @param settle the time from the creation of the timers until they are due
   */
  void crowd(int claims, int streams, Duration settle) throws IOException {
    try (Crowd listening = new Crowd(server.port());
        Crowd waiting = new Crowd(server.port());
        Wire wire = new Wire(server.port())) {
      listening.add(streams, Wire.request("GET", "/v1/events", ""));
      listening.await(OPEN);
      String claim = "/v1/namespaces/crowd/queues/crowd/firings:claim";
      waiting.add(claims, Wire.request("POST", claim, CROWD_CLAIM));
      Instant due = Instant.now().plus(settle);
      for (int i = 0; i < claims; i += BATCH) {
        int count = Math.min(BATCH, claims - i);
        createAll(wire, "crowd", "c" + i + "-", due, Duration.ZERO, count);
      }
      Set<String> fireIds = new HashSet<>(waiting.await(FIRE_ID));
      figures.put("crowd.lastMillis", (double) ChronoUnit.MILLIS.between(due, Instant.now()));
      if (fireIds.size() != claims) {
        throw new IOException(claims + " claims got " + fireIds.size() + " timers");
      }
      listening.await(CHANGE);
    }
  }

  /** Sends requests while many silent connections are open. */
  void silent(int connections) throws IOException {
    Histogram took = micros();
    try (Crowd silent = new Crowd(server.port())) {
      silent.add(connections, new byte[0]);
      try (Wire wire = new Wire(server.port())) {
        for (int i = 0; i < LOOKS; i++) {
          long sentNanos = System.nanoTime();
          wire.send("GET", "/healthz", "").expect(200);
          took.recordValue(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - sentNanos));
        }
      }
    }
    latency("idle", took);
  }

  // Threads and their measurements

  private static <T> List<T> together(int threads, IntFunction<Callable<T>> tasks)
      throws Exception {
    ExecutorService pool =
        Executors.newFixedThreadPool(
            threads,
            task -> {
              Thread thread = new Thread(task, "load");
              thread.setDaemon(true);
              return thread;
            });
    try {
      ExecutorCompletionService<T> ended = new ExecutorCompletionService<>(pool);
      for (int i = 0; i < threads; i++) {
        ended.submit(tasks.apply(i));
      }
      List<T> results = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        // In the order of completion, because a thread may wait forever for a failed one.
        results.add(ended.take().get());
      }
      return results;
    } finally {
      pool.shutdownNow();
    }
  }

  /** Returns a histogram of times in microseconds, up to minutes. */
  private static Histogram micros() {
    return new Histogram(TimeUnit.HOURS.toMicros(1), 3);
  }

  private static Histogram sum(List<Histogram> parts) {
    Histogram sum = micros();
    parts.forEach(sum::add);
    return sum;
  }

  private void rate(String name, long count, long beganNanos, long cpuMicrosBefore) {
    figures.put(name + ".perSecond", count * 1e9 / (System.nanoTime() - beganNanos));
    figures.put(name + ".cpuMicros", (server.cpuMicros() - cpuMicrosBefore) / (double) count);
  }

  private void latency(String name, Histogram micros) {
    figures.put(name + ".p50Millis", micros.getValueAtPercentile(50) / 1e3);
    figures.put(name + ".p99Millis", micros.getValueAtPercentile(99) / 1e3);
    figures.put(name + ".maxMillis", micros.getMaxValue() / 1e3);
  }
}
