// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static io.timewheel.durable.model.TimerState.COMPLETED;
import static io.timewheel.durable.model.TimerState.FAILED;
import static io.timewheel.durable.model.TimerState.RETRYING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import com.standardwebhooks.Webhook;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.model.TimerState;
import io.timewheel.server.Receiver.Call;
import io.timewheel.server.Running.Answer;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.webhook.AddressPolicy;
import io.timewheel.server.webhook.WebhookSecrets;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/**
 * Tests timers whose target is a URL, from their creation to the webhook request and its result.
 */
class WebhooksTest {
  static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  static final String NEW_SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
  private static final AddressPolicy LOOPBACK =
      AddressPolicy.admitting(List.of(Cidr.parse("127.0.0.0/8"), Cidr.parse("::1")));

  /** A backoff that is long enough that no second attempt starts while a test checks the first. */
  private static final String SLOW = "{\"backoff\":\"PT10M\",\"maxBackoff\":\"PT10M\"}";

  private static final String TWICE =
      "{\"maxAttempts\":2,\"backoff\":\"PT0.01S\",\"maxBackoff\":\"PT0.01S\"}";

  private static final AtomicInteger NAMESPACES = new AtomicInteger();

  @TempDir private static Path directory;
  private static Receiver receiver;
  private static Path secrets;
  private static Running running;

  /** A namespace that only this test uses. */
  private final String namespace = "shop-" + NAMESPACES.incrementAndGet();

  @BeforeAll
  static void start() throws IOException {
    secrets = directory.resolve("secrets");
    write("shop " + SECRET);
    running = new Running(WebhookSecrets.open(secrets), LOOPBACK);
    receiver = new Receiver();
  }

  @AfterAll
  static void stop() {
    receiver.close();
    running.close();
  }

  @BeforeEach
  void forget() throws IOException {
    write("shop " + SECRET);
    receiver.calls.clear();
    receiver.answering = Receiver.status(204);
  }

  private static void write(String content) throws IOException {
    Files.writeString(secrets, content + "\n");
    Files.setPosixFilePermissions(secrets, PosixFilePermissions.fromString("rw-------"));
  }

  private String path(String id) {
    return "/v1/namespaces/" + namespace + "/timers/" + id;
  }

  private static String body(String url, String retry, String more) {
    return ("{\"after\":\"PT0S\",\"target\":{\"url\":\"%s\",\"secret\":\"shop\"%s},"
            + "\"payload\":{},\"retry\":%s}")
        .formatted(url, more, retry);
  }

  /** Creates a timer that is due. */
  private void due(String id, String url, String retry, String more) {
    Answer put = running.put(path(id), body(url, retry, more));
    assertThat(put.status()).as(put.response().body()).isEqualTo(201);
  }

  private void due(String id, String retry) {
    due(id, receiver.url("/"), retry, "");
  }

  private TimerInfo timer(String id) {
    return running.scheduler.timer(namespace, id).get().orElseThrow();
  }

  /** Waits for a state. Fails if the timer stays in another final state. */
  private TimerInfo await(String id, TimerState state) {
    Await.until(
        () -> {
          TimerInfo timer = timer(id);
          boolean reached = timer.state() == state;
          assertThat(!reached && stays(timer))
              .as(timer.state() + " " + timer.lastError())
              .isFalse();
          return reached;
        });
    return timer(id);
  }

  private static boolean stays(TimerInfo timer) {
    Instant soon = Instant.now().plus(Duration.ofMinutes(1));
    return timer.state() == COMPLETED
        || timer.state() == FAILED
        || timer.fireAt().filter(at -> at.isAfter(soon)).isPresent();
  }

