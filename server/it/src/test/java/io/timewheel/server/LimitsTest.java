// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.settings.Limits;
import io.timewheel.server.settings.Quota;
import io.timewheel.server.webhook.AddressPolicy;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Tests the limits of queues, of webhook hosts and of namespaces. */
class LimitsTest {
  private static final String SHOP = "/v1/namespaces/shop";
  private static final String CLAIM = SHOP + "/queues/orders/firings:claim";

  private static final String DUE = "{\"after\":\"PT0S\",\"target\":{\"queue\":\"orders\"}}";
  private static final String LATER =
      "{\"at\":\"2099-01-01T00:00:00Z\",\"target\":{\"queue\":\"orders\"}}";

  @TempDir private Path directory;

  private Path file(String text) throws IOException {
    return Files.writeString(directory.resolve("limits"), text);
  }

  private Running running(Limits limits) {
    return new Running(
        Running.secrets(directory, "s"),
        AddressPolicy.admitting(List.of(Cidr.parse("127.0.0.0/8"))),
        limits);
  }

  @Test
  void readsItsLinesAndReadsThemAgainWhenTheyChange() throws IOException {
    Limits limits =
        Limits.open(
            file(
                """
                # all of them
                queue shop/orders rate=100/s concurrency=20

                host Shop.example  rate=30/m # slow
                queue a%20b/c%2Fd concurrency=3
                """));
    assertThat(limits.queue("shop", "orders")).isEqualTo(new SharedLimit(100, 20));
    assertThat(limits.queue("a b", "c/d")).isEqualTo(new SharedLimit(0, 3));
    assertThat(limits.host("shop.EXAMPLE")).isEqualTo(new SharedLimit(0.5, 0));
    assertThat(limits.queue("shop", "mails")).isNull();
    assertThat(limits.host("other.example")).isNull();
    var changed = file("queue shop/orders concurrency=7\n");
    assertThat(limits.queue("shop", "orders")).isEqualTo(new SharedLimit(0, 7));
    assertThat(limits.lines()).as(changed + "").hasSize(1);
    var wrong = file("queue shop/orders fast\n# longer\n");
    assertThat(limits.queue("shop", "orders")).as(wrong + "").isEqualTo(new SharedLimit(0, 7));
    assertThat(Limits.none().lines()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "queue shop/orders",
        "queue shop rate=1/s",
        "queue a/b/c rate=1/s",
        "host a/b rate=1/s",
        "topic a rate=1/s",
        "host a rate=0/s",
        "host a concurrency=0",
        "host a rate=1/s rate=2/s",
        "host a rate=1/d",
        "host a concurrency=2 rate=0/s",
        "host a rate=1/s\nhost A rate=2/s",
        "namespace shop",
        "namespace shop rate=1/s",
        "namespace shop writes=5",
        "namespace shop writes=5/m",
        "namespace shop claims=5/s",
        "namespace shop claims=0",
        "namespace shop pending=9999999999999",
        "namespace shop claims=1 claims=2",
        "namespace shop/orders claims=1",
        "namespace %zz claims=1",
        "namespace * claims=1\nnamespace * streams=1",
        "namespace a%20b claims=1\nnamespace a%20b streams=1"
      })
  void refusesAWrongLineByItsNumber(String text) throws IOException {
    Path file = file(text);
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> Limits.open(file))
        .withMessageContaining("line ");
  }

  @Test
  void aNamespaceHasTheLimitsOfItsLineAndElseThoseOfAll() throws IOException {
    Limits limits =
        Limits.open(
            file(
                """
                namespace *     pending=100 claims=2 writes=7/s
                namespace shop  pending=5000 streams=3
                namespace a%20b writes=9/s
                namespace %2A   claims=9
                """));
    assertThat(limits.quotas().apply("any")).isEqualTo(new Quota(100L, 2L, null, 7L));
    assertThat(limits.quotas().apply("shop")).isEqualTo(new Quota(5_000L, 2L, 3L, 7L));
    assertThat(limits.quotas().apply("a b")).isEqualTo(new Quota(100L, 2L, null, 9L));
    assertThat(limits.quotas().apply("*")).isEqualTo(new Quota(100L, 9L, null, 7L));
    assertThat(Limits.none().quotas().apply("shop")).isEqualTo(Quota.NONE);
  }

  @Test
  void aChangedFileChangesTheQuotasOfNamespacesAndABrokenOneDoesNot() throws Exception {
    Limits limits = Limits.open(file("namespace * pending=1\n"));
    try (Running running = running(limits)) {
      assertThat(running.put(SHOP + "/timers/a", LATER).status()).isEqualTo(201);
      assertThat(running.put(SHOP + "/timers/b", LATER).status()).isEqualTo(429);
      assertThat(file("namespace shop pending=2\nnamespace * pending=1\n")).exists();
      assertThat(running.put(SHOP + "/timers/b", LATER).status()).isEqualTo(201);
      assertThat(running.put(SHOP + "/timers/c", LATER).status()).isEqualTo(429);
      assertThat(file("namespace shop pending=many\n")).exists();
      assertThat(running.put(SHOP + "/timers/c", LATER).status()).isEqualTo(429);
      Files.delete(directory.resolve("limits"));
      assertThat(running.put(SHOP + "/timers/c", LATER).status()).isEqualTo(429);
      assertThat(file("# no limits\n")).exists();
      assertThat(running.put(SHOP + "/timers/c", LATER).status()).isEqualTo(201);
    }
  }

  @Test
  void aClaimThatWaitsForItsTurnBeginsWhenAChangeOfTheFileAdmitsIt() throws Exception {
    Limits limits = Limits.open(file("namespace shop claims=1\n"));
    try (Running running = running(limits)) {
      CompletableFuture<HttpResponse<String>> first = claimAsync(running, "other");
      Await.until(() -> running.server.waitingClaims() == 1);
      running.put(SHOP + "/timers/a", DUE);
      CompletableFuture<HttpResponse<String>> second = claimAsync(running, "orders");
      Await.until(() -> running.server.waitingClaims() == 2);
      assertThat(second).isNotDone();
      assertThat(file("namespace shop claims=2\n")).exists();
      assertThat(Running.MAPPER.readTree(second.get().body()).get("firings")).hasSize(1);
      assertThat(first).isNotDone();
    }
  }

  private static CompletableFuture<HttpResponse<String>> claimAsync(Running running, String queue) {
    URI uri =
        URI.create(
            "http://127.0.0.1:"
                + running.server.port()
                + SHOP
                + "/queues/"
                + queue
                + "/firings:claim");
    return running.client.sendAsync(
        HttpRequest.newBuilder(uri)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"wait\":\"PT1M\",\"max\":10}"))
            .build(),
        BodyHandlers.ofString());
  }

  @Test
  void aClaimOverALimitWaits() throws Exception {
    try (Running running = running(Limits.open(file("queue shop/orders concurrency=1\n")))) {
      for (String id : List.of("a", "b", "c")) {
        running.put(SHOP + "/timers/" + id, DUE);
      }
      JsonNode first = running.post(CLAIM, "{\"max\":10}").json().get("firings");
      assertThat(first).hasSize(1);
      assertThat(running.post(CLAIM, "{\"wait\":\"PT0S\"}").json().get("firings")).isEmpty();
      CompletableFuture<HttpResponse<String>> waiting = claimAsync(running, "orders");
      Await.until(() -> running.server.waitingClaims() == 1);
      JsonNode firing = first.get(0);
      running.post(
          SHOP + "/firings/" + firing.get("fireId").asString() + ":ack",
          "{\"leaseToken\":\"" + firing.get("leaseToken").asString() + "\"}");
      assertThat(Running.MAPPER.readTree(waiting.get().body()).get("firings")).hasSize(1);
      var changed = file("queue shop/orders concurrency=10\n");
      assertThat(running.post(CLAIM, "{\"max\":10}").json().get("firings"))
          .as(changed + "")
          .hasSize(1);
    }
  }

  @Test
  void aHostIsCalledNoMoreOftenAtATimeThanItsLimitAndNoAttemptIsUsedUp() throws Exception {
    Limits limits = Limits.open(file("host 127.0.0.1 concurrency=1\n"));
    try (Receiver receiver = new Receiver();
        Running running = running(limits)) {
      CountDownLatch release = new CountDownLatch(1);
      AtomicInteger present = new AtomicInteger();
      AtomicInteger most = new AtomicInteger();
      receiver.answering =
          exchange -> {
            most.accumulateAndGet(present.incrementAndGet(), Math::max);
            release.await();
            present.decrementAndGet();
            Receiver.status(204).answer(exchange);
          };
      for (String id : List.of("a", "b", "c")) {
        running.put(
            SHOP + "/timers/" + id,
            "{\"after\":\"PT0S\",\"retry\":{\"maxAttempts\":1},\"target\":{\"url\":\""
                + receiver.url("/h")
                + "\",\"secret\":\"s\"}}");
      }
      assertThat(receiver.calls.take().path()).isEqualTo("/h");
      release.countDown();
      for (String id : List.of("a", "b", "c")) {
        Await.until(() -> running.get(SHOP + "/timers/" + id).text("state").equals("completed"));
      }
      assertThat(most).hasValue(1);
      assertThat(receiver.calls).hasSize(2);
    }
  }
}
