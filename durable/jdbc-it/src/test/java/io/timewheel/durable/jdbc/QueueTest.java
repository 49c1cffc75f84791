// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.internal.postgresql.PostgreSqlQueries;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Verifies that consumers on several nodes claim each ready timer of a queue once, by its index.
 */
@Tag("promise-61")
class QueueTest {
  final Fixture fixture = Fixture.withoutTables(Server.of(this));
  final Fixture.Node node = fixture.start();
  private long tokens;

  @AfterEach
  void close() {
    fixture.close();
  }

  void makeReady(int count) {
    node.makeReady(count);
  }

  List<TimerRecord> lease(JdbcTimerStore store, int max) {
    LeaseRequest request = new LeaseRequest("shop", "orders", max, NOW + 30_000);
    return store.lease(List.of(request), max, NOW, this::newToken);
  }

  private synchronized ClaimToken newToken() {
    return new ClaimToken(1, ++tokens);
  }

  private List<TimerRecord> leaseAll(JdbcTimerStore store) {
    List<TimerRecord> leased = new ArrayList<>();
    List<TimerRecord> some;
    do {
      some = lease(store, 7);
      leased.addAll(some);
    } while (!some.isEmpty());
    return leased;
  }

  @Test
  void leasesEachTimerToOneOfManyNodes() {
    makeReady(200);
    Fixture.Node other = fixture.open();
    CompletableFuture<List<TimerRecord>> first =
        CompletableFuture.supplyAsync(() -> leaseAll(node.store));
    List<TimerRecord> leased = new ArrayList<>(leaseAll(other.store));
    leased.addAll(first.join());
    leased.addAll(leaseAll(other.store)); // timers that the other node was claiming meanwhile
    assertThat(leased).extracting(TimerRecord::key).doesNotHaveDuplicates().hasSize(200);
    assertThat(node.store.counts()).isEqualTo(Map.of("shop", Map.of(TimerState.RUNNING, 200L)));
  }

