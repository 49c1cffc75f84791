// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.server.security.AuditLog;
import io.timewheel.server.security.Quotas.Share;
import io.timewheel.server.security.Tokens;
import io.timewheel.server.settings.Limits;
import io.timewheel.server.settings.Quota;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.webhook.SecretSource;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import tools.jackson.databind.JsonNode;

/**
 * Tests limits and quotas while two nodes on one database serve requests. Only this test proves
 * that they hold for all nodes together. It waits for rates and for a node lease to expire.
 */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
class ClusterLimitsTest {
  private static final String SHOP = "/v1/namespaces/shop";
  private static final String LATER =
      "{\"at\":\"2099-01-01T00:00:00Z\",\"target\":{\"queue\":\"q\"}}";
  private static final int TIMERS = 20;

  private final Database database = TestDatabases.postgresql().createDatabase();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  @TempDir private Path directory;
  private String admin;
  private String small;
  private Member first;
  private Member second;

  @BeforeEach
  void start() throws Exception {
    Path tokens = directory.resolve("tokens");
    admin = Tokens.add(tokens, "admin", "admin", Set.of());
    small =
        Tokens.add(
            tokens,
            new Tokens.NewToken(
                "small", Set.of("admin"), Set.of("aside"), null, new Quota(4L, null, 3L, null)),
            InstantSource.system());
    Path limits =
        Files.writeString(
            directory.resolve("limits"),
            """
            queue shop/few     concurrency=3
            queue shop/slow    rate=4/s
            namespace quota    pending=5 streams=5
            """);
    first = new Member("first", Tokens.open(tokens), Limits.open(limits));
    second = new Member("second", Tokens.open(tokens), Limits.open(limits));
  }

  @AfterEach
  void stop() {
    first.close();
    second.close();
  }

  /** A server on the database. */
  private final class Member implements AutoCloseable {
    private final HikariDataSource pool = database.pool(8);
    private final TimewheelServer server;
    private final DurableTimer scheduler;

    Member(String name, Tokens tokens, Limits limits) throws IOException {
      server =
          TimewheelServer.start(
              ServerConfig.loopback(0),
              tokens,
              SecretSource.NONE,
              limits,
              InstantSource.system(),
              new AuditLog(System::nanoTime));
      JdbcTimerStore store = JdbcTimerStore.postgresqlBuilder(pool).shards(8).node(name).open();
      scheduler =
          DurableTimer.builder(server.watch("postgresql", store))
              .queueLimits(queue -> limits.queue(queue.namespace(), queue.id()))
              .start();
      server.serve(scheduler);
    }

    private HttpRequest.Builder request(String path, String token) {
      return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
          .header("Content-Type", "application/json")
          .header("Authorization", "Bearer " + token);
    }

    CompletableFuture<HttpResponse<String>> put(String path, String body, String token) {
      return client.sendAsync(
          request(path, token).PUT(BodyPublishers.ofString(body)).build(), BodyHandlers.ofString());
    }

    CompletableFuture<JsonNode> claim(String queue, String wait) {
      return post("/queues/" + queue + "/firings:claim", "{\"max\":10,\"wait\":\"" + wait + "\"}")
          .thenApply(answer -> Running.MAPPER.readTree(answer.body()).get("firings"));
    }

    CompletableFuture<HttpResponse<String>> post(String path, String body) {
      return client.sendAsync(
          request(SHOP + path, admin).POST(BodyPublishers.ofString(body)).build(),
          BodyHandlers.ofString());
    }

    /** {@return the number of accepted streams, which stay open} */
    int streams(String path, String token, List<InputStream> open) throws Exception {
      int admitted = 0;
      while (true) {
        HttpResponse<InputStream> answer =
            client.send(request(path, token).build(), BodyHandlers.ofInputStream());
        open.add(answer.body());
        if (answer.statusCode() != 200) {
          assertThat(answer.statusCode()).isEqualTo(429);
          return admitted;
        }
        admitted++;
      }
    }

    void awaitNodes(int count) {
      Await.until(() -> server.quotaShare().nodes() == count);
    }

    @Override
    public void close() {
      server.close();
      try {
        scheduler.close(Duration.ofSeconds(5));
      } catch (DurableTimerException e) {
        assertThat(pool.isClosed()).isTrue(); // its node has crashed
      }
      pool.close();
    }
  }

