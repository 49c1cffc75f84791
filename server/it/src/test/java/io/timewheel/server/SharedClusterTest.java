// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.server.settings.ServerConfig;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** Tests the view that the nodes on one database return of each other. */
@Timeout(300)
class SharedClusterTest {
  private static final String NOBODY = "";

  private final Database database = TestDatabases.postgresql().createDatabase();
  private final HttpClient client = HttpClient.newHttpClient();

  /** A server on the database. */
  private final class Member implements AutoCloseable {
    private final HikariDataSource pool = database.pool(8);
    private final TimewheelServer server;
    private final DurableTimer scheduler;

    Member(String name) throws Exception {
      server = TimewheelServer.start(ServerConfig.loopback(0));
      JdbcTimerStore store = JdbcTimerStore.postgresqlBuilder(pool).shards(8).node(name).open();
      scheduler = DurableTimer.builder(server.watch("postgresql", store)).start();
      server.serve(scheduler);
    }

    String text(String path) throws Exception {
      URI uri = URI.create("http://127.0.0.1:" + server.port() + path);
      return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
    }

    JsonNode get(String path) throws Exception {
      return Running.MAPPER.readTree(text(path));
    }

    /** {@return the cluster, once this number of nodes owns all shards} */
    JsonNode awaitOwners(int count) throws Exception {
      while (true) {
        JsonNode cluster = get("/v1/cluster");
        Set<String> owners = owners(cluster);
        if (owners.size() == count && !owners.contains(NOBODY)) {
          return cluster;
        }
      }
    }

    @Override
    public void close() {
      server.close();
      scheduler.close();
      pool.close();
    }
  }

  private static Set<String> owners(JsonNode cluster) {
    Set<String> owners = new TreeSet<>();
    for (JsonNode shard : cluster.get("shards")) {
      owners.add(shard.has("owner") ? shard.get("owner").asString() : NOBODY);
    }
    return owners;
  }

  @Test
  void eachNodeShowsAllNodesAndTheirShards() throws Exception {
    try (Member first = new Member("first")) {
      JsonNode cluster;
      try (Member second = new Member("second")) {
        cluster = second.awaitOwners(2);
        assertThat(cluster.get("shared").asBoolean()).isTrue();
        assertThat(cluster.get("nodes")).hasSize(2);
        JsonNode other = cluster.at("/nodes/0");
        JsonNode self = cluster.at("/nodes/1");
        assertThat(other.get("id").asString()).startsWith("first#");
        assertThat(other.get("self").asBoolean()).isFalse();
        assertThat(other.has("address")).isFalse();
        assertThat(self.get("id").asString()).startsWith("second#");
        assertThat(self.get("self").asBoolean()).isTrue();
        assertThat(self.get("address").asString()).endsWith(":" + second.server.port());
        assertThat(second.get("/v1/stats").get("node")).isEqualTo(self.get("id"));
        assertThat(cluster.get("shards")).hasSize(8);
        for (JsonNode node : List.of(self, other)) {
          assertThat(node.has("leaseUntil")).isTrue();
          assertThat(node.has("clockOffset")).isTrue();
          assertThat(shards(node)).isNotEmpty().isEqualTo(owned(cluster, node));
        }
      }
      cluster = first.awaitOwners(1);
      assertThat(cluster.get("nodes")).hasSize(1);
      assertThat(shards(cluster.at("/nodes/0"))).hasSize(8);
    }
  }

  @Test
  void measuresTheMetricsOfTheAlertsOfASharedDatabase() throws Exception {
    try (Member member = new Member("alone")) {
      member.awaitOwners(1);
      String metrics = member.text("/metrics");
      assertThat(metrics)
          .containsPattern(
              DistributionTest.SHARED + "shards_received_total\\{timer=\"server\"} [1-9]");
      assertThat(DistributionTest.asked())
          .filteredOn(metric -> metric.startsWith(DistributionTest.SHARED))
          .isNotEmpty()
          .allMatch(metric -> metrics.contains("\n" + metric + "{"));
    }
  }

  private static List<Integer> shards(JsonNode node) {
    List<Integer> shards = new ArrayList<>();
    node.get("shards").forEach(shard -> shards.add(shard.asInt()));
    return shards;
  }

  private static List<Integer> owned(JsonNode cluster, JsonNode node) {
    List<Integer> owned = new ArrayList<>();
    for (JsonNode shard : cluster.get("shards")) {
      if (node.get("id").equals(shard.get("owner"))) {
        assertThat(shard.get("epoch").asLong()).isPositive();
        owned.add(shard.get("shard").asInt());
      }
    }
    return owned;
  }
}