  /** Any number of empty queues adds at most two statements to those of one queue. */
  @Test
  void emptyQueuesAddNoStatements() {
    makeReady(2);
    LossySource source = new LossySource(fixture.pool);
    JdbcTimerStore store = fixture.open(source, 4).store;
    int[] statements = new int[1];
    source.onPrepare = () -> statements[0]++;
    assertThat(lease(store, 1)).hasSize(1);
    int forOneQueue = statements[0];

    List<LeaseRequest> requests = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      String queue = i == 7_000 ? "orders" : "queue ä \"" + i + "'\\";
      requests.add(new LeaseRequest("shop", queue, 1, NOW + 30_000));
    }
    statements[0] = 0;
    assertThat(store.lease(requests, 256, NOW, this::newToken)).hasSize(1);
    assertThat(statements[0]).isLessThanOrEqualTo(forOneQueue + 2);
    statements[0] = 0;
    assertThat(store.lease(requests, 256, NOW, this::newToken)).isEmpty();
    assertThat(statements[0]).isLessThanOrEqualTo(forOneQueue);
  }

  /** A deadlock would roll a transaction back, and delay it by its repetition. */
  @Test
  void nodesShareAContendedLimitWithoutADeadlock() {
    AtomicInteger rollbacks = new AtomicInteger();
    SharedLimit limit = new SharedLimit(0, 150);
    List<CompletableFuture<Integer>> callers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      LossySource source = new LossySource(fixture.pool);
      source.onRollback = rollbacks::incrementAndGet;
      JdbcTimerStore store = fixture.open(source, 4).store;
      String node = "node" + i;
      callers.add(
          CompletableFuture.supplyAsync(
              () -> permits(store, node, limit), task -> new Thread(task).start()));
    }
    assertThat(callers.stream().mapToInt(CompletableFuture::join).sum()).isEqualTo(150);
    assertThat(rollbacks).hasValue(0);
  }

  private static int permits(JdbcTimerStore store, String node, SharedLimit limit) {
    int permits = 0;
    for (int i = 0; i < 50; i++) {
      permits += store.acquire("host", limit, node + "-" + i, NOW + 60_000, NOW) == 0 ? 1 : 0;
    }
    return permits;
  }

  @Test
  void skipsTimersThatAnotherTransactionHolds() throws SQLException {
    makeReady(3);
    try (Connection holder = fixture.transaction();
        Statement statement = holder.createStatement()) {
      String inShop = " WHERE namespace = 'shop' AND id = ";
      statement.execute(
          "SELECT 1 FROM timewheel_ready"
              + inShop
              + "'id-000' AND queue = 'orders' AND ready_at = "
              + NOW
              + " FOR UPDATE");
      statement.execute("SELECT 1 FROM timewheel_timer" + inShop + "'id-001' FOR UPDATE");
      assertThat(lease(node.store, 2))
          .extracting(record -> record.key().id())
          .containsExactly("id-002");
      holder.rollback();
    }
    assertThat(lease(node.store, 3)).hasSize(2);
  }

  @Test
  void anOpenTransactionOnTheFirstTimerDoesNotAffectAConsumerOfOne() throws SQLException {
    makeReady(3);
    try (Connection holder = fixture.transaction();
        Statement statement = holder.createStatement()) {
      statement.execute(
          "SELECT 1 FROM timewheel_timer WHERE namespace = 'shop' AND id = 'id-000' FOR UPDATE");
      assertThat(lease(node.store, 1))
          .extracting(record -> record.key().id())
          .containsExactly("id-001");
      holder.rollback();
    }
    assertThat(lease(node.store, 1))
        .extracting(record -> record.key().id())
        .containsExactly("id-000");
  }

  @Test
  void rowsWithoutAReadyTimerDoNotBlockTheQueue() throws SQLException {
    makeReady(3);
    node.commit(schedule("scheduled", NOW));
    for (String id : List.of("absent", "scheduled", "id-001")) {
      fixture.execute(
          "INSERT INTO timewheel_ready (namespace, queue, ready_at, id)"
              + " VALUES ('shop', 'orders', 1, '"
              + id
              + "')");
    }
    assertThat(lease(node.store, 1))
        .extracting(record -> record.key().id())
        .containsExactly("id-000");
    assertThat(lease(node.store, 3))
        .extracting(record -> record.key().id())
        .containsExactly("id-001", "id-002");
  }

  @Test
  void claimsInTheOrderOfTheIndexForAnyTableContent() throws SQLException {
    assertClaimsInTheOrderOfTheIndex();
    makeReady(1);
    analyze();
    assertClaimsInTheOrderOfTheIndex();
    makeReady(3_000);
    assertClaimsInTheOrderOfTheIndex();
    analyze();
    assertClaimsInTheOrderOfTheIndex();
  }

  void analyze() throws SQLException {
    fixture.execute("ANALYZE timewheel_timer, timewheel_ready");
  }

  void assertClaimsInTheOrderOfTheIndex() throws SQLException {
    assertThat(fixture.keptPlan(PostgreSqlQueries.TAKE_READY))
        .contains(
            "Nested Loop",
            "using timewheel_ready_pkey on timewheel_ready r",
            "Index Scan using timewheel_timer_pkey on timewheel_timer t")
        .doesNotContain("Sort", "Seq Scan", "Bitmap");
  }

  @Test
  void leasesNothingInAPausedNamespace() {
    makeReady(1);
    node.store.pause("shop");
    assertThat(lease(node.store, 1)).isEmpty();
    node.store.resume("shop");
    assertThat(lease(node.store, 1)).hasSize(1);
  }

  @Test
  void removesCancelledAndReplacedTimersFromTheQueue() throws SQLException {
    makeReady(2);
    node.commit(new Change.Cancel(key("id-000"), 0, NOW));
    node.commit(schedule("id-001", NOW));
    assertThat(fixture.number("SELECT count(*) FROM timewheel_ready")).isZero();
    assertThat(lease(node.store, 2)).isEmpty();
  }
}