  @Test
  void aDueTimerIsPostedUnchangedAndSigned() throws Exception {
    String payload = "{ \"order\" : 42.0, \"name\":\"Z\u00fcrich\\n\" }";
    running.put(
        path("a%20b"),
        """
        {"at":"2026-01-01T00:00:00Z","payload":%s,"headers":{"traceparent":"00-1-2-01","Ort":"Z\u00fc\\r\\n"},
         "target":{"url":"%s","secret":"shop","headers":{"X-Key":"k"}}}
        """
            .formatted(payload, receiver.url("/hooks?a=b")));

    Call call = receiver.calls.take();
    assertThat(call.method()).isEqualTo("POST");
    assertThat(call.path()).isEqualTo("/hooks?a=b");
    assertThat(call.body()).isEqualTo(payload);
    assertThat(call.header("Content-Type")).isEqualTo("application/json");
    assertThat(call.header("X-Key")).isEqualTo("k");
    assertThat(call.header("webhook-id")).matches("[A-Za-z0-9_-]+");
    assertThat(call.header("timewheel-namespace")).isEqualTo(namespace);
    assertThat(call.header("timewheel-id")).isEqualTo("a%20b");
    assertThat(call.header("timewheel-attempt")).isEqualTo("1");
    assertThat(call.header("timewheel-scheduled-at")).isEqualTo("2026-01-01T00:00:00Z");
    assertThat(Instant.parse(call.header("timewheel-fired-at"))).isAfter("2026-01-01T00:00:00Z");
    assertThat(call.header("timewheel-late")).isEqualTo("true");
    assertThat(call.header("timewheel-header-traceparent")).isEqualTo("00-1-2-01");
    assertThat(call.header("timewheel-header-Ort")).isEqualTo("Z%C3%BC%0D%0A");
    new Webhook(SECRET).verify(call.body(), call.headers());
    TimerInfo done = await("a b", COMPLETED);
    assertThat(call.header("timewheel-version")).isEqualTo(Long.toString(done.version()));
    assertThat(done.attempts()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {200, 201, 202, 204, 299})
  void anAnswerOf2xxCompletesTheTimer(int status) {
    receiver.answering = Receiver.status(status);
    due("a", SLOW);

    assertThat(await("a", COMPLETED).attempts()).hasSize(1);
  }

  @Test
  void measuresRequestsByTheClassOfTheStatusOfTheirAnswers() {
    for (int status : new int[] {298, 410, 987}) { // 410 fails at once
      receiver.answering = Receiver.status(status);
      due("a" + status, "{\"maxAttempts\":1}");
      await("a" + status, status == 298 ? COMPLETED : FAILED);
    }

    assertThat(running.get("/metrics").response().body())
        .doesNotContain("status=\"298\"", "status=\"410\"", "status=\"987\"")
        .containsPattern("\ntimewheel_webhook_requests_seconds_count\\{status=\"2xx\"\\} \\d+\n")
        .containsPattern("\ntimewheel_webhook_requests_seconds_count\\{status=\"4xx\"\\} \\d+\n")
        .containsPattern("\ntimewheel_webhook_requests_seconds_count\\{status=\"other\"\\} \\d+\n")
        .containsPattern("\ntimewheel_lag_seconds_count\\{target=\"webhook\"\\} [1-9]\\d*\n");
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 302, 307, 308, 400, 401, 404, 409, 429, 500, 503})
  void anythingElseIsRetriedUnderTheSameIdAndFailsInTheEnd(int status) throws Exception {
    receiver.answering = Receiver.status(status, "Location", receiver.url("/elsewhere"));
    due("a", TWICE);

    assertThat(await("a", FAILED).lastError()).hasValue("127.0.0.1 answered " + status);
    assertThat(receiver.calls).hasSize(2).allMatch(call -> call.path().equals("/"));
    Call first = receiver.calls.take();
    Call second = receiver.calls.take();
    assertThat(second.header("webhook-id")).isEqualTo(first.header("webhook-id"));
    assertThat(first.header("timewheel-attempt")).isEqualTo("1");
    assertThat(second.header("timewheel-attempt")).isEqualTo("2");
  }

