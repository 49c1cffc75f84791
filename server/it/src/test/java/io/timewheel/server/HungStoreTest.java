// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.server.Running.Answer;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.settings.WorkLimits;
import io.timewheel.testing.Await;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests a server whose store hangs: no call returns until the test releases it. Only this class
 * verifies the answers after the store timeout.
 */
@Timeout(120)
class HungStoreTest {
  private static final String TIMERS = "/v1/namespaces/shop/timers";
  private static final String SPEC = "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}";
  private static final int CALLERS = 80;

  private final CountDownLatch goOn = new CountDownLatch(1);
  private final HttpClient client = HttpClient.newHttpClient();
  private @Nullable TimewheelServer server;
  private @Nullable DurableTimer timer;
  private volatile boolean hung;

  private final class HungStore extends ForwardingTimerStore {
    HungStore() {
      super(InMemoryTimerStore.create());
    }

    private void hang() {
      if (hung) {
        try {
          goOn.await();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
    }

    @Override
    public @Nullable TimerRecord get(TimerKey key) {
      hang();
      return super.get(key);
    }

    @Override
    public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
      hang();
      return super.page(query, after, limit);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      hang();
      return super.commit(changes);
    }

    @Override
    public Map<String, Map<TimerState, Long>> counts() {
      hang();
      return super.counts();
    }
  }

  private void start(Duration storeTimeout) throws IOException {
    start(storeTimeout, ServerConfig.loopback(0).maxBodyBytes());
  }

  private void start(Duration storeTimeout, long maxBodyBytes) throws IOException {
    ServerConfig c = ServerConfig.loopback(0);
    WorkLimits work = c.work();
    server =
        TimewheelServer.start(
            new ServerConfig(
                c.listen(),
                0,
                c.hosts(),
                c.ingress(),
                c.maxConnections(),
                c.maxWaitingClaims(),
                c.maxStreams(),
                maxBodyBytes,
                c.maxBodyTime(),
                new WorkLimits(
                    work.longAtATime(),
                    work.shortAtATime(),
                    work.maxWaiting(),
                    Duration.ofMinutes(5),
                    work.maxAnswerBytes(),
                    work.maxStall(),
                    storeTimeout)));
    timer = DurableTimer.builder(server.watch("hung", new HungStore())).start();
    server.serve(timer, 8);
    hung = true;
  }

  @AfterEach
  void stop() {
    goOn.countDown();
    server.close();
    timer.close();
  }

  private CompletableFuture<Answer> send(String method, String path, @Nullable String body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .header("Content-Type", "application/json")
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    return client.sendAsync(request.build(), BodyHandlers.ofString()).thenApply(Answer::new);
  }

  private CompletableFuture<Answer> get(String path) {
    return send("GET", path, null);
  }

  @Test
  void healthAndReadinessAnswerWhile80CallersWait() throws Exception {
    start(Duration.ofMinutes(5));
    List<CompletableFuture<Answer>> callers = new ArrayList<>();
    List<CompletableFuture<Answer>> bulks = new ArrayList<>();
    for (int i = 0; i < CALLERS; i++) {
      callers.add(get(TIMERS + "/a"));
      callers.add(send("PUT", TIMERS + "/a", SPEC));
      bulks.add(send("POST", TIMERS + ":pause", "{\"filter\":{},\"force\":true}"));
    }
    assertThat(get("/healthz").join().status()).isEqualTo(200);
    assertThat(callers).noneMatch(CompletableFuture::isDone);
    Await.until(() -> get("/readyz").join().status() == 503); // no read succeeds for a while
    goOn.countDown();
    assertThat(callers).allSatisfy(call -> assertThat(call.join().status()).isLessThan(500));
    assertThat(bulks).allSatisfy(call -> assertThat(call.join().status()).isIn(200, 429));
    Await.until(() -> get("/readyz").join().status() == 200); // the next read of the probe succeeds
  }

