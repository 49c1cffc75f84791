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
import io.timewheel.server.settings.Limits;
import io.timewheel.server.settings.Quota;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.webhook.SecretSource;
import io.timewheel.testing.Await;
import io.timewheel.testing.Seed;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

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
        quotas.write(caller, namespace);
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
  void aBatchUsesUpAtMostOneFurtherSecond() {
    Quotas quotas = quotas(Quota.NONE);
    Caller caller = caller(new Quota(null, null, null, 10L));
    int written = 0;
    for (int i = 0; i < 24; i++) {
      try {
        quotas.write(caller, "a");
        Quotas.Admitted more = quotas.writeMore(caller, "a", 999);
        assertThat(more.over().detail()).contains("limit: 10 writes per second");
        written += 1 + more.count();
      } catch (RuntimeException e) {
        assertThat(e).hasMessageContaining("over the quota");
      }
    }
    assertThat(written).isEqualTo(20);
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    assertThat(admitted(quotas, caller, "a")).isZero();
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    assertThat(admitted(quotas, caller, "a")).isEqualTo(10);
    assertThat(quotas.writeMore(caller, "a", 3)).isEqualTo(new Quotas.Admitted(3, null));
    assertThat(quotas.writeMore(caller(Quota.NONE), "a", 999).over()).isNull();
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

  /** A claim that ends at once admits the next one: none may run within the other. */
  @Test
  void anyNumberOfClaimsThatEndAtOnceFollowEachOther() {
    Quotas quotas = quotas(Quota.NONE);
    Caller caller = caller(new Quota(null, 1L, null, null));
    CompletableFuture<String> first = new CompletableFuture<>();
    var unused = quotas.claim(caller, "a", MINUTE, "", left -> first, given -> {});
    List<CompletableFuture<String>> next = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      String answer = "" + i;
      next.add(
          quotas.claim(
              caller, "a", MINUTE, "", left -> CompletableFuture.completedStage(answer), g -> {}));
    }
    first.complete("first");
    for (int i = 0; i < next.size(); i++) {
      assertThat(next.get(i)).isCompletedWithValue("" + i);
    }
  }

  @Test
  void theEndOfAClaimLooksAtFewOfThoseThatWait() {
    AtomicLong looks = new AtomicLong();
    Quotas quotas =
        new Quotas(
            () ->
                namespace -> {
                  looks.incrementAndGet();
                  return new Quota(null, 3L, null, null);
                },
            nanos::get);
    Caller caller = caller(new Quota(null, 1L, null, null));
    List<CompletableFuture<String>> claims = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      claims.add(
          quotas.claim(caller, "a", MINUTE, "", left -> new CompletableFuture<>(), given -> {}));
    }
    claims.forEach(claim -> claim.cancel(false)); // the clients disconnect
    assertThat(looks).hasValueLessThan(100_000);
  }

  @Test
  void aRefreshAdmitsAClaimBehindManyOfAFullNamespace() {
    Quota one = new Quota(null, 1L, null, null);
    Quotas quotas =
        new Quotas(() -> namespace -> namespace.equals("full") ? one : Quota.NONE, nanos::get);
    List<CompletableFuture<String>> waiting = new ArrayList<>();
    waiting.add(
        quotas.claim(Caller.LOCAL, "full", MINUTE, "", left -> new CompletableFuture<>(), g -> {}));
    CompletableFuture<String> first = new CompletableFuture<>();
    waiting.add(quotas.claim(caller(one), "free", MINUTE, "", left -> first, g -> {}));
    for (int i = 0; i < 1_000; i++) {
      waiting.add(
          quotas.claim(
              caller(one), "full", MINUTE, "", left -> new CompletableFuture<>(), g -> {}));
    }
    CompletableFuture<String> last =
        quotas.claim(
            caller(one),
            "free",
            MINUTE,
            "",
            left -> CompletableFuture.completedStage("last"),
            g -> {});
    first.complete("first");
    quotas.refresh();
    assertThat(last).isCompletedWithValue("last");
    waiting.forEach(claim -> claim.cancel(false));
  }

  /**
   * Begins and ends claims at random, by tokens in namespaces, all with limits that change. No
   * limit is ever exceeded, and after a refresh no claim waits without cause.
   */
  @Test
  void claimsBeginAsSoonAsAllTheirLimitsAllowIt() {
    Random random = new Random(Seed.get());
    Map<String, Long> limits = new HashMap<>();
    Quotas quotas =
        new Quotas(
            () -> namespace -> new Quota(null, limits.getOrDefault(namespace, 2L), null, null),
            nanos::get);
    record Claim(
        String token,
        String namespace,
        CompletableFuture<String> begun,
        AtomicBoolean hasBegun,
        CompletableFuture<String> answer) {}
    List<Claim> open = new ArrayList<>();
    for (int step = 0; step < 20_000; step++) {
      int choice = random.nextInt(100);
      if (choice < 50) {
        String token = "t" + random.nextInt(4);
        String namespace = "n" + random.nextInt(4);
        CompletableFuture<String> begun = new CompletableFuture<>();
        AtomicBoolean hasBegun = new AtomicBoolean();
        Caller caller =
            new Caller(token, Set.of(Role.ADMIN), Set.of(), new Quota(null, 2L, null, null));
        open.add(
            new Claim(
                token,
                namespace,
                begun,
                hasBegun,
                quotas.claim(
                    caller,
                    namespace,
                    MINUTE,
                    "",
                    left -> {
                      hasBegun.set(true);
                      return begun;
                    },
                    given -> {})));
      } else if (choice < 98 && !open.isEmpty()) {
        Claim ended = open.remove(random.nextInt(open.size()));
        if (!ended.hasBegun.get() || random.nextBoolean()) {
          ended.answer.cancel(false);
        } else {
          ended.begun.complete("");
        }
      } else {
        limits.put("n" + random.nextInt(4), 1L + random.nextInt(3));
      }
      if (random.nextInt(10) == 0) {
        for (int i = 0; i < 20; i++) { // each looks at some of the claims
          quotas.refresh();
        }
        Map<String, Long> running =
            open.stream()
                .filter(claim -> claim.hasBegun.get())
                .flatMap(claim -> Stream.of(claim.token, claim.namespace))
                .collect(Collectors.groupingBy(name -> name, Collectors.counting()));
        for (Claim claim : open) {
          long left = 2 - running.getOrDefault(claim.token, 0L);
          long leftInNamespace =
              limits.getOrDefault(claim.namespace, 2L) - running.getOrDefault(claim.namespace, 0L);
          assertThat(left).isNotNegative();
          if (!claim.hasBegun.get()) {
            assertThat(Math.min(left, leftInNamespace)).as("step %d", step).isNotPositive();
          }
        }
      }
    }
  }

  @Test
  void aBatchOverTheQuotaIsRefusedInPartAndNoOperatorIsRefused() throws Exception {
    Path tokens = directory.resolve("tokens");
    String producer = "Bearer " + Tokens.add(tokens, "producer", "produce", Set.of());
    String operator = "Bearer " + Tokens.add(tokens, "operator", "operate", Set.of());
    Limits limits =
        Limits.open(Files.writeString(directory.resolve("limits"), "namespace shop writes=2/s\n"));
    StringBuilder batch = new StringBuilder("{\"timers\":[");
    for (int i = 0; i < 1_000; i++) {
      batch.append(i == 0 ? "" : ",").append("{\"id\":\"").append(i).append("\",");
      batch.append(AT.substring(1));
    }
    batch.append("]}");
    try (Running running = new Running(Tokens.open(tokens), limits)) {
      List<CompletableFuture<Answer>> batches = new ArrayList<>();
      for (int i = 0; i < 24; i++) {
        batches.add(
            CompletableFuture.supplyAsync(
                () -> running.post(TIMERS + ":batch", batch.toString(), BEARER, producer)));
      }
      List<Answer> answers = batches.stream().map(CompletableFuture::join).toList();
      assertThat(answers).extracting(Answer::status).containsOnly(200, 429);
      JsonNode results =
          answers.stream().filter(answer -> answer.status() == 200).findAny().orElseThrow().json();
      assertThat(results.at("/results/0/status").asInt()).isIn(200, 201);
      assertThat(results.at("/results/999/status").asInt()).isEqualTo(429);
      assertThat(results.at("/results/999/error/type").asString()).endsWith("over_limit");

      // Used up for at most two seconds. Other producers wait, and operators do not.
      Answer refused = running.put(TIMERS + "/x", AT, BEARER, producer);
      assertThat(refused.status()).isIn(201, 429);
      for (int i = 0; i < 50; i++) {
        assertThat(running.post(TIMERS + "/0:pause", "{}", BEARER, operator).status())
            .isEqualTo(200);
        assertThat(running.post(TIMERS + "/0:resume", "{}", BEARER, operator).status())
            .isEqualTo(200);
      }
      String all = "{\"filter\":{},\"force\":true}";
      assertThat(running.post(TIMERS + ":pause", all, BEARER, operator).status()).isEqualTo(200);
      for (int i = 0; i < 50; i++) {
        int status = running.send("DELETE", TIMERS + "/" + i, null, BEARER, operator).status();
        assertThat(status).isIn(200, 404);
      }
      List<Integer> deletes = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        deletes.add(running.send("DELETE", TIMERS + "/" + i, null, BEARER, producer).status());
      }
      assertThat(deletes).contains(429);
    }
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
        DurableTimer scheduler = DurableTimer.builder(InMemoryTimerStore.create()).start()) {
      server.serve(scheduler);
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
