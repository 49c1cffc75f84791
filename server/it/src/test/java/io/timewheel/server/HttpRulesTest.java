// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Running.Answer;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the rules for every request: limits, unknown callers, and data that is not a request. */
class HttpRulesTest {
  private static final String TIMER = "/v1/namespaces/shop/timers/a";
  private static final String AFTER = "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}";

  private static Running running;

  @BeforeAll
  static void start() {
    running = new Running();
  }

  @AfterAll
  static void stop() {
    running.close();
  }

  private static String request(String line, String... headers) {
    StringBuilder text = new StringBuilder(line).append("\r\nConnection: close\r\n");
    for (String header : headers) {
      text.append(header).append("\r\n");
    }
    return running.raw(text.append("\r\n").toString());
  }

  private static String put(String body, String... headers) {
    StringBuilder text = new StringBuilder("PUT " + TIMER + " HTTP/1.1\r\nConnection: close\r\n");
    text.append("Content-Length: ").append(body.length()).append("\r\n");
    for (String header : headers) {
      text.append(header).append("\r\n");
    }
    return running.raw(text.append("\r\n").append(body).toString());
  }

  @Test
  void anotherMethodIs405WithAllow() {
    Answer answer = running.post(TIMER, "{}");
    assertThat(answer.status()).isEqualTo(405);
    assertThat(answer.header("Allow")).isEqualTo("DELETE, GET, PATCH, PUT");
    assertThat(running.send("PATCH", "/v1/namespaces", null).status()).isEqualTo(405);
  }

  @Test
  void anotherPathIs404() {
    assertThat(running.get("/v1/nothing").status()).isEqualTo(404);
    assertThat(running.get("/v1/namespaces/shop/timers/a/b").status()).isEqualTo(404);
    assertThat(running.get("/v2/namespaces").status()).isEqualTo(404);
  }

  @Test
  void anotherMediaTypeIs415() {
    assertThat(running.put(TIMER, AFTER, "Content-Type", "text/plain").status()).isEqualTo(415);
    assertThat(put(AFTER, "Host: localhost")).startsWith("HTTP/1.1 415 ");
    String latin = "application/json; charset=latin-1";
    assertThat(running.put(TIMER, AFTER, "Content-Type", latin).status()).isEqualTo(415);
    String utf8 = "application/json; charset=UTF-8";
    assertThat(running.put(TIMER, AFTER, "Content-Type", utf8).status()).isBetween(200, 201);
    assertThat(running.put(TIMER, AFTER, "Content-Encoding", "gzip").status()).isEqualTo(415);
  }

  @Test
  void aLargeBodyIs413() {
    String payload = "\"" + "x".repeat(64 * 1024 - 2) + "\"";
    String body = "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"},\"payload\":%s}";
    assertThat(running.put(TIMER, body.formatted(payload)).status()).isBetween(200, 201);
    Answer larger = running.put(TIMER, body.formatted("[" + payload + "]"));
    assertThat(larger.status()).isEqualTo(413);
    assertThat(larger.text("field")).isEqualTo("payload");
    assertThat(running.put(TIMER, " ".repeat(256 * 1024) + AFTER).status()).isEqualTo(413);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aBatchOf16MbIsAcceptedAndALargerOneIs413(boolean chunked) throws Exception {
    String batch = "{\"timers\":[{\"id\":\"a\"," + AFTER.substring(1) + "]}";
    String largest = batch + " ".repeat((16 << 20) - batch.length());
    assertThat(postBatch(largest, chunked)).isEqualTo(200);
    assertThat(postBatch(largest + " ", chunked)).isEqualTo(413);
  }