  private void schedule(String queue) {
    List<CompletableFuture<HttpResponse<String>>> puts = new ArrayList<>();
    String due = "{\"after\":\"PT0S\",\"target\":{\"queue\":\"" + queue + "\"}}";
    for (int i = 0; i < TIMERS; i++) {
      puts.add((i % 2 == 0 ? first : second).put(SHOP + "/timers/" + queue + i, due, admin));
    }
    puts.forEach(put -> assertThat(put.join().statusCode()).isEqualTo(201));
  }

  /** {@return the firings that two nodes return that claim at the same time} */
  private List<JsonNode> claimTogether(String queue, String wait) {
    List<CompletableFuture<JsonNode>> claims = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      claims.add(first.claim(queue, wait));
      claims.add(second.claim(queue, wait));
    }
    List<JsonNode> firings = new ArrayList<>();
    claims.forEach(claim -> claim.join().forEach(firings::add));
    return firings;
  }

  @Test
  void theConcurrencyOfAQueueHoldsForAllNodes() {
    schedule("few");
    List<JsonNode> running = new ArrayList<>();
    while (running.size() < 3) {
      running.addAll(claimTogether("few", "PT0S"));
    }
    for (int i = 0; i < 10; i++) {
      running.addAll(claimTogether("few", "PT0S"));
    }
    assertThat(running).hasSize(3);
    JsonNode done = running.remove(0);
    String lease = "{\"leaseToken\":\"" + done.get("leaseToken").asString() + "\"}";
    String ack = "/firings/" + done.get("fireId").asString() + ":ack";
    assertThat(first.post(ack, lease).join().statusCode()).isEqualTo(200);
    while (running.size() < 3) {
      running.addAll(claimTogether("few", "PT0S"));
    }
    running.addAll(claimTogether("few", "PT0S"));
    assertThat(running).hasSize(3);
  }

  @Test
  void theRateOfAQueueHoldsForAllNodes() {
    schedule("slow");
    long began = System.nanoTime();
    int claimed = 0;
    while (claimed < 12) {
      claimed += claimTogether("slow", "PT1S").size();
    }
    // A burst of one second, then four each second; the clocks count milliseconds.
    double seconds = (double) (System.nanoTime() - began) / TimeUnit.SECONDS.toNanos(1);
    assertThat(claimed).isLessThanOrEqualTo(4 + (int) Math.ceil(4 * (seconds + 0.1)));
  }

  /** {@return the number of timers that both nodes create in turn} */
  private int created(String namespace, String token) {
    int created = 0;
    for (int i = 0; i < TIMERS; i++) {
      String path = "/v1/namespaces/" + namespace + "/timers/" + i;
      HttpResponse<String> answer = (i % 2 == 0 ? first : second).put(path, LATER, token).join();
      assertThat(answer.statusCode()).isIn(200, 201, 429);
      created += answer.statusCode() == 201 ? 1 : 0;
    }
    return created;
  }

  @Test
  void thePendingTimersOfATokenAndOfANamespaceAreThoseOfAllNodes() {
    assertThat(created("aside", small)).isEqualTo(4);
    assertThat(created("aside", admin)).isEqualTo(TIMERS - 4);
    assertThat(created("quota", admin)).isEqualTo(5);
  }

  @Test
  void theNodesShareAQuotaAndTakeTheShareOfANodeThatDies() throws Exception {
    first.awaitNodes(2);
    second.awaitNodes(2);
    assertThat(List.of(first.server.quotaShare(), second.server.quotaShare()))
        .containsExactlyInAnyOrder(new Share(2, 0), new Share(2, 1));
    List<InputStream> open = new ArrayList<>();
    String quota = "/v1/events?namespace=quota";
    int before = first.streams(quota, admin, open);
    assertThat(before + second.streams(quota, admin, open)).isEqualTo(5);
    assertThat(before).isBetween(2, 3);
    int ofToken = first.streams("/v1/events", small, open);
    assertThat(ofToken + second.streams("/v1/events", small, open)).isEqualTo(3);

    second.pool.close();

    first.awaitNodes(1);
    assertThat(before + first.streams(quota, admin, open)).isEqualTo(5);
    assertThat(ofToken + first.streams("/v1/events", small, open)).isEqualTo(3);
    for (InputStream stream : open) {
      stream.close();
    }
  }
}
