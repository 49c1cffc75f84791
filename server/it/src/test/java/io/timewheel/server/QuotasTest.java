// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.server.Running.Answer;
import io.timewheel.server.security.Caller;
import io.timewheel.server.security.Quotas;
import io.timewheel.server.security.Role;
import io.timewheel.server.security.Tokens;
import io.timewheel.server.settings.Quota;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.webhook.SecretSource;
import io.timewheel.testing.Await;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the quotas of tokens and namespaces. */
@Timeout(120)
class QuotasTest {
  private static final String AT = "{\"at\":\"2099-01-01T00:00:00Z\",\"target\":{\"queue\":\"q\"}}";
  private static final String TIMERS = "/v1/namespaces/shop/timers";
  private static final String BEARER = "Authorization";
  private static final Duration MINUTE = Duration.ofMinutes(1);

  @TempDir private Path directory;
  private final AtomicLong nanos = new AtomicLong();

  private static Caller caller(Quota quota) {
    return new Caller("x", Set.of(Role.ADMIN), Set.of(), quota);
  }

  private Quotas quotas(Quota eachNamespace) {
    return new Quotas(() -> namespace -> eachNamespace, nanos::get);
  }

  /** {@return the number of writes that are admitted at once} */
  private static int admitted(Quotas quotas, Caller caller, String namespace) {
    int count = 0;
    try {
      while (count < 1_000) {
        quotas.write(caller, namespace, 1);
        count++;
      }
    } catch (RuntimeException e) {
      assertThat(e).hasMessageContaining("over the quota");
    }
    return count;
  }

