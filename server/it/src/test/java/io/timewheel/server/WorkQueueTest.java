// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerStore;
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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that all other requests succeed while the lists of the store do not return. */
@Timeout(120)
class WorkQueueTest {
  private static final int AT_A_TIME = 2;
  private static final String LIST = "/v1/namespaces/shop/timers";
  private static final String TIMER = "/v1/namespaces/shop/timers/a";
  private static final String SPEC = "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}";

  private final AtomicInteger listing = new AtomicInteger();
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final HttpClient client = HttpClient.newHttpClient();
  private TimewheelServer server;
  private DurableTimer scheduler;

  private final class SlowStore extends ForwardingTimerStore {
    SlowStore(TimerStore store) {
      super(store);
    }

    @Override
    public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
      if ("shop".equals(query.namespace())) {
        listing.incrementAndGet();
        try {
          goOn.await();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
      return super.page(query, after, limit);
    }
  }

  private void start(int maxWaiting, Duration maxWait) throws IOException {
    WorkLimits work =
        new WorkLimits(
            AT_A_TIME,
            32,
            maxWaiting,
            maxWait,
            64 << 20,
            Duration.ofSeconds(10),
            Duration.ofHours(1));
    server =
        TimewheelServer.start(BoundedAnswersTest.with(ServerConfig.loopback(0), 64 << 20, work));
    scheduler =
        DurableTimer.builder(server.watch("slow", new SlowStore(InMemoryTimerStore.create())))
            .start();
    server.serve(scheduler);
  }

  @AfterEach
  void stop() {
    goOn.countDown();
    server.close();
    scheduler.close();
  }

  private CompletableFuture<HttpResponse<String>> send(
      String method, String path, @Nullable String body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .header("Content-Type", "application/json")
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
            .build();
    return client.sendAsync(request, BodyHandlers.ofString());
  }

  private List<CompletableFuture<HttpResponse<String>>> lists(int count) {
    List<CompletableFuture<HttpResponse<String>>> sent = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      sent.add(send("GET", LIST, null));
    }
    return sent;
  }

  private void awaitListing() {
    Await.until(() -> listing.get() >= AT_A_TIME);
  }

  @Test
  void lookupsAboveTheLimitAreRefusedAndProbesClaimsAndWritesAreServed() throws IOException {
    start(6, Duration.ofHours(1)); // one client may use half
    var sent = lists(AT_A_TIME);
    awaitListing();
    sent.addAll(lists(4));
    CompletableFuture.anyOf(sent.toArray(CompletableFuture[]::new)).join();
    var refused = sent.stream().filter(CompletableFuture::isDone).toList();
    assertThat(refused).hasSize(1);
    assertThat(refused.get(0).join().statusCode()).isEqualTo(503);
    assertThat(refused.get(0).join().headers().firstValue("Retry-After")).hasValue("1");
    assertThat(refused.get(0).join().body()).contains("(limit of one client: 3)");

    for (String path : List.of("/healthz", "/readyz", "/metrics", "/", "/openapi.json")) {
      assertThat(send("GET", path, null).join().statusCode()).as(path).isEqualTo(200);
    }
    assertThat(send("PUT", TIMER, SPEC).join().statusCode()).isEqualTo(201);
    assertThat(send("GET", TIMER, null).join().statusCode()).isEqualTo(200);
    String claim = "/v1/namespaces/shop/queues/q/firings:claim";
    assertThat(send("POST", claim, "{\"wait\":\"PT0S\"}").join().statusCode()).isEqualTo(200);
    assertThat(listing).as("lists under way").hasValue(AT_A_TIME);

    goOn.countDown();
    assertThat(sent)
        .filteredOn(each -> each != refused.get(0))
        .allSatisfy(each -> assertThat(each.join().statusCode()).isEqualTo(200));
  }

  @Test
  void aLookupThatWaitsTooLongIsRefused() throws IOException {
    start(3, Duration.ofMillis(50));
    var sent = lists(AT_A_TIME);
    awaitListing();
    HttpResponse<String> refused = send("GET", LIST, null).join();
    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(refused.headers().firstValue("Retry-After")).hasValue("1");
    goOn.countDown();
    assertThat(sent).allSatisfy(each -> assertThat(each.join().statusCode()).isEqualTo(200));
    assertThat(listing).as("the refused one is not read").hasValue(AT_A_TIME);
  }
}
