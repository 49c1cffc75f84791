// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.server.Running.Answer;
import io.timewheel.server.document.StatsView;
import io.timewheel.server.json.Json;
import io.timewheel.server.node.Node;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Caller;
import io.timewheel.server.security.Role;
import io.timewheel.server.security.Scope;
import io.timewheel.server.store.StoreReads;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/**
 * Tests figures, wheel and cluster over HTTP, after known traffic on a clock of the test. Only this
 * class verifies each figure against the traffic.
 */
class ViewResourceTest {
  private static final Instant START = Instant.parse("2026-12-01T09:30:00Z");
  private static final String LATER = "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}";
  private static final String NOW = "{\"after\":\"PT0S\",\"target\":{\"queue\":\"q\"}}";
  private static final String CLAIM = "/v1/namespaces/shop/queues/q/firings:claim";

  private final AtomicReference<Instant> time = new AtomicReference<>(START);
  private final InstantSource clock = time::get;
  private final Running running = new Running(config -> config, clock);

  @AfterEach
  void stop() {
    running.close();
  }

  private void put(String namespace, String id, String body) {
    assertThat(running.put("/v1/namespaces/" + namespace + "/timers/" + id, body).status())
        .isEqualTo(201);
  }

  private JsonNode claim() {
    Answer answer = running.post(CLAIM, "{\"max\":1,\"wait\":\"PT1M\"}");
    assertThat(answer.json().get("firings")).hasSize(1);
    return answer.json().at("/firings/0");
  }

  private void end(JsonNode firing, String verb) {
    Answer answer =
        running.post(
            "/v1/namespaces/shop/firings/" + firing.get("fireId").asString() + ":" + verb,
            "{\"leaseToken\":\"" + firing.get("leaseToken").asString() + "\"}");
    assertThat(answer.status()).isEqualTo(200);
  }

  private void second() {
    running.server.everySecond();
  }

  private void pass(Duration passed) {
    time.updateAndGet(now -> now.plus(passed));
  }

  private JsonNode stats(String query) {
    Answer answer = running.get("/v1/stats" + query);
    assertThat(answer.status()).isEqualTo(200);
    return answer.json();
  }

  @Test
  void statsAfterKnownTraffic() {
    second();
    put("shop", "a", LATER);
    put("shop", "b", NOW);
    JsonNode failing = claim();
    end(failing, "nack");
    put("shop", "c", NOW);
    end(claim(), "ack");
    put("other", "d", LATER);
    second();
    pass(Duration.ofSeconds(10));
    second();
    JsonNode stats = stats("");
    assertThat(stats.get("now").asString()).isEqualTo("2026-12-01T09:30:10Z");
    assertThat(stats.get("startedAt").asString()).isEqualTo("2026-12-01T09:30:00Z");
    assertThat(stats.get("node").asString()).isEqualTo("node-1");
    assertThat(stats.get("store").asString()).isEqualTo("memory");
    assertThat(stats.get("storeAvailable").asBoolean()).isTrue();
    assertThat(stats.get("paused")).isEmpty();
    assertThat(stats.get("states")).hasSize(9);
    assertThat(stats.at("/states/scheduled").asInt()).isEqualTo(2);
    assertThat(stats.at("/states/completed").asInt()).isEqualTo(1);
    assertThat(stats.at("/totals/scheduled").asInt()).isEqualTo(4);
    assertThat(stats.at("/totals/fired").asInt()).isGreaterThanOrEqualTo(2);
    assertThat(stats.at("/totals/succeeded").asInt()).isEqualTo(1);
    assertThat(stats.at("/totals/failed").asInt()).isEqualTo(1);
    assertThat(stats.at("/rates/scheduled").isNumber()).isTrue();
    assertThat(stats.at("/lag/count").asInt()).as("the first attempts").isEqualTo(2);
    assertThat(stats.at("/lag/max").asString()).isEqualTo("PT0S");
    assertThat(stats.get("minutes")).hasSize(1);
    assertThat(stats.at("/minutes/0/at").asString()).isEqualTo("2026-12-01T09:30:00Z");
    assertThat(stats.at("/minutes/0/scheduled").asInt()).isEqualTo(4);
    assertThat(stats.at("/minutes/0/failed").asInt()).isEqualTo(1);
    assertThat(stats.at("/minutes/0/lagP99").asString()).isEqualTo("PT0S");
  }

