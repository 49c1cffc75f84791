// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.FireId;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.settings.WorkLimits;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a shared store whose reads of one timer do not return. */
@Timeout(120)
class StoreReadsTest {
  private static final String TIMERS = "/v1/namespaces/shop/timers";
  private static final String SPEC = "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}";
  private static final String ITEM = "{\"id\":\"a\",\"ifMatch\":\"*\"," + SPEC.substring(1);
  private static final String FIRING =
      "/v1/namespaces/shop/firings/" + new FireId(new TimerKey("shop", "a"), 1, 1);
  private static final String LEASE_OF_NOBODY = "{\"leaseToken\":\"%032d\"}".formatted(0);
  private static final int AT_A_TIME = 2;
  private static final Duration LEASE = Duration.ofMinutes(1);
  private static final InstantSource YESTERDAY =
      InstantSource.offset(InstantSource.system(), Duration.ofDays(-1));

  private final AtomicInteger reading = new AtomicInteger();
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final HttpClient client = HttpClient.newHttpClient();
  private TimewheelServer server;
  private DurableTimer scheduler;

  private final class SlowStore extends ForwardingTimerStore {
    SlowStore(TimerStore store) {
      super(store);
    }

    @Override
    public @Nullable TimerRecord get(TimerKey key) {
      if (key.id().equals("slow")) {
        reading.incrementAndGet();
        try {
          goOn.await();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
      return super.get(key);
    }
  }

  @BeforeEach
  void start() throws IOException {
    WorkLimits all = new WorkLimits(16, 16, 16, Duration.ofHours(1), 64 << 20, LEASE, LEASE);
    server =
        TimewheelServer.start(BoundedAnswersTest.with(ServerConfig.loopback(0), 64 << 20, all));
    InMemoryTimerStore store = InMemoryTimerStore.create();
    try (DurableTimer yesterday = DurableTimer.builder(store).clock(YESTERDAY).build()) {
      yesterday.schedule(
          TimerSpec.of("shop", "missed")
              .every(Duration.ofHours(1))
              .missed(MissedRuns.FIRE_ONCE)
              .queue("missed"));
    }
    scheduler = DurableTimer.builder(server.watch("slow", new SlowStore(store.reopen()))).build();
    server.serve(scheduler, AT_A_TIME);
  }

  @AfterEach
  void stop() {
    goOn.countDown();
    server.close();
    scheduler.close();
  }

  private CompletableFuture<Integer> send(String method, String path, @Nullable String body) {
    // The header makes verbs read the timer first.
    return send(request(method, path, body).header("If-Match", "*"));
  }

  private HttpRequest.Builder request(String method, String path, @Nullable String body) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
        .header("Content-Type", "application/json")
        .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
  }

  private CompletableFuture<Integer> send(HttpRequest.Builder request) {
    return client
        .sendAsync(request.build(), BodyHandlers.discarding())
        .thenApply(HttpResponse::statusCode);
  }

  private CompletableFuture<Integer> get(String path) {
    return send("GET", path, null);
  }

  private void awaitReads(int under, int waiting) {
    Await.until(() -> reading.get() >= under && server.waitingReads() >= waiting);
  }

  @Test
  void aLimitedNumberOfRequestsReadsAndOthersWait() {
    scheduler.start();
    scheduler.schedule(TimerSpec.of("shop", "a").after(Duration.ofHours(1)).queue("q"));
    List<CompletableFuture<Integer>> slow = new ArrayList<>();
    for (int i = 0; i < AT_A_TIME; i++) {
      slow.add(get(TIMERS + "/slow"));
    }
    awaitReads(AT_A_TIME, 0);

    List<CompletableFuture<Integer>> others =
        List.of(
            get(TIMERS + "/a"),
            get(TIMERS),
            get("/v1/namespaces/shop/histogram"),
            get("/v1/namespaces"),
            get("/v1/stats"),
            get("/v1/wheel"),
            get("/metrics"),
            send("PUT", TIMERS + "/a", SPEC),
            send("POST", TIMERS + ":batch", "{\"timers\":[" + ITEM + "]}"),
            send("POST", TIMERS + ":pause", "{\"filter\":{\"prefix\":\"a\"},\"force\":true}"),
            send("POST", TIMERS + "/a:pause", null),
            send("POST", FIRING + ":ack", LEASE_OF_NOBODY),
            send("POST", FIRING + ":nack", LEASE_OF_NOBODY),
            send("DELETE", TIMERS + "/none", null));

    awaitReads(AT_A_TIME, others.size());
    assertThat(reading).hasValue(AT_A_TIME);
    assertThat(get("/readyz").join()).as("reads nothing, so it waits for no read").isEqualTo(200);
    goOn.countDown();
    assertThat(slow).allSatisfy(read -> assertThat(read.join()).isEqualTo(404));
    assertThat(others).allSatisfy(read -> assertThat(read.join()).isBetween(200, 412));
  }

  @Test
  void aPutOfANewTimerReadsNothing() {
    scheduler.start();

    assertThat(send(request("PUT", TIMERS + "/slow", SPEC)).join()).isEqualTo(201);

    assertThat(reading).hasValue(0);
  }

  @Test
  void theEngineWaitsForNoneOfThem() {
    for (int i = 0; i < AT_A_TIME + 1; i++) {
      var unused = get(TIMERS + "/slow");
    }
    awaitReads(AT_A_TIME, 1);

    scheduler.start(); // the record contains its rule for missed runs

    var claim = scheduler.async().queue("shop", "missed").claim(1, LEASE, Duration.ofMinutes(1));
    assertThat(claim.toCompletableFuture().join()).hasSize(1);
    assertThat(server.waitingReads()).isEqualTo(1);
  }
}
