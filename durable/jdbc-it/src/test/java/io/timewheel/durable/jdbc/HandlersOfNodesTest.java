// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.QueueFiring;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.HandlerSlots;
import io.timewheel.durable.model.TimerState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Runs three nodes on one database, with their threads and real clocks: an application with handler
 * A, one with handler B, and a server with a handler prefix and a queue. Only this class verifies
 * handlers, prefixes and queues that some nodes lack, on both databases.
 */
@Timeout(300)
class HandlersOfNodesTest {
  private static final int TIMERS = 1_000;
  private static final List<String> TARGETS = List.of("a", "b", "webhook:", "queue");

  private final Database database = Server.of(this).empty();
  private final List<HikariDataSource> pools = new ArrayList<>();
  private final Map<String, DurableTimer> nodes = new ConcurrentHashMap<>();

  /** The node on which each timer fired first. */
  private final Map<String, String> fired = new ConcurrentHashMap<>();

  private final CountDownLatch all = new CountDownLatch(TARGETS.size() * TIMERS);

  @AfterEach
  void close() {
    nodes.values().forEach(DurableTimer::close);
    pools.forEach(HikariDataSource::close);
  }

  private JdbcTimerStore store() {
    HikariDataSource pool = database.pool(10);
    pools.add(pool);
    return Server.of(this).builder(pool).open();
  }

  private void start(String node) {
    var builder = DurableTimer.builder(store());
    if (node.equals("server")) {
      builder.handlers(
          "webhook:", firing -> fired(node, firing), 32, HandlerSlots.atMost(1_000), null);
    } else {
      builder.handler(node, firing -> fired(node, firing));
    }
    DurableTimer scheduler = builder.start();
    nodes.put(node, scheduler);
    if (node.equals("server")) {
      consume(scheduler);
    }
  }

  private void consume(DurableTimer server) {
    var unused =
        server
            .async()
            .queue("shop", "queue")
            .claim(100, Duration.ofMinutes(5), Duration.ofSeconds(20))
            .thenAccept(
                firings -> {
                  for (QueueFiring firing : firings) {
                    fired("server", firing.firing());
                  }
                  if (nodes.get("server") == server) {
                    consume(server);
                  }
                });
  }

  private void stop(String node) {
    nodes.remove(node).close();
  }

  private void fired(String node, Firing firing) {
    if (fired.putIfAbsent(firing.id(), node) == null) {
      all.countDown();
    }
  }

  private static void insert(TransactionFiring firing, Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("INSERT INTO effect VALUES (?)")) {
      statement.setString(1, firing.id());
      statement.executeUpdate();
    }
  }

  @Test
  void transactionalHandlersRunOnceForTimersOfShardsOfOtherNodes() throws Exception {
    database.execute("CREATE TABLE effect (id VARCHAR(100) PRIMARY KEY)");
    start("a");
    JdbcTimerStore store = store();
    TransactionTimers timers = TransactionTimers.of(store);
    Semaphore inserted = new Semaphore(0);
    DurableTimer other =
        DurableTimer.builder(store)
            .finishingHandler(
                "b",
                timers.handler(
                    (firing, connection) -> {
                      insert(firing, connection);
                      inserted.release();
                    }),
                8)
            .start();
    nodes.put("b", other);
    List<TimerSpec> specs = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      specs.add(TimerSpec.of("shop", "b" + i).handler("b").after(Duration.ofSeconds(1)));
    }
    other.scheduleAll(specs).forEach(result -> assertThat(result.error()).isNull());
    inserted.acquire(specs.size());
    other.close(); // waits until each completion is recorded
    assertThat(nodes.get("a").counts().get("shop"))
        .isEqualTo(Map.of(TimerState.COMPLETED, (long) specs.size()));
    assertThat(other.stats().failed()).as("attempts that found an existing effect").isZero();
    assertThat(nodes.get("a").stats().shards()).as("shards without handler b").isPositive();
  }

  @Test
  void everyTimerFiresOnANodeWithItsHandlerWhileNodesStopAndStart() throws Exception {
    List<String> names = List.of("a", "b", "server");
    names.forEach(this::start);
    try (DurableTimer client = DurableTimer.client(store()).start()) {
      List<TimerSpec> specs = new ArrayList<>();
      for (int i = 0; i < TIMERS; i++) {
        for (String target : TARGETS) {
          TimerSpec spec =
              TimerSpec.of("shop", target + i).after(Duration.ofMillis(1_000 + i * 6L));
          if (target.equals("queue")) {
            spec.queue(target);
          } else {
            spec.handler(target.equals("webhook:") ? target + i % 10 : target);
          }
          specs.add(spec);
        }
      }
      client.scheduleAll(specs).forEach(result -> assertThat(result.error()).isNull());
      for (String node : names) {
        stop(node);
        start(node);
      }
      all.await();
    }
    fired.forEach(
        (id, node) ->
            assertThat(node)
                .as(id)
                .isEqualTo(id.startsWith("a") ? "a" : id.startsWith("b") ? "b" : "server"));
  }
}
