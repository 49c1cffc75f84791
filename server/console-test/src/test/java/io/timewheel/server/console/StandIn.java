// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import static io.timewheel.server.console.LaidTimers.JSON;
import static io.timewheel.server.console.LaidTimers.text;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A stand-in for the API, which answers the console with the timers of a test. So tests can show
 * states that a server reaches only after faults. No timer fires.
 */
final class StandIn implements AutoCloseable {
  static {
    // Otherwise each answer waits for the delayed TCP acknowledgement of its headers.
    System.setProperty("sun.net.httpserver.nodelay", "true");
  }

  private static final String FILES = "/io/timewheel/server/console/";
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src"
          + " 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  private static final Map<String, String> TYPES =
      Map.of(
          "js", "text/javascript",
          "css", "text/css",
          "svg", "image/svg+xml",
          "html", "text/html; charset=utf-8");
  private static final Map<String, String> VERBS =
      Map.of(
          "pause", "paused",
          "resume", "scheduled",
          "retry", "ready",
          "run", "ready",
          "cancel", "cancelled");

  /** A connection that receives events. */
  private record Listener(OutputStream body, String namespace) {}

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
  private final List<Listener> listeners = new ArrayList<>(); // guarded by itself

  /** The timers of the answers. */
  final LaidTimers timers = new LaidTimers();

  private volatile String cluster =
      """
      {"store":"rocksdb","shared":false,"shards":[{"shard":0,"owner":"node-1","epoch":4}],
       "nodes":[{"id":"node-1","self":true,"alive":true,"clockOffset":"PT0S","handlers":["webhook"]}]}
      """;

  private volatile boolean away;

  /** The lists that the next pages continue: to filter again for each page would take seconds. */
  private final Map<String, List<ObjectNode>> listed = new ConcurrentHashMap<>();

  /** The number of requests for a list of timers. */
  final AtomicInteger lists = new AtomicInteger();

  /** Answers to such requests wait for it. */
  volatile CountDownLatch answersOfLists = new CountDownLatch(0);

  /** The seconds for which this runs. */
  final AtomicInteger seconds = new AtomicInteger();

  /** The reason for refusing all requests about timers; empty to accept them. */
  volatile String refusal = "";

  /** The last schedule that was previewed. */
  private volatile String previewed = "";

  /** The required token; empty for none. */
  volatile String token = "";