  @Test
  void ratesAreOfTheLastTenSeconds() {
    second();
    pass(Duration.ofSeconds(10));
    for (int i = 0; i < 5; i++) {
      put("shop", "t" + i, LATER);
    }
    second();
    assertThat(stats("").at("/rates/scheduled").asDouble()).isEqualTo(0.5);
    assertThat(stats("").at("/minutes/0/scheduled").asInt()).isEqualTo(5);
    assertThat(stats("").at("/minutes/0").has("lagP50")).isFalse();
    pass(Duration.ofSeconds(50));
    second();
    assertThat(stats("").at("/rates/scheduled").asDouble()).isZero();
    assertThat(stats("").get("minutes")).hasSize(2);
  }

  @Test
  void statsOfANamespaceCountItsOwnTrafficOnly() {
    second();
    put("shop", "a", NOW);
    end(claim(), "nack");
    put("other", "b", LATER);
    put("other", "c", LATER);
    pass(Duration.ofSeconds(10));
    second();
    JsonNode shop = stats("?namespace=shop");
    assertThat(shop.at("/minutes/0/scheduled").asInt()).isEqualTo(1);
    assertThat(shop.at("/minutes/0/failed").asInt()).isEqualTo(1);
    assertThat(shop.at("/rates/scheduled").asDouble()).isEqualTo(0);
    assertThat(shop.at("/lag/count").asInt()).isEqualTo(1);
    JsonNode other = stats("?namespace=other");
    assertThat(other.at("/minutes/0/scheduled").asInt()).isEqualTo(2);
    assertThat(other.at("/minutes/0/failed").asInt()).isZero();
    assertThat(other.at("/lag/count").asInt()).isZero();
    assertThat(stats("?namespace=none").at("/minutes")).isEmpty();
    for (String figure : List.of("totals", "window", "running", "queued")) {
      assertThat(shop.has(figure)).as(figure + " of other namespaces").isFalse();
      assertThat(stats("").has(figure)).as(figure).isTrue();
    }
    assertThat(stats("").at("/minutes/0/scheduled").asInt()).isEqualTo(3);
  }

  @Test
  void aRepeatedRequestIsNotCountedTwice() {
    String path = "/v1/namespaces/shop/timers/a";
    for (int i = 0; i < 3; i++) {
      running.put(path, LATER, "Idempotency-Key", "k");
      pass(Duration.ofMillis(1));
    }
    assertThat(stats("").at("/totals/scheduled").asInt()).isEqualTo(1);
  }

  @Test
  void aResumedTimerIsNotLate() {
    put("shop", "a", "{\"at\":\"2026-12-01T09:30:01Z\",\"target\":{\"queue\":\"q\"}}");
    String timer = "/v1/namespaces/shop/timers/a";
    assertThat(running.post(timer + ":pause", null).status()).isEqualTo(200);
    pass(Duration.ofHours(1));
    assertThat(running.post(timer + ":resume", null).status()).isEqualTo(200);
    claim();
    second();
    assertThat(stats("").at("/lag/count").asInt()).isZero();
  }

  @Test
  void statsOfANamespaceCountItsTimersOnly() {
    put("shop", "a", LATER);
    put("other", "b", LATER);
    running.scheduler.namespace("other").pause();
    assertThat(stats("?namespace=shop").at("/states/scheduled").asInt()).isEqualTo(1);
    assertThat(stats("?namespace=shop").get("paused")).isEmpty();
    assertThat(stats("").get("paused")).hasSize(1);
    assertThat(stats("?namespace=nobody").at("/states/scheduled").asInt()).isZero();
  }

  @Test
  void theWheelCountsDueTimers() {
    put("shop", "a", LATER);
    put("other", "b", "{\"after\":\"PT30S\",\"target\":{\"queue\":\"q\"}}");
    JsonNode wheel = running.get("/v1/wheel").json();
    assertThat(wheel.get("now").asString()).isEqualTo("2026-12-01T09:30:00Z");
    assertThat(wheel.at("/levels/0/counts/30").asInt()).isEqualTo(1);
    assertThat(wheel.at("/levels/2/counts/0").asInt()).isEqualTo(1);
    assertThat(wheel.at("/levels/2/counts/1").asInt()).isEqualTo(1);
    assertThat(wheel.get("inMemory").isNumber()).isTrue();
    JsonNode shop = running.get("/v1/wheel?namespace=shop").json();
    assertThat(shop.at("/levels/0/counts/30").asInt()).isZero();
    assertThat(shop.at("/levels/2/counts/1").asInt()).isEqualTo(1);
  }

