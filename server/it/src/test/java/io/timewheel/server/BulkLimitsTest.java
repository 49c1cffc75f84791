// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.BatchResult;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.server.Running.Answer;
import io.timewheel.server.settings.ServerConfig;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the number of bulk changes at a time, and their pace. */
@Timeout(120)
class BulkLimitsTest {
  private static final String ALL = "{\"filter\":{},\"force\":true}";

  private final CountDownLatch goOn = new CountDownLatch(1);
  private final Semaphore reading = new Semaphore(0);

  /** Holds the bulk changes at their first page. */
  private final class HeldStore extends ForwardingTimerStore {
    HeldStore() {
      super(InMemoryTimerStore.create());
    }

    @Override
    public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
      reading.release();
      try {
        goOn.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return super.page(query, after, limit);
    }
  }

  private static CompletableFuture<Answer> send(TimewheelServer server, String verb) {
    URI uri =
        URI.create("http://127.0.0.1:" + server.port() + "/v1/namespaces/shop/timers:" + verb);
    HttpRequest request =
        HttpRequest.newBuilder(uri)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(ALL))
            .build();
    return HttpClient.newHttpClient()
        .sendAsync(request, BodyHandlers.ofString())
        .thenApply(Answer::new);
  }

  @Test
  void furtherOnesAre429() throws Exception {
    try (TimewheelServer server = TimewheelServer.start(ServerConfig.loopback(0));
        DurableTimer scheduler =
            DurableTimer.builder(server.watch("held", new HeldStore())).start()) {
      server.serve(scheduler);
      List<CompletableFuture<Answer>> running =
          List.of(send(server, "pause"), send(server, "resume")); // as many as one client may
      reading.acquire(2);

      Answer refused = send(server, "cancel").join();
      assertThat(refused.status()).isEqualTo(429);
      assertThat(refused.header("Retry-After")).isEqualTo("1");
      assertThat(refused.text("detail")).contains("limit of one client: 2");

      goOn.countDown();
      running.forEach(each -> assertThat(each.join().status()).isEqualTo(200));
      assertThat(send(server, "cancel").join().status()).isEqualTo(200);
    }
  }

  /** A retry of timers that have not failed changes nothing, so only the pace takes time. */
  @Test
  void theyChangeAtMost20000TimersEachSecond() throws Exception {
    try (Running running = new Running()) {
      List<TimerSpec> specs = new ArrayList<>();
      for (int i = 0; i < 41_000; i++) {
        specs.add(TimerSpec.of("shop", "t" + i).after(Duration.ofHours(1)).queue("q"));
      }
      running.scheduler.scheduleAll(specs).forEach(BatchResult::orThrow);

      long beganNanos = System.nanoTime();
      Answer retried = running.post("/v1/namespaces/shop/timers:retry", ALL);
      assertThat(retried.json().get("count").asInt()).isEqualTo(41_000);
      assertThat(System.nanoTime() - beganNanos).isGreaterThan(TimeUnit.SECONDS.toNanos(2));
    }
  }
}
