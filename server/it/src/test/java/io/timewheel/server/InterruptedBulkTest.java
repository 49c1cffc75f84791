// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
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
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests a bulk operation that is interrupted, for example by a kill of its server, and one whose
 * filter matches other timers meanwhile.
 */
@Timeout(120)
class InterruptedBulkTest {
  /** The number of timers: more than the server changes at a time. */
  private static final int TIMERS = 1_001;

  private static final String LAST = "u";
  private static final String BODY = "{\"filter\":{},\"expect\":" + TIMERS + "}";

  private volatile boolean failing = true;

  private final class FailingStore extends ForwardingTimerStore {
    FailingStore() {
      super(InMemoryTimerStore.create());
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      for (Change change : changes) {
        if (failing && change instanceof Change.Cancel && change.key().id().equals(LAST)) {
          throw new StoreException(StoreException.Kind.UNAVAILABLE, "the disk is full", null);
        }
      }
      return super.commit(changes);
    }
  }

  @Test
  void aRepeatedRequestContinuesAndAnswersForAll() throws Exception {
    try (TimewheelServer server = TimewheelServer.start(ServerConfig.loopback(0));
        DurableTimer scheduler =
            DurableTimer.builder(server.watch("failing", new FailingStore())).start()) {
      server.serve(scheduler);
      List<TimerSpec> specs = new ArrayList<>();
      for (int i = 0; i < TIMERS; i++) {
        specs.add(
            TimerSpec.of("shop", i == 0 ? LAST : "t" + i).after(Duration.ofHours(1)).queue("q"));
      }
      scheduler.scheduleAll(specs);
      assertThat(cancel(server).status()).isEqualTo(503);
      assertThat(scheduler.counts().get("shop").get(TimerState.CANCELLED)).isEqualTo(1_000);

      failing = false;
      Answer retry = cancel(server);

      assertThat(retry.status()).as(retry.response().body()).isEqualTo(200);
      assertThat(retry.json().get("count").asInt()).isEqualTo(TIMERS);
      assertThat(retry.json().get("changed").asInt()).isEqualTo(TIMERS);
      assertThat(scheduler.counts().get("shop")).doesNotContainKey(TimerState.SCHEDULED);
      scheduler.schedule(TimerSpec.of("shop", "later").after(Duration.ofHours(1)).queue("q"));
      assertThat(cancel(server).json()).isEqualTo(retry.json());
      assertThat(scheduler.counts().get("shop").get(TimerState.SCHEDULED)).isEqualTo(1);
    }
  }

  @Test
  void changesOnlyTheCountedVersions() throws Exception {
    AtomicReference<Runnable> afterCount = new AtomicReference<>();
    ForwardingTimerStore store =
        new ForwardingTimerStore(InMemoryTimerStore.create()) {
          @Override
          public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
            TimerPage page = super.page(query, after, limit);
            Runnable first = afterCount.getAndSet(null);
            if (first != null) {
              first.run();
            }
            return page;
          }
        };
    try (TimewheelServer server = TimewheelServer.start(ServerConfig.loopback(0));
        DurableTimer scheduler = DurableTimer.builder(server.watch("memory", store)).start()) {
      server.serve(scheduler);
      schedule(scheduler, "a", 1);
      schedule(scheduler, "b", 1);
      schedule(scheduler, "c", 1);
      afterCount.set(
          () -> {
            schedule(scheduler, "b", 2);
            schedule(scheduler, "d", 1);
          });

      Answer answer = cancel(server, "{\"filter\":{},\"expect\":3}");

      assertThat(answer.response().body()).isEqualTo("{\"count\":3,\"changed\":2}");
      assertThat(scheduler.timer("shop", "b").get().orElseThrow().state())
          .isEqualTo(TimerState.SCHEDULED);
      assertThat(scheduler.timer("shop", "d").get().orElseThrow().state())
          .isEqualTo(TimerState.SCHEDULED);
    }
  }

  private static void schedule(DurableTimer scheduler, String id, int hours) {
    scheduler.schedule(TimerSpec.of("shop", id).after(Duration.ofHours(hours)).queue("q"));
  }

  private static Answer cancel(TimewheelServer server) throws Exception {
    return cancel(server, BODY);
  }

  private static Answer cancel(TimewheelServer server, String body) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + server.port() + "/v1/namespaces/shop/timers:cancel");
    HttpRequest request =
        HttpRequest.newBuilder(uri)
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", "k")
            .POST(BodyPublishers.ofString(body))
            .build();
    return new Answer(HttpClient.newHttpClient().send(request, BodyHandlers.ofString()));
  }
}