  private static int postBatch(String body, boolean chunked) throws Exception {
    byte[] bytes = body.getBytes(UTF_8);
    URI uri =
        URI.create(
            "http://127.0.0.1:" + running.server.port() + "/v1/namespaces/shop/timers:batch");
    HttpRequest request =
        HttpRequest.newBuilder(uri)
            .header("Content-Type", "application/json")
            .POST(
                chunked
                    ? BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(bytes))
                    : BodyPublishers.ofByteArray(bytes))
            .build();
    return running.client.send(request, BodyHandlers.discarding()).statusCode();
  }

  @Test
  void aClientThatSendsAllOfARefusedBodyStillGetsTheAnswer() {
    String json = "Content-Type: application/json";
    String large = "x".repeat(8 << 20);
    assertThat(put(large, "Host: localhost", json)).startsWith("HTTP/1.1 413 ");
    assertThat(put(large, "Host: evil.example", json)).startsWith("HTTP/1.1 421 ");
    assertThat(put(large, "Host: localhost", "Content-Type: text/plain"))
        .startsWith("HTTP/1.1 415 ");
    // A batch above the limit.
    assertThat(put(large.repeat(3), "Host: localhost", json)).startsWith("HTTP/1.1 413 ");
    String chunk = "100000\r\n" + "x".repeat(1 << 20) + "\r\n";
    assertThat(
            running.raw(
                "PUT "
                    + TIMER
                    + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + chunk.repeat(8)
                    + "0\r\n\r\n"))
        .startsWith("HTTP/1.1 413 ");
  }

  @Test
  void aBodyThatWaitsFor100ContinueIsRefusedUnsent() {
    assertThat(
            running.raw(
                "PUT "
                    + TIMER
                    + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    + "Content-Type: application/json\r\nContent-Length: 300000\r\n"
                    + "Expect: 100-continue\r\n\r\n"))
        .startsWith("HTTP/1.1 413 ");
  }

  @Test
  void aLongPathIs414AndLargeHeadersAre431() {
    String path = request("GET /" + "x".repeat(20_000) + " HTTP/1.1", "Host: localhost");
    assertThat(path).startsWith("HTTP/1.1 414 ").contains("application/problem+json");
    String headers = request("GET / HTTP/1.1", "Host: localhost", "X: " + "x".repeat(20_000));
    assertThat(headers).startsWith("HTTP/1.1 431 ").contains("application/problem+json");
  }

  @ParameterizedTest
  @CsvSource({
    "localhost, 200",
    "LOCALHOST:1, 200",
    "127.0.0.1, 200",
    "[::1]:7400, 200",
    "192.0.2.7, 200",
    "192.0.2.7:7400, 200",
    "[2001:db8::7], 200",
    "[2001:db8::7]:7400, 200",
    "[::ffff:192.0.2.7]:7400, 200",
    "evil.example, 421",
    "192.0.2.256, 421",
    "192.0.2, 421",
    "3221225991, 421",
    "0x7f.0.0.1, 421",
    "010.0.0.1, 421",
    "127.0.0.1.evil.example, 421",
    "localhost.evil.example, 421"
  })
  void aHostThatIsNeitherLoopbackNorConfiguredIs421(String host, int status) {
    assertThat(request("GET /healthz HTTP/1.1", "Host: " + host))
        .startsWith("HTTP/1.1 " + status + " ");
    assertThat(request("GET http://" + host + "/healthz HTTP/1.1", "Host: " + host))
        .startsWith("HTTP/1.1 " + status + " ");
  }

  @ParameterizedTest
  @CsvSource({
    "Origin, http://localhost, 20",
    "Origin, http://evil.example, 403",
    "Origin, null, 403",
    "Origin, http://localhost:99, 403",
    "Sec-Fetch-Site, same-origin, 20",
    "Sec-Fetch-Site, none, 20",
    "Sec-Fetch-Site, cross-site, 403",
    "Sec-Fetch-Site, same-site, 403"
  })
  void aForeignPageCannotChangeAnything(String name, String value, String status) {
    String json = "Content-Type: application/json";
    assertThat(put(AFTER, "Host: localhost", json, name + ": " + value))
        .startsWith("HTTP/1.1 " + status);
    assertThat(request("GET /healthz HTTP/1.1", "Host: localhost", name + ": " + value))
        .startsWith("HTTP/1.1 " + (value.equals("cross-site") ? 403 : 200) + " ");
  }

  @Test
  void refusalsOfAForeignNameContainBothNames() {
    assertThat(request("GET /healthz HTTP/1.1", "Host: evil.example"))
        .contains("Host: evil.example", "127.0.0.1", "--host");
    String changedHost =
        put(
            AFTER,
            "Host: localhost:7400",
            "Content-Type: application/json",
            "Origin: https://timers.example");
    assertThat(changedHost)
        .startsWith("HTTP/1.1 403 ")
        .contains("Origin: https://timers.example", "https://localhost:7400");
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /, navigate, 200",
    "HEAD, /, navigate, 200",
    "GET, /, no-cors, 403",
    "GET, /, , 403",
    "POST, /, navigate, 403",
    "GET, /console/main.js, no-cors, 403",
    "GET, /v1/stats, navigate, 403",
    "GET, /v1/stats, cors, 403",
    "GET, /metrics, no-cors, 403"
  })
  void anotherSiteMayOnlyOpenTheConsole(String method, String path, String mode, int status) {
    assertThat(
            request(
                method + " " + path + " HTTP/1.1",
                "Host: localhost",
                "Sec-Fetch-Site: cross-site",
                "Sec-Fetch-Mode: " + mode))
        .startsWith("HTTP/1.1 " + status + " ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[]",
        "7",
        "{} {}",
        "{\"after\":\"PT1H\",}",
        "{'after':'PT1H'}",
        "{\"after\":\"PT1H\",\"payload\":NaN}",
        "{\"payload\":\"\u0000\"}",
        "\uFEFF{}"
      })
  void malformedJsonIs400(String body) {
    Answer answer = running.put(TIMER, body);
    assertThat(answer.status()).as(answer.response().body()).isEqualTo(400);
  }

  @Test
  void everyAnswerForbidsSniffingAndFraming() {
    for (String path : new String[] {"/healthz", "/v1/namespaces", "/nothing", "/"}) {
      Answer answer = running.get(path);
      assertThat(answer.header("X-Content-Type-Options")).isEqualTo("nosniff");
      assertThat(answer.header("Content-Security-Policy"))
          .contains("frame-ancestors 'none'")
          .doesNotContain("unsafe-inline");
      assertThat(answer.header("Access-Control-Allow-Origin")).isNull();
      assertThat(answer.header("Server")).isNull();
    }
  }

  @Test
  void theConsoleIsServed() {
    Answer page = running.get("/");
    assertThat(page.status()).isEqualTo(200);
    assertThat(page.header("Content-Type")).startsWith("text/html");
    assertThat(running.get("/", "If-None-Match", page.header("ETag")).status()).isEqualTo(304);
    assertThat(running.get("/console/main.js").header("Content-Type"))
        .startsWith("text/javascript");
    assertThat(running.get("/console/..%2F..%2FMain.class").status()).isEqualTo(404);
    assertThat(running.get("/console/none.js").status()).isEqualTo(404);
  }

  @Test
  void headIsGetWithoutItsBody() {
    Answer head = running.send("HEAD", "/healthz", null);
    assertThat(head.status()).isEqualTo(200);
    assertThat(head.response().body()).isEmpty();
  }

  @Test
  void namespacesAndStatsCount() {
    running.put("/v1/namespaces/counted/timers/a", AFTER);
    Answer namespaces = running.get("/v1/namespaces");
    assertThat(namespaces.response().body()).contains("\"namespace\":\"counted\"");
    assertThat(namespaces.json().at("/namespaces/0/states")).hasSize(9);
    Answer stats = running.get("/v1/stats?namespace=counted");
    assertThat(stats.json().at("/states/scheduled").asInt()).isEqualTo(1);
    assertThat(stats.json().at("/overdue").asInt()).isZero();
    assertThat(stats.json().get("storeAvailable").asBoolean()).isTrue();
  }

  @Test
  void metricsBeginWithTimewheelJvmOrProcess() {
    Answer metrics = running.get("/metrics");
    assertThat(metrics.status()).isEqualTo(200);
    assertThat(metrics.response().body().lines().filter(line -> !line.startsWith("#")))
        .isNotEmpty()
        .allMatch(line -> line.matches("(timewheel|jvm|process)_.*"));
  }
}