  @Test
  void anyNumberOfStreamsOpensAtOnceAndReceivesTheFiguresOfOneCount() throws Exception {
    start(Duration.ofMinutes(5));
    HttpRequest events =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + server.port() + "/v1/events?types=stats"))
            .build();
    List<CompletableFuture<HttpResponse<InputStream>>> streams = new ArrayList<>();
    for (int i = 0; i < 2 * WorkLimits.standard().maxWaiting(); i++) {
      streams.add(client.sendAsync(events, BodyHandlers.ofInputStream()));
    }
    for (CompletableFuture<HttpResponse<InputStream>> stream : streams) {
      assertThat(stream.join().statusCode()).isEqualTo(200);
    }
    goOn.countDown();
    for (CompletableFuture<HttpResponse<InputStream>> stream : streams) {
      try (BufferedReader reader =
          new BufferedReader(new InputStreamReader(stream.join().body(), UTF_8))) {
        assertThat(reader.lines().anyMatch("event: stats"::equals)).isTrue();
      }
    }
  }

  @Test
  void aBodyCountsUntilItsWorkEnds() throws Exception {
    start(Duration.ofMillis(50), 600_000); // one client may use half
    String patch = "{}" + " ".repeat(200_000);

    Answer overdue = patch(patch).join();
    Answer second = patch(patch).join();

    assertThat(overdue.text("detail")).contains("within PT0.05S");
    assertThat(second.text("detail")).contains("too many bytes of bodies");
  }

  private CompletableFuture<Answer> patch(String body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + TIMERS + "/a"))
            .header("Content-Type", "application/merge-patch+json")
            .header("If-Match", "\"1\"")
            .method("PATCH", BodyPublishers.ofString(body))
            .build();
    return client.sendAsync(request, BodyHandlers.ofString()).thenApply(Answer::new);
  }

  @Test
  void aReadIsAnswered503AfterTheStoreTimeout() throws Exception {
    start(Duration.ofMillis(50));
    Answer answer = get(TIMERS + "/a").join();
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.text("type")).endsWith(":unavailable");
    assertThat(answer.text("detail")).contains("within PT0.05S");
    assertThat(answer.header("Retry-After")).isEqualTo("1");
  }

  @Test
  void theNextRequestAfterAStoreTimeoutIsAnswered() throws Exception {
    start(Duration.ofMillis(50));
    Answer overdue = get(TIMERS + "/a").join();
    assertThat(overdue.status()).isEqualTo(503);
    assertThat(overdue.header("Connection")).isEqualTo("close");
    assertThat(get("/healthz").join().status()).isEqualTo(200);
  }

  @Test
  void aWriteIsAnsweredWithAnUnknownOutcome() throws Exception {
    start(Duration.ofMillis(50));
    for (Answer answer :
        List.of(
            send("PUT", TIMERS + "/a", SPEC).join(),
            send("DELETE", TIMERS + "/a", null).join(),
            send("POST", TIMERS + "/a:run", null).join(),
            send(
                    "POST",
                    TIMERS + ":batch",
                    "{\"timers\":[{\"id\":\"a\"," + SPEC.substring(1) + "]}")
                .join(),
            send("POST", TIMERS + ":cancel", "{\"filter\":{\"prefix\":\"a\"},\"force\":true}")
                .join())) {
      assertThat(answer.status()).isEqualTo(503);
      assertThat(answer.text("type")).endsWith(":unknown_outcome");
      assertThat(answer.text("detail")).contains("may have been made or not");
      assertThat(answer.header("Retry-After")).isEqualTo("1");
    }
    goOn.countDown(); // the change is made after the answer
    Await.until(() -> timer.timer("shop", "a").get().isPresent());
  }

  @Test
  void aClaimMayWaitLongerThanTheStoreTimeout() throws Exception {
    start(Duration.ofSeconds(1));
    hung = false;
    String claims = "/v1/namespaces/shop/queues/q/firings:claim";
    while (send("POST", claims, "{\"wait\":\"PT0S\"}").join().status() != 200) {
      // Until the classes are loaded, even a claim that does not wait may take longer.
    }
    CompletableFuture<Answer> claim = send("POST", claims, "{\"wait\":\"PT1M\"}");
    Await.until(() -> server.waitingClaims() != 0);
    hung = true;
    assertThat(get(TIMERS + "/a").join().status()).isEqualTo(503); // so the timeout has passed
    hung = false;
    goOn.countDown();
    timer.schedule(TimerSpec.of("shop", "a").after(Duration.ZERO).queue("q"));
    assertThat(claim.join().status()).isEqualTo(200);
    assertThat(claim.join().json().get("firings")).hasSize(1);
  }
}