  @Test
  void aTargetThatIsGoneFailsAtOnceAndIsCalledAgainAfterARetry() {
    receiver.answering = Receiver.text(410, "moved out");
    due("a", TWICE);
    TimerInfo gone = await("a", FAILED);
    assertThat(gone.attempts()).hasSize(1);
    assertThat(gone.lastError()).hasValue("127.0.0.1 answered 410: moved out");

    receiver.answering = Receiver.status(204);
    assertThat(running.post(path("a") + ":retry", null).status()).isEqualTo(200);
    await("a", COMPLETED);
  }

  private Duration wait(String id) {
    TimerInfo timer = await(id, RETRYING);
    long endedAt = timer.attempts().get(timer.attempts().size() - 1).endedAtMillis();
    return Duration.between(Instant.ofEpochMilli(endedAt), timer.fireAt().orElseThrow());
  }

  @ParameterizedTest
  @CsvSource({"429, 3600, 3600", "503, 3600, 3600", "503, 999999999, 86400"})
  void retryAfterInSecondsIsHeededUpToADay(int status, String seconds, long waited) {
    receiver.answering = Receiver.status(status, "Retry-After", seconds);
    due("a", TWICE);

    assertThat(wait("a"))
        .isBetween(Duration.ofSeconds(waited - 60), Duration.ofSeconds(waited + 60));
  }

  @Test
  void retryAfterAsADateIsHeeded() {
    Instant date = Instant.now().plus(Duration.ofHours(2));
    receiver.answering =
        Receiver.status(
            503,
            "Retry-After",
            DateTimeFormatter.RFC_1123_DATE_TIME.format(date.atOffset(ZoneOffset.UTC)));
    due("a", TWICE);

    assertThat(await("a", RETRYING).fireAt().orElseThrow())
        .isBetween(date.minusSeconds(2), date.plusSeconds(1));
  }

  @ParameterizedTest
  @CsvSource({"500, 86400", "503, soon", "429, -1", "503, 0"})
  void anAnswerWithoutALongerDelayIsRetriedByThePolicy(int status, String retryAfter) {
    receiver.answering = Receiver.status(status, "Retry-After", retryAfter);
    due("a", SLOW);

    assertThat(wait("a")).isBetween(Duration.ofMinutes(1), Duration.ofMinutes(15));
  }

  @Test
  void aRotationNeedsNoRestart() throws Exception {
    due("a", SLOW);
    Call before = receiver.calls.take();
    write("# being rotated\nshop " + NEW_SECRET + " " + SECRET);
    due("b", SLOW);
    Call during = receiver.calls.take();
    write("shop " + NEW_SECRET);
    due("c", SLOW);
    Call after = receiver.calls.take();

    assertThat(before.header("webhook-signature").split(" ")).hasSize(1);
    new Webhook(SECRET).verify("{}", before.headers());
    assertThat(during.header("webhook-signature").split(" ")).hasSize(2);
    new Webhook(SECRET).verify("{}", during.headers());
    new Webhook(NEW_SECRET).verify("{}", during.headers());
    assertThat(after.header("webhook-signature").split(" ")).hasSize(1);
    new Webhook(NEW_SECRET).verify("{}", after.headers());
  }

  @Test
  void aRemovedSecretSignsNothing() throws Exception {
    running.put(path("a"), body(receiver.url("/"), TWICE, "").replace("\"PT0S\"", "\"PT1H\""));
    write("other " + SECRET);
    running.post(path("a") + ":run", null);

    assertThat(await("a", FAILED).lastError()).hasValue("no secret has the name shop");
    assertThat(receiver.calls).isEmpty();
  }

