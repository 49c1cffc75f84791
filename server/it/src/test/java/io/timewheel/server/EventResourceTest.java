// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Running.Answer;
import io.timewheel.server.security.Tokens;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.settings.Ingress;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.testing.Await;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Tests streams of events through real sockets. Only this class verifies streams that are resumed
 * or read too slowly.
 */
class EventResourceTest {
  private static final String LATER = "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}";
  private static final String NOW = "{\"after\":\"PT0S\",\"target\":{\"queue\":\"q\"}}";

  private final Running running = new Running();
  private final List<Events> open = new ArrayList<>();

  @AfterEach
  void stop() {
    open.forEach(Events::close);
    running.close();
  }

  /** A client that reads events. It uses HTTP/1.0, so that they arrive without chunks. */
  private final class Events implements AutoCloseable {
    private final Socket socket;
    private final BufferedReader reader;
    final String head;
    String lastId;

    Events(String query, String... headers) {
      this(running, query, headers);
    }

    Events(Running server, String query, String... headers) {
      try {
        socket = new Socket(InetAddress.getLoopbackAddress(), server.server.port());
        socket.setSoTimeout(60_000);
        String request =
            "GET /v1/events"
                + query
                + " HTTP/1.0\r\nHost: localhost\r\n"
                + String.join("", headers)
                + "\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
        reader =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        StringBuilder lines = new StringBuilder();
        for (String line = line(); !line.isEmpty(); line = line()) {
          lines.append(line).append('\n');
        }
        head = lines.toString();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      open.add(this);
    }

    private String line() throws IOException {
      String line = reader.readLine();
      if (line == null) {
        throw new EOFException();
      }
      return line;
    }

    /** {@return the data of the next event of a type} */
    JsonNode next(String type) {
      try {
        while (true) {
          String event = null;
          String data = null;
          for (String line = line(); !line.isEmpty(); line = line()) {
            if (line.startsWith("id: ")) {
              lastId = line.substring(4);
            } else if (line.startsWith("event: ")) {
              event = line.substring(7);
            } else if (line.startsWith("data: ")) {
              data = line.substring(6);
            }
          }
          if (type.equals(event)) {
            return Running.MAPPER.readTree(data);
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    String change() {
      JsonNode event = next("timer");
      return event.get("id").asString() + " " + event.get("change").asString();
    }

    boolean isAtEnd() throws IOException {
      String line;
      do {
        line = reader.readLine();
      } while (line != null);
      return true;
    }

    @Override
    public void close() {
      try {
        socket.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private String header(String id) {
    return "Last-Event-ID: " + id + "\r\n";
  }

  private Answer put(String namespace, String id, String body) {
    return running.put("/v1/namespaces/" + namespace + "/timers/" + id, body);
  }

  private void awaitOpen(int count) {
    Await.until(() -> running.server.openStreams() == count);
  }

  @Test
  void aStreamBeginsWithTheFigures() {
    Events events = new Events("");
    assertThat(events.head)
        .startsWith("HTTP/1.1 200 ")
        .contains("Content-Type: text/event-stream\n")
        .contains("Cache-Control: no-store\n");
    JsonNode stats = events.next("stats");
    assertThat(stats.get("states")).hasSize(9);
    assertThat(stats.has("minutes")).isFalse();
    assertThat(events.next("stats").get("storeAvailable").asBoolean()).isTrue();
  }

  @Test
  void theChangesOfATimerAreSent() {
    Events events = new Events("?types=timer");
    put("shop", "a", NOW);
    assertThat(events.change()).isEqualTo("a created");
    assertThat(events.change()).isEqualTo("a ready");
    JsonNode firing =
        running.post("/v1/namespaces/shop/queues/q/firings:claim", "{}").json().at("/firings/0");
    assertThat(events.change()).isEqualTo("a running");
    running.post(
        "/v1/namespaces/shop/firings/" + firing.get("fireId").asString() + ":ack",
        "{\"leaseToken\":\"" + firing.get("leaseToken").asString() + "\"}");
    JsonNode done = events.next("timer");
    assertThat(done.get("change").asString()).isEqualTo("succeeded");
    assertThat(done.get("state").asString()).isEqualTo("completed");
    assertThat(done.get("namespace").asString()).isEqualTo("shop");
    assertThat(done.get("version")).isEqualTo(firing.get("version"));
    put("shop", "b", LATER);
    put("shop", "b", LATER.replace("1H", "2H"));
    String path = "/v1/namespaces/shop/timers/b";
    running.post(path + ":pause", null);
    running.post(path + ":resume", null);
    running.post(path + ":move", "{\"after\":\"PT3H\"}");
    running.send("DELETE", path, null);
    for (String change :
        new String[] {"created", "replaced", "paused", "resumed", "moved", "cancelled"}) {
      assertThat(events.change()).isEqualTo("b " + change);
    }
  }

  @Test
  void aStreamResumesAfterTheLastEvent() {
    Events first = new Events("?types=timer");
    put("shop", "a", LATER);
    assertThat(first.change()).isEqualTo("a created");
    first.close();
    awaitOpen(0);
    put("shop", "b", LATER);
    put("shop", "c", LATER);
    Events second = new Events("?types=timer", header(first.lastId));
    assertThat(second.change()).isEqualTo("b created");
    assertThat(second.change()).isEqualTo("c created");
    Events third = new Events("?types=timer,stats", header(second.lastId));
    assertThat(third.next("stats").has("now")).isTrue();
    put("shop", "d", LATER);
    assertThat(third.change()).isEqualTo("d created");
  }

  @Test
  void anIdOfAnotherProcessIsReportedAsDropped() {
    Events events = new Events("?types=timer", header("abc-12"));
    assertThat(events.next("dropped")).isEmpty();
    put("shop", "a", LATER);
    assertThat(events.change()).isEqualTo("a created");
  }

  @Test
  void aNamespaceHasItsOwnEvents() {
    Events events = new Events("?types=stats,timer&namespace=shop");
    put("other", "x", LATER);
    put("shop", "a", LATER);
    assertThat(events.change()).isEqualTo("a created");
    JsonNode stats = events.next("stats");
    while (stats.at("/states/scheduled").asInt() == 0) { // counted before
      stats = events.next("stats");
    }
    assertThat(stats.at("/states/scheduled").asInt()).isEqualTo(1);
  }

  @Test
  void excessChangesAreDroppedAndCounted() {
    Events events = new Events("?types=timer");
    int count = 20_000;
    for (int i = 0; i < count; i += 1_000) {
      StringBuilder batch = new StringBuilder("{\"timers\":[");
      for (int j = 0; j < 1_000; j++) {
        batch.append(j == 0 ? "" : ",").append("{\"id\":\"t").append(i + j).append("\",");
        batch.append(LATER.substring(1));
      }
      assertThat(running.post("/v1/namespaces/many/timers:batch", batch + "]}").status())
          .isEqualTo(200);
    }
    long dropped = events.next("dropped").get("count").asLong();
    assertThat(dropped).isPositive();
  }

  @Test
  void aChangeOfTheClusterIsSent() {
    Events events = new Events("?types=cluster");
    running.store.takeShard(0);
    running.server.everySecond();
    int epoch = 0;
    while (epoch < 2) { // the previous state may be sent first
      epoch = events.next("cluster").at("/shards/0/epoch").asInt();
    }
    assertThat(epoch).isEqualTo(2);
  }

  @Test
  void aThousandStreamsHoldNoThreadEach() throws IOException {
    List<Events> all = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      all.add(new Events(i % 2 == 0 ? "?types=timer" : ""));
    }
    assertThat(running.server.openStreams()).isEqualTo(1_000);
    assertThat(
            Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("timewheel-")))
        .hasSizeLessThan(100);
    put("shop", "a", LATER);
    for (Events events : all) {
      assertThat(events.change()).isEqualTo("a created");
    }
    all.forEach(Events::close);
    awaitOpen(0);
  }

  @Test
  void aDisconnectedClientIsDetected() {
    Events events = new Events("?types=timer");
    assertThat(running.server.openStreams()).isEqualTo(1);
    events.close();
    awaitOpen(0);
  }

  @Test
  void streamsBeyondTheLimitAre429() {
    try (Running small =
        new Running(
            c ->
                new ServerConfig(
                    c.listen(),
                    0,
                    c.hosts(),
                    c.ingress(),
                    c.maxConnections(),
                    0,
                    0,
                    c.maxBodyBytes(),
                    c.maxBodyTime(),
                    c.work()))) {
      Answer answer = small.get("/v1/events");
      assertThat(answer.status()).isEqualTo(429);
      assertThat(answer.header("Retry-After")).isEqualTo("5");
      assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
    }
  }

  private static Running eightStreams(@Nullable Tokens tokens) {
    Ingress proxy = new Ingress("", List.of(Cidr.parse("127.0.0.1/32")), null);
    return new Running(
        c ->
            new ServerConfig(
                c.listen(),
                0,
                c.hosts(),
                proxy,
                c.maxConnections(),
                0,
                8,
                c.maxBodyBytes(),
                c.maxBodyTime(),
                c.work()),
        tokens);
  }

  private void assertThatOneLeavesStreamsToTheOther(Running small, String one, String other) {
    for (int i = 0; i < 7; i++) {
      assertThat(new Events(small, "?types=timer", one).head).startsWith("HTTP/1.1 200 ");
    }
    assertThat(new Events(small, "?types=timer", one).head).startsWith("HTTP/1.1 429 ");
    assertThat(new Events(small, "?types=timer", other).head).startsWith("HTTP/1.1 200 ");
    open.get(0).close();
    Await.until(() -> small.server.openStreams() != 8);
    assertThat(new Events(small, "?types=timer", one).head).startsWith("HTTP/1.1 200 ");
  }

  @Test
  void oneTokenLeavesStreamsToTheOthers(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("tokens");
    String first = Tokens.add(file, "first", "read", Set.of());
    String second = Tokens.add(file, "second", "read", Set.of());
    try (Running small = eightStreams(Tokens.open(file))) {
      assertThatOneLeavesStreamsToTheOther(
          small,
          "Authorization: Bearer " + first + "\r\n",
          "Authorization: Bearer " + second + "\r\n");
    }
  }

  @Test
  void oneAddressLeavesStreamsToTheOthersWithoutTokens() {
    try (Running small = eightStreams(null)) {
      assertThatOneLeavesStreamsToTheOther(
          small, "X-Forwarded-For: 192.0.2.1\r\n", "X-Forwarded-For: 192.0.2.2\r\n");
    }
  }

  @Test
  void oneNetworkOfIpv6LeavesStreamsToTheOthers() {
    try (Running small = eightStreams(null)) {
      for (int i = 0; i < 7; i++) {
        String address = "X-Forwarded-For: 2001:db8::" + i + "\r\n";
        assertThat(new Events(small, "?types=timer", address).head).startsWith("HTTP/1.1 200 ");
      }
      assertThat(new Events(small, "", "X-Forwarded-For: 2001:db8::ffff\r\n").head)
          .startsWith("HTTP/1.1 429 ");
      assertThat(new Events(small, "", "X-Forwarded-For: 2001:db8:0:1::1\r\n").head)
          .startsWith("HTTP/1.1 200 ");
    }
  }

  @Test
  void anUnknownTypeIs400() {
    assertThat(running.get("/v1/events?types=stats,weather").status()).isEqualTo(400);
  }

  @Test
  void stoppingEndsStreamsCleanly() throws IOException {
    Events events = new Events("");
    Events other = new Events("?types=timer");
    running.server.close();
    assertThat(events.isAtEnd()).isTrue();
    assertThat(other.isAtEnd()).isTrue();
  }
}
