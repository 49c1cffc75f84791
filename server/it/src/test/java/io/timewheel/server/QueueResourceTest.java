// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerState;
import io.timewheel.server.Running.Answer;
import io.timewheel.server.security.Tokens;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/**
 * Tests claims and claim leases over HTTP. Only this class verifies the default wait of a claim, 20
 * s.
 */
@Execution(ExecutionMode.CONCURRENT)
class QueueResourceTest {
  private static final String CLAIM = "/v1/namespaces/shop/queues/q/firings:claim";
  private static final String NOW = "{\"wait\":\"PT0S\"}";
  private static final String LONG = "{\"wait\":\"PT1M\",\"max\":1}";

  private final Running running = new Running();

  @AfterEach
  void stop() {
    running.close();
  }

  private void due(String id) {
    Answer put =
        running.put(
            "/v1/namespaces/shop/timers/" + id,
            "{\"after\":\"PT0S\",\"target\":{\"queue\":\"q\"},\"payload\":[1],\"headers\":{\"h\":\"v\"},"
                + "\"retry\":{\"backoff\":\"PT0.01S\"}}");
    assertThat(put.status()).isEqualTo(201);
  }

  private JsonNode claimed() {
    Answer answer = running.post(CLAIM, LONG);
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.json().get("firings")).hasSize(1);
    return answer.json().at("/firings/0");
  }

  private Answer end(JsonNode firing, String verb, String more) {
    return running.post(
        "/v1/namespaces/shop/firings/" + firing.get("fireId").asString() + ":" + verb,
        "{\"leaseToken\":\"" + firing.get("leaseToken").asString() + "\"" + more + "}");
  }

  private TimerState state(String id) {
    return running.scheduler.timer("shop", id).get().orElseThrow().state();
  }

  private void awaitReady(String id) {
    Await.until(() -> state(id) == TimerState.READY);
  }

  private CompletableFuture<HttpResponse<String>> waiting() {
    return waiting(LONG);
  }

  private CompletableFuture<HttpResponse<String>> waiting(String body) {
    return running.client.sendAsync(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + running.server.port() + CLAIM))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }

  private void awaitWaiting(int count) {
    Await.until(() -> running.server.waitingClaims() == count);
  }

  @Test
  void aFiringContainsTheFieldsOfItsTimer() {
    due("a");
    JsonNode firing = claimed();
    assertThat(firing.propertyNames())
        .contains(
            "fireId",
            "namespace",
            "id",
            "version",
            "attempt",
            "scheduledAt",
            "firedAt",
            "late",
            "payload",
            "headers",
            "leaseToken",
            "leasedUntil");
    assertThat(Instant.parse(firing.get("leasedUntil").asString()))
        .as("30 s is the default")
        .isEqualTo(Instant.parse(firing.get("firedAt").asString()).plusSeconds(30));
    assertThat(firing.get("id").asString()).isEqualTo("a");
    assertThat(firing.get("attempt").asInt()).isEqualTo(1);
    assertThat(firing.at("/payload/0").asInt()).isEqualTo(1);
    assertThat(firing.at("/headers/h").asString()).isEqualTo("v");
    assertThat(firing.get("late").isBoolean()).isTrue();
    assertThat(firing.get("fireId").asString()).matches("[A-Za-z0-9_-]+");
    assertThat(firing.get("leaseToken").asString()).matches("[A-Za-z0-9_-]{22,}");
  }

  @Test
  void aFiringIsLateAfterMoreThanASecond() {
    Answer put =
        running.put(
            "/v1/namespaces/shop/timers/a",
            "{\"at\":\"2020-01-01T00:00:00Z\",\"target\":{\"queue\":\"q\"}}");
    assertThat(put.status()).isEqualTo(201);
    JsonNode firing = claimed();
    assertThat(firing.get("late").asBoolean()).isTrue();
    assertThat(firing.get("scheduledAt").asString()).isEqualTo("2020-01-01T00:00:00Z");
  }

  @Test
  void aDeleteDuringAnAttemptReturnsThatItIsRunning() {
    due("a");
    JsonNode firing = claimed();
    Answer deleted = running.send("DELETE", "/v1/namespaces/shop/timers/a", null);
    assertThat(deleted.status()).isEqualTo(200);
    assertThat(deleted.text("outcome")).isEqualTo("running");
    assertThat(end(firing, "ack", "").status()).isEqualTo(200);
    assertThat(state("a")).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void aFiringLeavesTheETagUnchanged() {
    due("a");
    String tag = running.get("/v1/namespaces/shop/timers/a").header("ETag");
    JsonNode firing = claimed();
    assertThat(running.get("/v1/namespaces/shop/timers/a").header("ETag")).isEqualTo(tag);
    assertThat(end(firing, "nack", ",\"after\":\"PT1H\"").status()).isEqualTo(200);
    assertThat(running.get("/v1/namespaces/shop/timers/a").header("ETag")).isEqualTo(tag);
  }

  @Test
  void aManualRunLeavesTheScheduleOfARecurringTimerUnchanged() {
    Answer put =
        running.put(
            "/v1/namespaces/shop/timers/a", "{\"every\":\"PT1H\",\"target\":{\"queue\":\"q\"}}");
    Answer run = running.post("/v1/namespaces/shop/timers/a:run", null);
    assertThat(run.status()).isEqualTo(200);
    assertThat(run.text("dueAt")).isEqualTo(put.text("dueAt"));
    assertThat(end(claimed(), "ack", "").status()).isEqualTo(200);
    Answer after = running.get("/v1/namespaces/shop/timers/a");
    assertThat(after.text("state")).isEqualTo("scheduled");
    assertThat(after.text("dueAt")).isEqualTo(put.text("dueAt"));
    assertThat(after.json().get("next")).isEqualTo(put.json().get("next"));
  }

  @Test
  void anOverduePausedTimerFiresWhenItIsResumed() {
    due("a");
    String path = "/v1/namespaces/shop/timers/a";
    assertThat(running.post(path + ":pause", null).text("state")).isEqualTo("paused");
    assertThat(running.post(CLAIM, NOW).json().get("firings")).isEmpty();
    assertThat(running.post(path + ":resume", null).status()).isEqualTo(200);
    assertThat(claimed().get("id").asString()).isEqualTo("a");
  }

  @Test
  void aRetryOfAFailedTimerFiresAtOnceAndCountsAttemptsFromOne() {
    Answer put =
        running.put(
            "/v1/namespaces/shop/timers/a",
            "{\"after\":\"PT0S\",\"target\":{\"queue\":\"q\"},"
                + "\"retry\":{\"maxAttempts\":2,\"backoff\":\"PT0.01S\"}}");
    assertThat(put.status()).isEqualTo(201);
    assertThat(end(claimed(), "nack", "").status()).isEqualTo(200);
    assertThat(end(claimed(), "nack", "").status()).isEqualTo(200);
    assertThat(state("a")).isEqualTo(TimerState.FAILED);
    assertThat(running.post("/v1/namespaces/shop/timers/a:retry", null).status()).isEqualTo(200);
    assertThat(claimed().get("attempt").asInt()).isEqualTo(1);
  }

  @Test
  void anAckRepeatedWithTheLeaseThatSucceededIs200() {
    due("a");
    JsonNode firing = claimed();
    assertThat(end(firing, "ack", "").status()).isEqualTo(200);
    assertThat(end(firing, "ack", "").status()).isEqualTo(200);
    assertThat(end(firing, "nack", "").status()).isEqualTo(409);
    assertThat(end(firing, "extend", ",\"leaseDuration\":\"PT30S\"").status()).isEqualTo(409);
    assertThat(state("a")).isEqualTo(TimerState.COMPLETED);
    assertThat(running.send("DELETE", "/v1/namespaces/shop/timers/a", null).text("outcome"))
        .isEqualTo("completed");
  }

  @Test
  void aNackedFiringReturnsWithTheSameFireId() {
    due("a");
    JsonNode first = claimed();
    assertThat(end(first, "nack", ",\"error\":\"no stock\",\"after\":\"PT0S\"").status())
        .isEqualTo(200);
    JsonNode second = claimed();
    assertThat(second.get("attempt").asInt()).isEqualTo(2);
    assertThat(second.get("fireId")).isEqualTo(first.get("fireId"));
    assertThat(second.get("leaseToken")).isNotEqualTo(first.get("leaseToken"));
    assertThat(end(first, "ack", "").status()).isEqualTo(409);
    Answer timer = running.get("/v1/namespaces/shop/timers/a");
    assertThat(timer.text("lastError")).isEqualTo("no stock");
    assertThat(timer.json().at("/attempts/0/end").asString()).isEqualTo("failed");
  }

  @Test
  void anExtendedLeaseStaysValid() {
    due("a");
    JsonNode firing = claimed();
    assertThat(end(firing, "extend", ",\"leaseDuration\":\"PT1H\"").status()).isEqualTo(200);
    assertThat(end(firing, "ack", "").status()).isEqualTo(200);
  }

  @Test
  void aPutWhileFiringIsKeptAndTheRunningAttemptMayAck() {
    due("a");
    JsonNode firing = claimed();
    Answer put =
        running.put(
            "/v1/namespaces/shop/timers/a", "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}");
    assertThat(put.status()).isEqualTo(200);
    assertThat(end(firing, "ack", "").status()).isEqualTo(200);
    assertThat(state("a")).isEqualTo(TimerState.SCHEDULED);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"max\":0}",
        "{\"max\":1001}",
        "{\"leaseDuration\":\"PT0.999S\"}",
        "{\"leaseDuration\":\"PT12H0.001S\"}",
        "{\"wait\":\"PT1M0.001S\"}",
        "{\"wait\":\"-PT1S\"}"
      })
  void limitsOfAClaim(String body) {
    Answer answer = running.post(CLAIM, body);
    assertThat(answer.status()).isEqualTo(422);
    assertThat(body).contains(answer.text("field"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"max\":1}",
        "{\"max\":1000}",
        "{\"leaseDuration\":\"PT1S\"}",
        "{\"leaseDuration\":\"PT12H\"}",
        "{\"wait\":\"PT0S\"}",
        "{\"wait\":\"PT1M\"}"
      })
  void aClaimAtItsLimitsIsAccepted(String body) {
    due("a");
    awaitReady("a"); // so that no claim waits
    Answer answer = running.post(CLAIM, body);
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.json().get("firings")).hasSize(1);
  }

  @Test
  void anUnknownFiringIs404AndAnUnknownLeaseIs409() {
    due("a");
    JsonNode firing = claimed();
    String path = "/v1/namespaces/shop/firings/";
    assertThat(running.post(path + "abc:ack", "{\"leaseToken\":\"x\"}").status()).isEqualTo(404);
    String id = firing.get("fireId").asString();
    assertThat(running.post(path + id + ":ack", "{\"leaseToken\":\"x\"}").status()).isEqualTo(409);
    String forged =
        "{\"leaseToken\":\"" + firing.get("leaseToken").asString().replaceAll(".$", "x") + "\"}";
    assertThat(running.post(path + id + ":ack", forged).status()).isEqualTo(409);
    assertThat(running.post(path + id + ":ack", "{}").status()).isEqualTo(422);
    assertThat(running.post(path + id + ":ack", "{\"leaseToken\":\"x\",\"error\":\"\"}").status())
        .isEqualTo(400);
    assertThat(
            running
                .post("/v1/namespaces/other/firings/" + id + ":ack", "{\"leaseToken\":\"x\"}")
                .status())
        .isEqualTo(404);
  }

  @Test
  void aWaitingClaimIsAnsweredWhenSomethingIsDue() {
    var claim = waiting();
    awaitWaiting(1);
    due("a");
    assertThat(claim.join().body()).contains("\"id\":\"a\"");
    awaitWaiting(0);
  }

  @Test
  void anAbandonedClaimIsDropped() throws IOException {
    try (Socket gone = new Socket(InetAddress.getLoopbackAddress(), running.server.port())) {
      gone.getOutputStream()
          .write(
              ("POST "
                      + CLAIM
                      + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                      + "Content-Length: "
                      + LONG.length()
                      + "\r\n\r\n"
                      + LONG)
                  .getBytes(StandardCharsets.UTF_8));
      awaitWaiting(1);
    }
    awaitWaiting(0);
    due("a");
    assertThat(claimed().get("attempt").asInt()).isEqualTo(1);
  }

  @Test
  void earlyRequestsAreServedAfterTheClaim() throws IOException {
    String body = "{\"wait\":\"PT1M\"}";
    String claim =
        "POST "
            + CLAIM
            + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
            + body.length()
            + "\r\n\r\n"
            + body;
    String health = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), running.server.port())) {
      socket.getOutputStream().write(claim.getBytes(StandardCharsets.UTF_8));
      awaitWaiting(1);
      socket.getOutputStream().write(health.getBytes(StandardCharsets.UTF_8));
      due("a");
      String answers = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(answers).contains("\"id\":\"a\"").contains("\"status\":\"ok\"");
    }
  }

  /** An answer that is too large for the buffers of a connection. */
  @Test
  void firingsOfAnAnswerThatCouldNotBeWrittenAreGivenBackUncounted() throws IOException {
    int count = 62;
    String payload = "x".repeat(60 * 1024);
    String spec = "{\"after\":\"PT0S\",\"target\":{\"queue\":\"q\"},\"payload\":\"%s\"}";
    for (int i = 0; i < count; i++) {
      Answer put = running.put("/v1/namespaces/shop/timers/t" + i, spec.formatted(payload));
      assertThat(put.status()).isEqualTo(201);
    }
    for (int i = 0; i < count; i++) {
      awaitReady("t" + i);
    }
    try (Socket socket = new Socket()) {
      socket.setReceiveBufferSize(4_096);
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), running.server.port()));
      socket.setSoLinger(true, 0); // the close resets the connection
      String body = "{\"max\":100,\"leaseDuration\":\"PT12H\"}";
      String head =
          "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
              .formatted(CLAIM);
      String claim = head + "Content-Length: " + body.length() + "\r\n\r\n" + body;
      socket.getOutputStream().write(claim.getBytes(StandardCharsets.US_ASCII));
      assertThat(socket.getInputStream().read()).isEqualTo('H');
    }
    for (int claimed = 0; claimed < count; ) {
      JsonNode firings =
          running.post(CLAIM, "{\"wait\":\"PT1M\",\"max\":100}").json().get("firings");
      assertThat(firings).isNotEmpty();
      for (JsonNode firing : firings) {
        assertThat(firing.get("attempt").asInt()).isEqualTo(1);
        claimed++;
      }
    }
  }

  @Test
  void aRecurringTimerHasOneFiringOutstanding() {
    String every = "{\"every\":\"PT0.1S\",\"target\":{\"queue\":\"q\"}}";
    assertThat(running.put("/v1/namespaces/shop/timers/a", every).status()).isEqualTo(201);
    JsonNode first = claimed();
    assertThat(first.get("id").asString()).isEqualTo("a");
    String later = "{\"after\":\"PT1S\",\"target\":{\"queue\":\"q\"}}";
    assertThat(running.put("/v1/namespaces/shop/timers/b", later).status()).isEqualTo(201);

    // Ten periods of the first timer later.
    JsonNode meanwhile =
        running.post(CLAIM, "{\"wait\":\"PT1M\",\"max\":10}").json().get("firings");

    assertThat(meanwhile).hasSize(1);
    assertThat(meanwhile.at("/0/id").asString()).isEqualTo("b");
    assertThat(end(first, "ack", "").status()).isEqualTo(200);
    JsonNode second = claimed();
    assertThat(second.get("id").asString()).isEqualTo("a");
    assertThat(second.get("fireId")).isNotEqualTo(first.get("fireId"));
  }

  @Test
  void aLeaseTokenHas128RandomBits() {
    BigInteger ones = BigInteger.ZERO;
    BigInteger zeros = BigInteger.ZERO;
    BigInteger all = BigInteger.ONE.shiftLeft(128).subtract(BigInteger.ONE);
    for (int i = 0; i < 100; i++) {
      due("a" + i);
      String token = claimed().get("leaseToken").asString();
      assertThat(token).matches("[0-9a-f]{32}");
      BigInteger bits = new BigInteger(token, 16);
      ones = ones.or(bits);
      zeros = zeros.or(all.andNot(bits));
    }
    // A random bit has the same value in all of them once in 2^99.
    assertThat(ones).isEqualTo(all);
    assertThat(zeros).isEqualTo(all);
  }

  @Test
  @Tag("proof") // takes 20 s
  void aClaimWaits20SecondsByDefault() {
    CompletableFuture<HttpResponse<String>> shorter = waiting("{\"wait\":\"PT15S\"}");
    CompletableFuture<HttpResponse<String>> byDefault = waiting("{}");
    CompletableFuture<HttpResponse<String>> longer = waiting("{\"wait\":\"PT25S\"}");
    assertThat(shorter.join().body()).isEqualTo("{\"firings\":[]}");
    assertThat(byDefault).isNotDone();
    assertThat(byDefault.join().body()).isEqualTo("{\"firings\":[]}");
    assertThat(longer).isNotDone();
  }

  @Test
  void aClaimOfMoreThan4KbIs413() {
    String padded = NOW + " ".repeat(4_096 - NOW.length());
    assertThat(running.post(CLAIM, padded).status()).isEqualTo(200);
    Answer larger = running.post(CLAIM, padded + " ");
    assertThat(larger.status()).isEqualTo(413);
    assertThat(larger.text("detail")).contains("4096");
  }

  @Test
  void waitingClaimsHoldNoMemoryOfBodies() {
    try (Running small =
        new Running(c -> BoundedAnswersTest.with(c, 8_192, c.work()))) { // one client may use half
      String padded = LONG + " ".repeat(3_000);
      List<CompletableFuture<Answer>> claims = new ArrayList<>();
      for (int i = 1; i <= 4; i++) {
        CompletableFuture<Answer> claim =
            CompletableFuture.supplyAsync(
                () -> small.post(CLAIM, padded), task -> new Thread(task).start());
        claims.add(claim);
        int begun = i;
        Await.until(() -> small.server.waitingClaims() >= begun || claim.isDone());
        assertThat(claim).isNotDone();
      }
      String spec = "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}" + " ".repeat(3_000);
      assertThat(small.put("/v1/namespaces/shop/timers/a", spec).status()).isEqualTo(201);
      small.server.close();
      assertThat(claims).allSatisfy(claim -> assertThat(claim.join().status()).isEqualTo(200));
    }
  }

  @Test
  void claimsBeyondTheLimitAre429() {
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
      Answer answer = small.post(CLAIM, NOW);
      assertThat(answer.status()).isEqualTo(429);
      assertThat(answer.header("Retry-After")).isEqualTo("1");
    }
  }

  @Test
  void oneTokenLeavesClaimsToTheOthers(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("tokens");
    String first = "Bearer " + Tokens.add(file, "first", "consume", Set.of());
    String second = "Bearer " + Tokens.add(file, "second", "consume", Set.of());
    try (Running small =
        new Running(
            c ->
                new ServerConfig(
                    c.listen(),
                    0,
                    c.hosts(),
                    c.ingress(),
                    c.maxConnections(),
                    8,
                    0,
                    c.maxBodyBytes(),
                    c.maxBodyTime(),
                    c.work()),
            Tokens.open(file))) {
      List<CompletableFuture<Answer>> waiting = new ArrayList<>();
      for (int i = 0; i < 7; i++) {
        waiting.add(
            CompletableFuture.supplyAsync(
                () -> small.post(CLAIM, "{\"wait\":\"PT1M\"}", "Authorization", first),
                task -> new Thread(task).start()));
      }
      Await.until(() -> small.server.waitingClaims() >= 7);

      Answer refused = small.post(CLAIM, NOW, "Authorization", first);
      Answer other = small.post(CLAIM, NOW, "Authorization", second);

      assertThat(refused.status()).isEqualTo(429);
      assertThat(refused.text("detail")).contains("(limit of one client: 7)");
      assertThat(other.status()).isEqualTo(200);
      small.server.close();
      assertThat(waiting).allSatisfy(each -> assertThat(each.join().status()).isEqualTo(200));
    }
  }

  @Test
  void stoppingAnswersWaitingClaimsEmpty() {
    List<CompletableFuture<HttpResponse<String>>> claims = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      claims.add(waiting());
    }
    awaitWaiting(20);
    running.server.close();
    for (var claim : claims) {
      assertThat(claim.join().statusCode()).isEqualTo(200);
      assertThat(claim.join().body()).isEqualTo("{\"firings\":[]}");
    }
  }
}