  @Test
  void aBrokenFileLeavesTheSecretsUnchanged() throws Exception {
    write("shop " + SECRET + "\nshop " + NEW_SECRET);
    due("a", SLOW);
    Files.delete(secrets);
    due("b", SLOW);

    new Webhook(SECRET).verify("{}", receiver.calls.take().headers());
    new Webhook(SECRET).verify("{}", receiver.calls.take().headers());
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "2130706433", "localhost", "[::1]", "[::ffff:127.0.0.1]"})
  void loopbackIsRefusedByNumberAndByNameUnlessItIsAllowed(String host) throws Exception {
    AddressPolicy strict = AddressPolicy.admitting(List.of());
    try (Running other = new Running(WebhookSecrets.open(secrets), strict)) {
      String url = "http://" + host + ":" + receiver.port() + "/";
      Answer put = other.put(path("a"), body(url, TWICE, ""));
      assertThat(put.status()).as(put.response().body()).isEqualTo(201);
      Await.until(
          () -> other.scheduler.timer(namespace, "a").get().orElseThrow().state() == FAILED);
      assertThat(other.get(path("a")).text("lastError"))
          .contains(": the address is not public; ")
          .doesNotContain("DNS")
          .contains("--allow-target");
      assertThat(receiver.calls).isEmpty();
    }
    due("a", receiver.url("/"), SLOW, "");
    await("a", COMPLETED);
  }

  @Test
  void aTargetThatNeverAnswersCostsItsTimeout() {
    CountDownLatch never = new CountDownLatch(1);
    receiver.answering = exchange -> never.await();
    due("a", receiver.url("/"), SLOW, ",\"timeout\":\"PT2S\"");

    assertThat(await("a", RETRYING).lastError())
        .hasValue("127.0.0.1: wait for the answer: no answer within PT2S");
  }

  @Test
  void aTargetThatClosesIsAFailure() {
    receiver.answering = exchange -> {};
    due("a", SLOW);

    assertThat(await("a", RETRYING).lastError())
        .hasValue("127.0.0.1: wait for the answer: the connection was closed");
  }

  @Test
  void aTargetWithoutAListenerIsAFailure() throws IOException {
    int port;
    try (ServerSocket closed = new ServerSocket(0)) {
      port = closed.getLocalPort();
    }
    due("a", "http://127.0.0.1:" + port, SLOW, "");

    assertThat(await("a", RETRYING).lastError()).hasValue("127.0.0.1: connect: connection refused");
  }

  @Test
  void onlyTheBeginningOfAnEndlessAnswerIsRetained() {
    receiver.answering =
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          byte[] junk = "x".repeat(8_192).getBytes(StandardCharsets.US_ASCII);
          while (true) {
            exchange.getResponseBody().write(junk);
          }
        };
    due("a", SLOW);
    assertThat(await("a", RETRYING).lastError().orElseThrow()).contains("has more than");

    receiver.answering = Receiver.text(500, "y".repeat(100_000));
    due("b", SLOW);
    assertThat(await("b", RETRYING).lastError().orElseThrow())
        .matches("127.0.0.1 answered 500: y{900,1024}");
  }

  @Test
  void aStalledHostIsLimitedAndDelaysNoOtherHost() throws Exception {
    Semaphore open = new Semaphore(0);
    AtomicInteger atOnce = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    receiver.answering =
        exchange -> {
          most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
          open.acquire();
          atOnce.decrementAndGet();
          exchange.sendResponseHeaders(204, -1);
        };
    try (Receiver other = new Receiver()) {
      for (int i = 0; i < 40; i++) {
        due("slow-" + i, receiver.url("/"), SLOW, ",\"timeout\":\"PT1M\"");
      }
      for (int i = 0; i < 16; i++) {
        receiver.calls.take();
      }
      due("a", "http://localhost:" + other.port() + "/", SLOW, "");
      await("a", COMPLETED);
      String list = "/v1/namespaces/" + namespace + "/timers?pageSize=50&state=";
      // Others are claimed ahead, and are running.
      Await.until(() -> !running.get(list + "ready").json().get("timers").isEmpty());
      assertThat(running.get(list + "scheduled").json().get("timers")).isEmpty();
      String ready = running.get(list + "ready").json().at("/timers/0/id").asString();
      assertThat(running.get(path(ready)).text("state")).isEqualTo("ready");
      open.release(40);
      for (int i = 0; i < 40; i++) {
        await("slow-" + i, COMPLETED);
      }
      assertThat(most).hasValue(16);
    }
  }

  @Test
  void plainHeadersAreReturnedAndSecretsAreSentAndNeverReturned() throws Exception {
    write("shop " + SECRET + "\ncrm header=Bearer hunter2");
    due(
        "a",
        receiver.url("/"),
        SLOW,
        ",\"timeout\":\"PT1M\",\"headers\":{\"X-Key\":\"k\",\"Authorization\":{\"secret\":\"crm\"}}");
    Call call = receiver.calls.take();
    assertThat(call.header("Authorization")).isEqualTo("Bearer hunter2");
    assertThat(call.header("X-Key")).isEqualTo("k");
    await("a", COMPLETED);

    Answer shown = running.get(path("a"));
    assertThat(shown.json().get("target"))
        .isEqualTo(
            Running.MAPPER.readTree(
                "{\"url\":\"%s\",\"secret\":\"shop\",\"timeout\":\"PT1M\",\"headers\":{\"X-Key\":\"k\",\"Authorization\":{\"secret\":\"crm\"}}}"
                    .formatted(receiver.url("/"))));
    Answer list = running.get("/v1/namespaces/" + namespace + "/timers?state=all&payload=true");
    assertThat(list.json().at("/timers/0/target/headers/X-Key").asString()).isEqualTo("k");
    assertThat(shown.json().get("headers")).isEmpty();
    for (Answer answer : List.of(shown, list, running.get("/v1/stats"), running.get("/metrics"))) {
      assertThat(answer.response().body()).doesNotContain("hunter2").doesNotContain("whsec_");
    }
  }

  @Test
  void aSecretOfAHeaderIsResolvedWithEachRequest() throws Exception {
    write("shop " + SECRET + "\ncrm header=one");
    String headers = ",\"headers\":{\"Cookie\":{\"secret\":\"crm\"}}";
    running.put(path("a"), body(receiver.url("/"), SLOW, headers).replace("PT0S", "PT1H"));
    write("shop " + SECRET + "\ncrm header=two");
    running.post(path("a") + ":run", null);
    assertThat(receiver.calls.take().header("Cookie")).isEqualTo("two");

    write("shop " + SECRET);
    running.put(path("b"), body(receiver.url("/"), TWICE, headers));
    assertThat(running.get(path("b")).status()).isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(strings = {"Authorization", "Proxy-Authorization", "cookie"})
  void aPlainCredentialIsRefusedByItsField(String name) {
    Answer put =
        running.put(
            path("a"),
            body(receiver.url("/"), SLOW, ",\"headers\":{\"" + name + "\":\"hunter2\"}"));

    assertThat(put.status()).isEqualTo(422);
    assertThat(put.text("field")).isEqualTo("target.headers." + name);
    assertThat(put.text("detail")).contains("{\"secret\":\"name\"}").doesNotContain("hunter2");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "shop namespace=other " + SECRET,
        "shop host=other.example " + SECRET,
        "shop host=https://127.0.0.1 " + SECRET,
        "shop host=http://127.0.0.1 " + SECRET,
        "shop header=x",
        "other " + SECRET
      })
  void aSecretThatTheTargetMayNotUseIsRefused(String line) throws Exception {
    write(line);
    Answer put = running.put(path("a"), body(receiver.url("/"), SLOW, ""));

    assertThat(put.status()).isEqualTo(422);
    assertThat(put.text("field")).isEqualTo("target.secret");
  }

  @Test
  void aRestrictionAppliesToTimersThatExist() throws Exception {
    running.put(path("a"), body(receiver.url("/"), TWICE, "").replace("\"PT0S\"", "\"PT1H\""));
    write("shop host=https://127.0.0.1 " + SECRET);
    running.post(path("a") + ":run", null);

    assertThat(await("a", FAILED).lastError())
        .hasValue("the secret shop is not for this namespace, scheme, host and port");
    assertThat(receiver.calls).isEmpty();
  }

  @Test
  void noSecretIsLogged() throws Exception {
    Logger all = (Logger) LoggerFactory.getLogger("io.timewheel");
    Logger audit = (Logger) LoggerFactory.getLogger("timewheel.audit");
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    all.setLevel(Level.DEBUG);
    all.addAppender(log);
    audit.addAppender(log);
    try {
      receiver.answering = Receiver.status(500);
      write("shop " + SECRET + "\ncrm header=hunter2");
      due("a", receiver.url("/"), TWICE, ",\"headers\":{\"Authorization\":{\"secret\":\"crm\"}}");
      await("a", FAILED);
      write("shop " + NEW_SECRET);
      due("b", "http://127.0.0.1:1/", TWICE, ",\"headers\":{\"X-Key\":\"hunter2\"}");
      await("b", FAILED);
    } finally {
      all.detachAppender(log);
      audit.detachAppender(log);
      all.setLevel(null);
    }
    List<String> lines =
        new ArrayList<>(log.list)
            .stream()
                .map(
                    event ->
                        event.getFormattedMessage()
                            + ThrowableProxyUtil.asString(event.getThrowableProxy()))
                .toList();
    assertThat(lines).anyMatch(line -> line.contains("answered 500"));
    assertThat(lines).noneMatch(line -> line.contains("hunter2") || line.contains("whsec_"));
  }

  @Test
  void timersAreFoundByTheirHost() {
    due("a", SLOW);
    await("a", COMPLETED);
    String list = "/v1/namespaces/" + namespace + "/timers?state=all&handler=webhook:";

    assertThat(running.get(list + "127.0.0.1").json().get("timers")).hasSize(1);
    assertThat(running.get(list + "shop.example").json().get("timers")).isEmpty();
  }

  @Test
  void theLargestTimerCanBeDelivered() throws Exception {
    String id = "\u20ac".repeat(85);
    String path = "/" + "p".repeat(2_000);
    String value = "\u20ac".repeat(1_300);
    running.put(
        path(URLEncoder.encode(id, StandardCharsets.UTF_8)),
        """
        {"after":"PT0S","payload":"%s","headers":{"h":"%s","H":"1"},
         "target":{"url":"%s","secret":"shop","headers":{"X":"%s"}}}
        """
            .formatted("x".repeat(65_534), value, receiver.url(path), "k".repeat(2_000)));

    Call call = receiver.calls.take();
    assertThat(call.body()).hasSize(65_536);
    assertThat(call.headers().allValues("timewheel-header-h"))
        .containsExactlyInAnyOrder("%E2%82%AC".repeat(1_300), "1");
    await(id, COMPLETED);
  }

  @Test
  void withoutAPayloadTheBodyCanStillBeParsed() throws Exception {
    running.put(path("a"), body(receiver.url("/"), SLOW, "").replace("\"payload\":{},", ""));

    Call call = receiver.calls.take();
    assertThat(call.body()).isEqualTo("null");
    assertThatCode(() -> new Webhook(SECRET).verify("null", call.headers()))
        .doesNotThrowAnyException();
  }

  @Test
  void everyRunOfARecurringTimerHasItsOwnId() throws Exception {
    try (Running other = new Running(WebhookSecrets.open(secrets), LOOPBACK)) {
      other.put(
          path("a"),
          body(receiver.url("/"), SLOW, "").replace("\"after\":\"PT0S\"", "\"every\":\"PT0.1S\""));

      assertThat(receiver.calls.take().header("webhook-id"))
          .isNotEqualTo(receiver.calls.take().header("webhook-id"));
    }
  }
}