  StandIn() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::serve);
    server.start();
    var unused = clock.scheduleWithFixedDelay(this::emitStats, 1, 1, SECONDS);
  }

  String previewed() {
    return previewed;
  }

  String address() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  @Override
  public void close() {
    clock.shutdownNow();
    server.stop(0);
    threads.shutdownNow();
  }

  /** Closes each request without an answer, like a dead process, or answers again. */
  void goAway(boolean gone) throws IOException {
    away = gone;
    synchronized (listeners) {
      for (Listener listener : listeners) {
        listener.body.close();
      }
      listeners.clear();
    }
  }

  /** Changes the state of the cluster, and sends an event. */
  void becomeCluster(String json) {
    cluster = json;
    emit("cluster", json);
  }

  // Timers

  /** Changes a timer, and sends an event. */
  void become(ObjectNode timer, String state) {
    timer.put("state", state);
    tell(timer, state);
  }

  void tell(ObjectNode timer, String change) {
    ObjectNode event = JSON.createObjectNode().put("change", change);
    for (String name : List.of("namespace", "id", "state")) {
      event.put(name, text(timer, name));
    }
    emit("timer", event.toString());
  }

  private void emit(String type, String json) {
    synchronized (listeners) {
      listeners.removeIf(listener -> !written(listener, type, json));
    }
  }

  private void emitStats() {
    seconds.incrementAndGet();
    synchronized (listeners) {
      listeners.removeIf(each -> !written(each, "stats", timers.stats(each.namespace).toString()));
    }
  }

  /** {@return whether the page still has the connection} */
  private static boolean written(Listener listener, String type, String json) {
    String event = "event: " + type + "\ndata: " + json.replace("\n", "") + "\n\n";
    try {
      listener.body.write(event.getBytes(UTF_8));
      listener.body.flush();
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  // Answers

  private void serve(HttpExchange exchange) throws IOException {
    try {
      if (away) {
        exchange.close();
      } else {
        answer(exchange);
      }
    } catch (RuntimeException e) {
      problem(exchange, 500, "The stand-in: " + e, 0);
    }
  }

  private void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getRawPath();
    String wanted = token.isEmpty() ? null : "Bearer " + token;
    if (path.equals("/") || path.startsWith("/console/")) {
      file(exchange, path.equals("/") ? "index.html" : path.substring("/console/".length()));
    } else if (wanted != null
        && !wanted.equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
      problem(exchange, 401, "A token is wanted.", 0);
    } else if (path.equals("/v1/events")) {
      Listener listener =
          new Listener(exchange.getResponseBody(), query(exchange).getOrDefault("namespace", ""));
      exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
      // Under the lock, so that a live console receives the next event.
      synchronized (listeners) {
        exchange.sendResponseHeaders(200, 0);
        listeners.add(listener);
        written(listener, "stats", timers.stats(listener.namespace).toString());
      }
    } else if (!refusal.isEmpty()) {
      problem(exchange, 503, refusal, 0);
    } else {
      answer(exchange, path, query(exchange));
    }
  }

  private static void file(HttpExchange exchange, String name) throws IOException {
    try (InputStream file = StandIn.class.getResourceAsStream(FILES + name)) {
      byte[] content =
          file == null ? "There is no such file.".getBytes(UTF_8) : file.readAllBytes();
      String type = TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1), "text/plain");
      exchange.getResponseHeaders().set("Content-Security-Policy", POLICY);
      exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
      send(exchange, file == null ? 404 : 200, type, content);
    }
  }

  private void answer(HttpExchange exchange, String path, Map<String, String> query)
      throws IOException {
    String namespace = query.getOrDefault("namespace", "");
    List<String> parts = Arrays.stream(path.split("/")).skip(2).toList();
    String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
    switch (parts.get(0)) {
      case "stats" -> json(exchange, timers.stats(namespace));
      case "wheel" -> json(exchange, timers.wheel(namespace));
      case "schedules:preview" -> preview(exchange, (ObjectNode) JSON.readTree(body));
      case "cluster" -> json(exchange, (ObjectNode) JSON.readTree(cluster));
      default -> {
        if (parts.size() == 1) {
          namespaces(exchange);
        } else if (parts.size() == 2) {
          pauseNamespace(exchange, parts.get(1));
        } else if (parts.get(2).equals("queues")) {
          queues(exchange, decode(parts.get(1)), parts.size() == 3 ? "" : parts.get(3));
        } else if (parts.size() == 3) {
          many(exchange, decode(parts.get(1)), parts.get(2), query, body);
        } else {
          one(exchange, decode(parts.get(1)), parts.get(3), body);
        }
      }
    }
  }

  private void one(HttpExchange exchange, String namespace, String last, String body)
      throws IOException {
    int colon = last.lastIndexOf(':');
    String id = decode(colon < 0 ? last : last.substring(0, colon));
    ObjectNode timer = timers.find(namespace, id);
    if (exchange.getRequestMethod().equals("PUT")) {
      if (timer != null && exchange.getRequestHeaders().containsKey("If-None-Match")) {
        problem(exchange, 412, "It exists.", 0);
        return;
      }
      json(exchange, timers.put(namespace, id, body));
      return;
    }
    if (timer == null) {
      problem(exchange, 404, "There is no such timer.", 0);
    } else if (exchange.getRequestMethod().equals("DELETE")) {
      become(timer, "cancelled");
      json(exchange, JSON.createObjectNode().put("outcome", "cancelled"));
    } else {
      if (colon >= 0) {
        become(timer, VERBS.get(last.substring(colon + 1)));
      }
      json(exchange, timer);
    }
  }

  private void many(
      HttpExchange exchange, String namespace, String last, Map<String, String> query, String body)
      throws IOException {
    if (last.equals("timers")) {
      ArrayNode list = JSON.createArrayNode();
      int from = Integer.parseInt(query.getOrDefault("pageToken", "0"));
      int size = Integer.parseInt(query.getOrDefault("pageSize", "100"));
      lists.incrementAndGet();
      awaitAnswersOfLists();
      Map<String, String> asked = new TreeMap<>(query);
      asked.keySet().removeAll(List.of("pageToken", "pageSize"));
      List<ObjectNode> found =
          listed.compute(
              namespace + asked,
              (same, known) ->
                  from == 0 || known == null ? timers.matching(namespace, query).toList() : known);
      found.stream().skip(from).limit(size).forEach(list::add);
      ObjectNode page = JSON.createObjectNode().set("timers", list).asObject();
      if (from + size < found.size()) {
        page.put("nextPageToken", String.valueOf(from + size));
      }
      json(exchange, page);
      return;
    }
    ObjectNode asked = (ObjectNode) JSON.readTree(body);
    Map<String, String> filter = new LinkedHashMap<>();
    asked
        .path("filter")
        .properties()
        .forEach(field -> filter.put(field.getKey(), field.getValue().asString()));
    List<ObjectNode> found = timers.matching(namespace, filter).toList();
    if (found.size() != asked.path("expect").asInt()) {
      problem(exchange, 409, "The count differs.", found.size());
      return;
    }
    found.forEach(timer -> become(timer, VERBS.get(last.substring(last.indexOf(':') + 1))));
    json(exchange, JSON.createObjectNode().put("count", found.size()));
  }

  private void awaitAnswersOfLists() {
    try {
      answersOfLists.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns one run a day. Refuses a cron expression that contains "bad". */
  private void preview(HttpExchange exchange, ObjectNode schedule) throws IOException {
    previewed = schedule.toString();
    if (text(schedule, "cron").contains("bad")) {
      problem(exchange, 422, "cron: bad is no minute", 0);
      return;
    }
    ObjectNode answer = JSON.createObjectNode();
    ArrayNode next = answer.putArray("next");
    int runs = schedule.has("cron") || schedule.has("every") ? schedule.path("count").asInt() : 1;
    for (int day = 1; day <= runs; day++) {
      next.add("2099-06-0" + day + "T09:00:00Z");
    }
    json(exchange, answer);
  }

  private void pauseNamespace(HttpExchange exchange, String last) {
    int colon = last.lastIndexOf(':');
    boolean pause = last.substring(colon + 1).equals("pause");
    String name = quoted(decode(last.substring(0, colon)));
    timers.figures = pause ? "{\"paused\":[" + name + "]}" : "{}";
    json(exchange, JSON.createObjectNode().put("running", 0));
  }

  private void queues(HttpExchange exchange, String namespace, String last) {
    int colon = last.lastIndexOf(':');
    if (colon >= 0) {
      List<String> queue = List.of(namespace, decode(last.substring(0, colon)));
      boolean pause = last.substring(colon + 1).equals("pause");
      boolean changed = pause ? timers.pausedQueues.add(queue) : timers.pausedQueues.remove(queue);
      json(exchange, JSON.createObjectNode().put("changed", changed));
    } else {
      json(exchange, timers.queues(namespace));
    }
  }

  private static String quoted(String text) {
    return JSON.writeValueAsString(text);
  }

  private void namespaces(HttpExchange exchange) throws IOException {
    ArrayNode list = JSON.createArrayNode();
    timers
        .namespaces()
        .forEach(
            name -> list.addObject().put("namespace", name).set("states", timers.states(name)));
    json(exchange, JSON.createObjectNode().set("namespaces", list).asObject());
  }

  private static Map<String, String> query(HttpExchange exchange) {
    Map<String, String> query = new LinkedHashMap<>();
    String raw = exchange.getRequestURI().getRawQuery();
    for (String pair : raw == null ? List.<String>of() : List.of(raw.split("&"))) {
      int equals = pair.indexOf('=');
      query.put(pair.substring(0, equals), URLDecoder.decode(pair.substring(equals + 1), UTF_8));
    }
    return query;
  }

  private static String decode(String part) {
    return URLDecoder.decode(part.replace("+", "%2B"), UTF_8);
  }

  private static void problem(HttpExchange exchange, int status, String detail, int count)
      throws IOException {
    ObjectNode problem =
        JSON.createObjectNode().put("status", status).put("detail", detail).put("count", count);
    send(exchange, status, "application/problem+json", problem.toString().getBytes(UTF_8));
  }

  private static void json(HttpExchange exchange, ObjectNode node) {
    try {
      send(exchange, 200, "application/json", node.toString().getBytes(UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void send(HttpExchange exchange, int status, String type, byte[] content)
      throws IOException {
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.sendResponseHeaders(status, content.length == 0 ? -1 : content.length);
    try (exchange) {
      exchange.getResponseBody().write(content);
    }
  }
}