  @Test
  void writesOfATokenHaveARate() {
    Quotas quotas = quotas(Quota.NONE);
    Caller caller = caller(new Quota(null, null, null, 10L));
    assertThat(admitted(quotas, caller, "a")).isEqualTo(10);
    nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(500));
    assertThat(admitted(quotas, caller, "b")).isEqualTo(5);
    nanos.addAndGet(TimeUnit.HOURS.toNanos(1));
    assertThat(admitted(quotas, caller, "b")).isEqualTo(10);
    assertThat(admitted(quotas, caller(Quota.NONE), "b")).isEqualTo(1_000);
  }

  @Test
  void writesOfANamespaceHaveARateForAllTokens() {
    Quotas quotas = quotas(new Quota(null, null, null, 10L));
    assertThat(admitted(quotas, Caller.LOCAL, "a")).isEqualTo(10);
    assertThat(admitted(quotas, caller(Quota.NONE), "a")).isZero();
    assertThat(admitted(quotas, Caller.LOCAL, "b")).isEqualTo(10);
  }

  @Test
  void aLargeBatchDelaysTheNextWrites() {
    Quotas quotas = quotas(Quota.NONE);
    Caller caller = caller(new Quota(null, null, null, 10L));
    quotas.write(caller, "a", 1);
    quotas.alsoWrote(caller, "a", 99);
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(9));
    assertThat(admitted(quotas, caller, "a")).isZero();
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    assertThat(admitted(quotas, caller, "a")).isEqualTo(10);
  }

  /** The shares of all nodes add up to the limit. */
  @Test
  void theNodesOfAClusterShareAQuota() {
    Caller caller = caller(new Quota(null, null, 10L, 12L));
    int writes = 0;
    int streams = 0;
    for (int rank = 0; rank < 4; rank++) {
      Quotas node = quotas(Quota.NONE);
      node.share(new Quotas.Share(4, rank));
      writes += admitted(node, caller, "a");
      streams += opened(node, caller);
    }
    assertThat(writes).isEqualTo(12);
    assertThat(streams).isEqualTo(10);
  }

  private static int opened(Quotas quotas, Caller caller) {
    int count = 0;
    try {
      while (count < 1_000) {
        quotas.stream(caller, null);
        count++;
      }
    } catch (RuntimeException e) {
      assertThat(e).hasMessageContaining("event streams");
    }
    return count;
  }

  @Test
  void anEndedStreamFreesItsQuota() {
    Quotas quotas = quotas(Quota.NONE);
    Caller caller = caller(new Quota(null, null, 1L, null));
    Runnable end = quotas.stream(caller, null);
    assertThatThrownBy(() -> quotas.stream(caller, null)).hasMessageContaining("limit: 1 event");
    end.run();
    quotas.stream(caller, null);
  }

  @Test
  void aClaimOverTheQuotaWaitsForItsTurn() {
    Quotas quotas = quotas(Quota.NONE);
    Caller caller = caller(new Quota(null, 1L, null, null));
    List<CompletableFuture<String>> begun = new ArrayList<>();
    List<String> returned = new ArrayList<>();
    List<CompletableFuture<String>> claims = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      claims.add(
          quotas.claim(
              caller,
              "a",
              MINUTE,
              "",
              left -> {
                begun.add(new CompletableFuture<>());
                return begun.get(begun.size() - 1);
              },
              returned::add));
    }
    assertThat(begun).hasSize(1);
    claims.get(1).cancel(false); // the client disconnected before its turn
    begun.get(0).complete("first");
    assertThat(claims.get(0)).isCompletedWithValue("first");
    assertThat(begun).hasSize(2);
    claims.get(2).cancel(false);
    assertThat(begun.get(1)).isCancelled();
    assertThat(
            quotas.claim(
                caller,
                "a",
                MINUTE,
                "",
                left -> CompletableFuture.completedStage("now"),
                returned::add))
        .isCompletedWithValue("now");
    assertThat(returned).isEmpty();
  }

  @Test
  void aClaimThatFailsInItsTurnDoesNotHoldUpTheNext() {
    Quotas quotas = quotas(Quota.NONE);
    Caller caller = caller(new Quota(null, 1L, null, null));
    CompletableFuture<String> first = new CompletableFuture<>();
    var unused = quotas.claim(caller, "a", MINUTE, "", left -> first, given -> {});
    CompletableFuture<String> failing =
        quotas.claim(
            caller,
            "a",
            MINUTE,
            "",
            left -> {
              throw new IllegalStateException("closed");
            },
            given -> {});
    CompletableFuture<String> next =
        quotas.claim(
            caller, "a", MINUTE, "", left -> CompletableFuture.completedStage("next"), given -> {});
    first.complete("first");
    assertThat(failing).isCompletedExceptionally();
    assertThat(next).isCompletedWithValue("next");
  }

  @Test
  void aClaimWithoutATurnIsAnsweredEmpty() {
    Quotas quotas = quotas(Quota.NONE);
    Caller caller = caller(new Quota(null, 1L, null, null));
    var unused =
        quotas.claim(caller, "a", MINUTE, "", left -> new CompletableFuture<>(), given -> {});
    assertThat(
            quotas
                .claim(
                    caller,
                    "a",
                    Duration.ZERO,
                    "",
                    left -> CompletableFuture.completedStage("never"),
                    given -> {})
                .join())
        .isEmpty();
  }

  @Test
  void aTokenOverItsQuotaIsAnswered429() throws Exception {
    Path file = directory.resolve("tokens");
    String rate = token(file, "rate", new Quota(null, null, null, 1L));
    String pending = token(file, "pending", new Quota(2L, null, null, null));
    String reader = token(file, "reader", new Quota(null, null, 1L, null));
    try (Running running = new Running(config -> config, Tokens.open(file))) {
      String batch =
          "{\"timers\":[{\"id\":\"a\","
              + AT.substring(1)
              + ",{\"id\":\"b\","
              + AT.substring(1)
              + "]}";
      assertThat(running.post(TIMERS + ":batch", batch, BEARER, rate).status()).isEqualTo(200);
      Answer refused = running.put(TIMERS + "/c", AT, BEARER, rate);
      assertThat(refused.status()).isEqualTo(429);
      assertThat(refused.text("detail")).contains("limit: 1 writes per second");
      assertThat(Integer.parseInt(refused.header("Retry-After"))).isBetween(1, 2);
      assertThat(running.get(TIMERS, BEARER, rate).status()).isEqualTo(200);

      assertThat(running.put(TIMERS + "/c", AT, BEARER, pending).status()).isEqualTo(429);
      Answer replaced = running.put(TIMERS + "/a", AT.replace("2099", "2098"), BEARER, pending);
      assertThat(replaced.status()).isEqualTo(200);
      running.send("DELETE", TIMERS + "/a", null, BEARER, pending);
      assertThat(running.put(TIMERS + "/c", AT, BEARER, pending).status()).isEqualTo(201);
      assertThat(running.get("/v1/stats", BEARER, reader).status()).isEqualTo(200);
    }
  }

  @Test
  void aStreamThatAQuotaRefusesTakesNoPlaceOfTheServer() throws Exception {
    Path file = directory.resolve("tokens");
    String reader = token(file, "reader", new Quota(null, null, 1L, null));
    ServerConfig c = ServerConfig.loopback(0);
    ServerConfig eight =
        new ServerConfig(
            c.listen(),
            0,
            c.hosts(),
            c.ingress(),
            c.maxConnections(),
            c.maxWaitingClaims(),
            8,
            c.maxBodyBytes(),
            c.maxBodyTime(),
            c.work());
    TimewheelServer server =
        TimewheelServer.start(eight, Tokens.open(file), SecretSource.NONE, InstantSource.system());
    try (server;
        DurableTimer timer = DurableTimer.builder(InMemoryTimerStore.create()).start()) {
      server.serve(timer);
      HttpRequest events =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/v1/events"))
              .header(BEARER, reader)
              .build();
      HttpClient client = HttpClient.newHttpClient();
      HttpResponse<InputStream> first = client.send(events, BodyHandlers.ofInputStream());
      assertThat(first.statusCode()).isEqualTo(200);
      for (int i = 0; i < 10; i++) {
        HttpResponse<String> refused = client.send(events, BodyHandlers.ofString());
        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(refused.body()).contains("over_limit");
      }

      first.body().close();
      Await.until(() -> server.openStreams() == 0);
      HttpResponse<InputStream> second = client.send(events, BodyHandlers.ofInputStream());
      assertThat(second.statusCode()).isEqualTo(200);
      second.body().close();
    }
  }

  private static String token(Path file, String name, Quota quota) throws Exception {
    Tokens.NewToken wanted =
        new Tokens.NewToken(name, Set.of("admin"), Set.of("shop"), null, quota);
    return "Bearer " + Tokens.add(file, wanted, InstantSource.system());
  }
}
