// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.load;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.HdrHistogram.Histogram;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What clients do to a server, and how it went. */
final class Workloads {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final int BATCH = 1_000;
  private static final int BATCH_CONNECTIONS = 4;
  private static final int CONSUMERS = 32;
  private static final int LOOKS = 1_000;

  /** With a lease that does not run out, however long this process stands still. */
  private static final String LAG_CLAIM = "{\"max\":10,\"wait\":\"PT1S\",\"lease\":\"PT1H\"}";

  private static final int PATIENCE_SECONDS = 50;
  private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final int DIGITS = 3;

  private final int port;
  private final int seconds;

  Workloads(int port, int seconds) {
    this.port = port;
    this.seconds = seconds;
  }

  // Many threads, a connection each

  private static <T> List<T> all(int threads, IntFunction<Callable<T>> tasks) throws Exception {
    ExecutorService pool =
        Executors.newFixedThreadPool(
            threads,
            task -> {
              Thread thread = new Thread(task, "load");
              thread.setDaemon(true);
              return thread;
            });
    try {
      List<Future<T>> begun = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        begun.add(pool.submit(tasks.apply(i)));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> each : begun) {
        results.add(each.get());
      }
      return results;
    } finally {
      pool.shutdownNow();
    }
  }

  private static Histogram histogram() {
    return new Histogram(LONGEST_NANOS, DIGITS);
  }

  private static Histogram sum(List<Histogram> parts) {
    Histogram sum = histogram();
    parts.forEach(sum::add);
    return sum;
  }

  // Timers

  private static String timer(Instant at, String queue) {
    return "\"at\":\""
        + at
        + "\",\"target\":{\"queue\":\""
        + queue
        + "\"},\"payload\":{\"order\":4711,\"reason\":\"not paid\"}}";
  }

  private static String timers(List<Instant> times, String prefix, String queue) {
    StringBuilder body = new StringBuilder("{\"timers\":[");
    for (int i = 0; i < times.size(); i++) {
      body.append(i == 0 ? "" : ",")
          .append("{\"id\":\"")
          .append(prefix)
          .append(i)
          .append("\",")
          .append(timer(times.get(i), queue));
    }
    return body.append("]}").toString();
  }

  private static void sendBatch(Wire wire, String namespace, String body, int size)
      throws IOException {
    String path = "/v1/namespaces/" + namespace + "/timers:batch";
    String answer = wire.send("POST", path, body).expect(200);
    int created = 0;
    for (int at = answer.indexOf("\"status\":201");
        at >= 0;
        at = answer.indexOf("\"status\":201", at + 1)) {
      created++;
    }
    if (created != size) {
      throw new IOException(created + " timers created, of " + size + ": " + answer);
    }
  }

  // Creates

  /** {@return how many timers a second are created in batches} */
  double batches() throws Exception {
    long beganNanos = System.nanoTime();
    List<Integer> made = all(BATCH_CONNECTIONS, number -> () -> batches(number, beganNanos));
    double tookSeconds = (System.nanoTime() - beganNanos) / 1e9;
    return made.stream().mapToInt(Integer::intValue).sum() / tookSeconds;
  }

  private int batches(int number, long beganNanos) throws IOException {
    Instant tomorrow = Instant.now().plus(1, ChronoUnit.DAYS).truncatedTo(ChronoUnit.SECONDS);
    int made = 0;
    try (Wire wire = new Wire(port)) {
      while (!isOver(beganNanos)) {
        List<Instant> times = new ArrayList<>();
        for (int i = 0; i < BATCH; i++) {
          times.add(tomorrow.plusMillis(i));
        }
        String prefix = "b" + number + "-" + made + "-";
        sendBatch(wire, "batches", timers(times, prefix, "load"), BATCH);
        made += BATCH;
      }
    }
    return made;
  }

  private boolean isOver(long beganNanos) {
    return System.nanoTime() - beganNanos >= TimeUnit.SECONDS.toNanos(seconds);
  }

  /** {@return how long it takes to create a timer, in nanoseconds} */
  Histogram singles(int connections) throws Exception {
    long beganNanos = System.nanoTime();
    return sum(all(connections, number -> () -> singles(number, beganNanos)));
  }

  private Histogram singles(int number, long beganNanos) throws IOException {
    Histogram took = histogram();
    String body = "{" + timer(Instant.now().plus(1, ChronoUnit.DAYS), "load");
    try (Wire wire = new Wire(port)) {
      for (int i = 0; !isOver(beganNanos); i++) {
        String path = "/v1/namespaces/singles/timers/s" + number + "-" + i;
        long sentNanos = System.nanoTime();
        wire.send("PUT", path, body).expect(201);
        took.recordValue(System.nanoTime() - sentNanos);
      }
    }
    return took;
  }

  // Lag

  /** {@return how long after its time a timer reaches a claim that waits, in microseconds} */
  Histogram lag(int rate) throws Exception {
    int count = rate * seconds;
    Instant first = Instant.now().plusSeconds(3 + count / 5_000L);
    try (Wire wire = new Wire(port)) {
      for (int i = 0; i < count; i += BATCH) {
        List<Instant> times = new ArrayList<>();
        for (int j = i; j < Math.min(count, i + BATCH); j++) {
          times.add(first.plus(Duration.ofSeconds(1).multipliedBy(j).dividedBy(rate)));
        }
        sendBatch(wire, "lag", timers(times, "t" + i + "-", "lag"), times.size());
      }
    }
    // Whatever was due before all were created shows as lag.
    AtomicInteger left = new AtomicInteger(count);
    return sum(all(CONSUMERS, number -> () -> consume(left)));
  }

  private Histogram consume(AtomicInteger left) throws IOException {
    Histogram lag = histogram();
    try (Wire wire = new Wire(port)) {
      while (left.get() > 0) {
        String path = "/v1/namespaces/lag/queues/lag/firings:claim";
        String body = wire.send("POST", path, LAG_CLAIM).expect(200);
        Instant now = Instant.now();
        for (JsonNode firing : JSON.readTree(body).get("firings")) {
          Instant due = Instant.parse(firing.get("scheduledAt").asString());
          lag.recordValue(Math.max(0, ChronoUnit.MICROS.between(due, now)));
          String fireId = firing.get("fireId").asString();
          String lease = "{\"lease\":\"" + firing.get("lease").asString() + "\"}";
          wire.send("POST", "/v1/namespaces/lag/firings/" + fireId + ":ack", lease).expect(200);
          left.decrementAndGet();
        }
      }
    }
    return lag;
  }

  // Crowds

  /** {@return how long an answer takes while connections are silent, in nanoseconds} */
  Histogram idle(int connections) throws IOException {
    Histogram took = histogram();
    try (Crowd silent = new Crowd(port);
        Wire wire = new Wire(port)) {
      for (int i = 0; i < connections; i++) {
        silent.add(new byte[0], "");
      }
      for (int i = 0; i < LOOKS; i++) {
        long sentNanos = System.nanoTime();
        wire.send("GET", "/healthz", "").expect(200);
        took.recordValue(System.nanoTime() - sentNanos);
      }
    }
    return took;
  }

  /**
   * What came of those who waited.
   *
   * @param answered how many claims were answered with a firing
   * @param millis how long after the timers were sent the last of them was
   * @param told how many streams were told of a change
   */
  record Waited(int answered, long millis, int told) {}

  Waited waiting(int claims, int streams) throws IOException {
    try (Crowd listening = new Crowd(port);
        Crowd waiting = new Crowd(port);
        Wire wire = new Wire(port)) {
      byte[] events = Wire.request("GET", "/v1/events", "");
      for (int i = 0; i < streams; i++) {
        listening.add(events, "\"change\":");
      }
      byte[] claim =
          Wire.request(
              "POST",
              "/v1/namespaces/crowd/queues/crowd/firings:claim",
              "{\"max\":1,\"wait\":\"PT1M\"}");
      for (int i = 0; i < claims; i++) {
        waiting.add(claim, "\"fireId\"");
      }
      long sentNanos = System.nanoTime();
      for (int i = 0; i < claims; i += BATCH) {
        List<Instant> times = new ArrayList<>();
        for (int j = i; j < Math.min(claims, i + BATCH); j++) {
          times.add(Instant.now());
        }
        sendBatch(wire, "crowd", timers(times, "c" + i + "-", "crowd"), times.size());
      }
      int answered = waiting.readUntil(got -> got >= claims || isTooLate(sentNanos));
      long tookNanos = System.nanoTime() - sentNanos;
      int told = listening.readUntil(got -> got >= streams || isTooLate(sentNanos));
      return new Waited(answered, TimeUnit.NANOSECONDS.toMillis(tookNanos), told);
    }
  }

  private static boolean isTooLate(long sinceNanos) {
    return System.nanoTime() - sinceNanos > TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
  }
}