  @Test
  void theClusterOfAnEmbeddedStoreIsThisNode() {
    JsonNode cluster = running.get("/v1/cluster").json();
    assertThat(cluster.get("shared").asBoolean()).isFalse();
    assertThat(cluster.get("nodes")).hasSize(1);
    assertThat(cluster.at("/nodes/0/self").asBoolean()).isTrue();
    assertThat(cluster.at("/nodes/0/alive").asBoolean()).isTrue();
    assertThat(cluster.at("/nodes/0/address").asString())
        .isEqualTo("127.0.0.1:" + running.server.port());
    assertThat(cluster.at("/nodes/0/clockOffset").asString()).isEqualTo("PT0S");
    assertThat(cluster.get("shards")).hasSize(1);
    assertThat(cluster.at("/shards/0/owner")).isEqualTo(cluster.at("/nodes/0/id"));
    assertThat(cluster.at("/shards/0/epoch").asLong()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/stats", "/v1/wheel", "/v1/cluster", "/v1/namespaces", "/v1/events"})
  void viewsAreReadOnly(String path) {
    Answer head = running.send("HEAD", path, null);
    assertThat(head.status()).isEqualTo(200);
    assertThat(head.response().body()).isEmpty();
    Answer post = running.post(path, "{}");
    assertThat(post.status()).isEqualTo(405);
    assertThat(post.header("Allow")).isEqualTo("GET");
    assertThat(running.get(path + "?color=red").status()).isEqualTo(400);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/stats", "/v1/wheel", "/v1/events"})
  void aNamespaceMustBeAName(String path) {
    assertThat(running.get(path + "?namespace=").status()).isEqualTo(400);
    assertThat(running.get(path + "?namespace=..").status()).isEqualTo(400);
  }

  private JsonNode stats(DurableTimer scheduler, Scope scope, boolean minutes) {
    StoreReads reads = new StoreReads();
    reads.serve(scheduler, 1);
    StatsView view = new StatsView(new Node(clock, () -> "here"));
    return Running.MAPPER.readTree(Json.bytes(view.answer(reads, scope, minutes)));
  }

  @Test
  void aScopeContainsTheNamespacesOfTheCaller() {
    Caller caller = new Caller("someone", Set.of(Role.READ), Set.of("shop", "bank"));
    Scope own = Scope.of(caller, null);
    assertThat(own.sees("shop")).isTrue();
    assertThat(own.sees("other")).isFalse();
    Scope one = Scope.of(caller, "shop");
    assertThat(one.sees("bank")).isFalse();
    assertThatThrownBy(() -> Scope.of(caller, "other"))
        .isInstanceOfSatisfying(
            Problem.Failure.class, e -> assertThat(e.problem().status()).isEqualTo(403));
    assertThat(Scope.of(Caller.LOCAL, null)).isEqualTo(Scope.ALL);
    put("shop", "a", LATER);
    put("other", "b", LATER);
    JsonNode stats = stats(running.scheduler, own, false);
    assertThat(stats.at("/states/scheduled").asInt()).isEqualTo(1);
    assertThat(stats.has("minutes")).isFalse();
  }

  @Test
  void anUnavailableStoreIsReportedInTheFigures() {
    TimerStore unplugged =
        new ForwardingTimerStore(InMemoryTimerStore.create()) {
          @Override
          public Map<String, Map<TimerState, Long>> counts() {
            throw new StoreException(StoreException.Kind.UNAVAILABLE, "unplugged", null);
          }
        };
    try (DurableTimer scheduler = DurableTimer.builder(unplugged).build()) {
      JsonNode stats = stats(scheduler, Scope.ALL, true);
      assertThat(stats.get("storeAvailable").asBoolean()).isFalse();
      assertThat(stats.has("states")).isFalse();
      assertThat(stats.at("/totals/fired").asInt()).isZero();
    }
  }
}
