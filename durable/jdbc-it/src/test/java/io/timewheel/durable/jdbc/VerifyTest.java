// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static io.timewheel.durable.jdbc.Fixture.scheduleForQueue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.maintenance.IncompleteRepairException;
import io.timewheel.durable.spi.maintenance.VerifyReport;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Verifies that each kind of damage is found, reported with the key of its timer, and fixed. */
@Timeout(120)
@Tag("promise-67")
class VerifyTest {
  private static final String ADD_READY =
      "INSERT INTO timewheel_ready (namespace, queue, ready_at, id) VALUES ('shop', ";

  final Fixture fixture = new Fixture(Server.of(this));
  final Fixture.Node node = fixture.start();

  @BeforeEach
  void fill() {
    node.makeReady(2);
    node.store.commit(List.of(schedule("a", NOW), schedule("b", NOW), schedule("c", NOW)));
    node.commit(new Change.Cancel(key("b"), 0, NOW));
    node.commit(new Change.Cancel(key("c"), 0, NOW + 1));
    assertThat(node.store.purge(NOW + 1, 10, 10)).isOne();
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private void assertClean() {
    assertThat(node.store.verify().texts()).isEmpty();
    assertThat(node.store.verify().isClean()).isTrue();
  }

  /** Expects problems, repairs them, and then expects none. */
  private void assertFound(String... texts) {
    VerifyReport found = node.store.verify();
    assertThat(found.texts()).containsExactlyInAnyOrder(texts);
    assertThat(found.problems()).isEqualTo(texts.length);
    assertThat(node.store.repair().texts()).containsExactlyInAnyOrder(texts);
    assertClean();
  }

  @Test
  void findsNoProblemInASoundStore() {
    assertClean();
    assertThat(node.store.verify().timers()).isEqualTo(4);
    assertThat(node.store.repair().isClean()).isTrue();
  }

  @Test
  void findsNoProblemWhileTimersChange() {
    CompletableFuture<Void> changes = CompletableFuture.runAsync(this::changeTimers);
    do {
      assertThat(node.store.verify().texts()).isEmpty();
    } while (!changes.isDone());
    changes.join();
    assertClean();
  }

  private void changeTimers() {
    for (int i = 1; i <= 40; i++) {
      long nowMillis = NOW + 1 + i;
      node.store.commit(
          IntStream.range(0, 20)
              .<Change>mapToObj(id -> scheduleForQueue("id-%03d".formatted(id), NOW))
              .toList());
      node.makeReady(20);
      node.store.commit(
          IntStream.range(0, 10)
              .<Change>mapToObj(id -> new Change.Cancel(key("id-%03d".formatted(id)), 0, nowMillis))
              .toList());
      node.store.purge(nowMillis, 1, 5);
    }
  }

  @Test
  void aCompletionBehindThePositionOfThePurgeIsCountedUntilItIsPurged() {
    node.store.commit(List.of(schedule("late", NOW), schedule("next", NOW)));
    node.commit(new Change.Cancel(key("late"), 0, NOW - 1));
    assertClean();
    node.commit(new Change.Cancel(key("next"), 0, NOW + 2));
    assertThat(node.store.purge(NOW + 5, 10, 10)).isPositive();
    assertClean();
  }

  @Test
  void aSecondRepairIsRefused() throws SQLException {
    try (Connection first = fixture.pool.getConnection()) {
      first.setAutoCommit(false);
      node.store.server().transactions().beginSnapshot(first, true);
      assertThatThrownBy(node.store::repair)
          .isInstanceOf(StoreException.class)
          .hasMessage("another repair is running: try again when it has ended");
      first.rollback();
    }
    assertThat(node.store.repair().isClean()).isTrue();
  }

  /** A repeated request would fail until the answer is deleted. Then it is processed. */
  @Test
  void anAnswerThatCannotBeRead() throws SQLException {
    Change.Verb pause =
        new Change.Verb(key("a"), Change.Verb.Command.PAUSE, 0, RequestId.of("r-1"), NOW);
    node.commit(pause);
    node.commit(new Change.Verb(key("a"), Change.Verb.Command.RESUME, 0, RequestId.of("r-2"), NOW));
    assertClean();
    fixture.execute("UPDATE timewheel_answer SET answer = 99 WHERE request = 'r-1'");
    assertFound("shop/a: the answer of request r-1 cannot be read: Answer 99");
    assertThat(node.commit(pause).repeated()).isFalse();
  }

  @Test
  void aRowOfTheReadyIndexWithoutAReadyTimer() throws SQLException {
    fixture.execute(ADD_READY + "'orders', 1, 'absent')");
    fixture.execute(ADD_READY + "'orders', 2, 'a')");
    fixture.execute(ADD_READY + "'orders', 3, 'id-000')");
    fixture.execute(ADD_READY + "'other', " + NOW + ", 'id-001')");
    String row = "a row in the ready index (queue ";
    assertFound(
        "shop/absent: " + row + "orders, ready at 1), but no such timer is unfinished",
        "shop/a: " + row + "orders, ready at 2), but its timer is in another state",
        "shop/id-000: "
            + row
            + "orders, ready at 3), but its timer is ready in queue orders at "
            + NOW,
        "shop/id-001: "
            + row
            + "other, ready at "
            + NOW
            + "), but its timer is ready in queue orders at "
            + NOW);
    assertThat(fixture.number("SELECT count(*) FROM timewheel_ready")).isEqualTo(2);
  }

  @Test
  void theIndexOfReadyTimersOfHandlers() throws SQLException {
    Change.Begin read = node.begin("a");
    node.commit(
        new Change.MakeReady(
            read.key(), read.version(), read.revision(), read.epoch(), TimerRecord.NONE, NOW));
    assertClean();
    fixture.execute(
        "INSERT INTO timewheel_handler_ready (namespace, handler, ready_at, id)"
            + " VALUES ('shop', 'orders', 1, 'absent')");
    fixture.execute("DELETE FROM timewheel_handler_ready WHERE id = 'a'");
    fixture.execute(ADD_READY + "'orders', " + NOW + ", 'a')");
    assertFound(
        "shop/absent: a row in the ready index (handler orders, ready at 1), but no such timer is"
            + " unfinished",
        "shop/a: a row in the ready index (queue orders, ready at "
            + NOW
            + "), but its timer is ready in queue orders at "
            + NOW,
        "shop/a: ready in handler orders, without a row in the ready index");
    assertThat(fixture.number("SELECT count(*) FROM timewheel_handler_ready")).isOne();
  }

  @Test
  void aReadyTimerWithoutARowInTheReadyIndex() throws SQLException {
    fixture.execute("DELETE FROM timewheel_ready WHERE id = 'id-000'");
    assertFound("shop/id-000: ready in queue orders, without a row in the ready index");
    assertThat(fixture.number("SELECT ready_at FROM timewheel_ready WHERE id = 'id-000'"))
        .isEqualTo(NOW);
  }

  @Test
  void aCounterThatDoesNotEqualTheRows() throws SQLException {
    String add = "INSERT INTO timewheel_count (namespace, state, delta) VALUES ";
    fixture.execute(add + "('shop', 1, 453)");
    fixture.execute(add + "('shop', 0, -1)");
    fixture.execute(add + "('none', 7, -2)");
    assertFound(
        "the counter of shop in state READY: 455 (expected: 2)",
        "the counter of shop in state SCHEDULED: 0 (expected: 1)",
        "the counter of none in state COMPLETED: -2 (expected: 0)");
    assertThat(node.store.counts())
        .isEqualTo(
            Map.of(
                "shop",
                Map.of(TimerState.READY, 2L, TimerState.SCHEDULED, 1L, TimerState.CANCELLED, 1L)));
  }

  @Test
  void aTimerInTheShardOfAnotherKey() throws SQLException {
    int right = Shards.of(key("a"), 4);
    int wrong = (right + 1) % 4;
    fixture.execute("UPDATE timewheel_timer SET shard = " + wrong + " WHERE id = 'a'");
    assertFound("shop/a: in shard " + wrong + " (expected: " + right + ")");
    assertThat(fixture.number("SELECT shard FROM timewheel_timer WHERE id = 'a'")).isEqualTo(right);
  }

  /** Copies the cancelled 'c' within the history. */
  private void copyPast(String id, int version) throws SQLException {
    String part = Server.of(this) == Server.MARIADB ? "" : "part, ";
    String columns =
        ", due_at, created_at, changed_at, revision, attempt, state, flags, namespace, ";
    String rest = ", handler, spec, progress, payload_hash";
    fixture.execute(
        ("INSERT INTO timewheel_done (%1$sversion" + columns + "id" + rest + ")").formatted(part)
            + ("SELECT %1$s%2$d" + columns + "'%3$s'" + rest + " FROM timewheel_done")
                .formatted(part, version, id)
            + " WHERE id = 'c' AND version > 9");
  }

  @Test
  void aKeyWithMoreThanOneRow() throws SQLException {
    fixture.execute("UPDATE timewheel_done SET version = 10 WHERE id = 'c'");
    copyPast("c", 9);
    copyPast("a", 10);
    copyPast("a", 11);
    VerifyReport found = node.store.verify();
    assertThat(found.texts())
        .containsExactlyInAnyOrder(
            "shop/c: 2 times in the history",
            "shop/a: 2 times in the history and unfinished",
            "the counter of shop in state CANCELLED: 1 (expected: 4)");
    assertThat(node.store.repair().problems()).isEqualTo(3);
    assertClean();
    assertThat(node.store.get(key("a")).state()).isEqualTo(TimerState.SCHEDULED);
    assertThat(node.store.get(key("c")).version()).isEqualTo(10);
  }

  @Test
  void anInconsistentRecordIsNotRepaired() throws SQLException {
    fixture.execute("UPDATE timewheel_timer SET fire_at = NULL WHERE id = 'a'");
    assertThat(node.store.repair().isClean()).isTrue();
    assertThat(node.store.verify().texts())
        .containsExactly("shop/a: in state SCHEDULED without a time to fire at");
  }

  @Test
  void aTimerThatAnotherTransactionHoldsIsNotChanged() throws SQLException {
    fixture.execute("DELETE FROM timewheel_ready WHERE id = 'id-000'");
    fixture.execute(ADD_READY + "'orders', 3, 'id-000')");
    fixture.execute(ADD_READY + "'orders', 3, 'id-001')");
    try (Connection holder = fixture.transaction();
        Statement statement = holder.createStatement()) {
      statement.execute(
          "SELECT 1 FROM timewheel_timer WHERE namespace = 'shop' AND id = 'id-000' FOR UPDATE");
      assertHeld(2, "shop/id-001: ");
      holder.rollback();
    }
    assertThat(node.store.repair().problems()).isEqualTo(2);
    assertClean();
  }

  /** Expects that a repair leaves the problems of held rows, and fixes one. */
  private void assertHeld(int problems, String fixed) {
    assertThatExceptionOfType(IncompleteRepairException.class)
        .isThrownBy(node.store::repair)
        .withMessage(
            "other transactions hold the rows of %d problems: run the repair again when they have"
                + " ended",
            problems)
        .satisfies(e -> assertThat(e.held()).hasSize(Math.min(problems, VerifyReport.MAX_TEXTS)))
        .extracting(e -> e.repaired().texts(), InstanceOfAssertFactories.list(String.class))
        .singleElement(InstanceOfAssertFactories.STRING)
        .startsWith(fixed);
  }

  /** If the timer is finished or absent, its lock does not protect its row of the ready index. */
  @Test
  void rowsOfAnIndexThatAnotherTransactionHoldsAreNotChanged() throws SQLException {
    int held = 150;
    for (int i = 0; i < held; i++) {
      fixture.execute(ADD_READY + "'orders', 1, 'absent-" + i + "')");
    }
    fixture.execute(ADD_READY + "'orders', 3, 'id-001')");
    try (Connection holder = fixture.transaction();
        Statement statement = holder.createStatement()) {
      statement.execute("SELECT 1 FROM timewheel_ready WHERE ready_at = 1 FOR UPDATE");
      assertHeld(held, "shop/id-001: ");
      holder.rollback();
    }
    assertThat(node.store.repair().problems()).isEqualTo(held);
    assertClean();
  }

  @Test
  void rowsOfTheHistoryThatAnotherTransactionHoldsAreNotChanged() throws SQLException {
    fixture.execute("UPDATE timewheel_done SET version = 10 WHERE id = 'c'");
    copyPast("c", 9);
    try (Connection holder = fixture.transaction();
        Statement statement = holder.createStatement()) {
      statement.execute("SELECT 1 FROM timewheel_done WHERE id = 'c' FOR UPDATE");
      assertHeld(1, "the counter of shop in state ");
      holder.rollback();
    }
    assertThat(node.store.repair().problems()).isOne();
    assertClean();
  }

  /** A pool of one session with a limit. */
  private HikariDataSource limited(String limit) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(fixture.database.url());
    config.setUsername(fixture.database.user());
    config.setPassword(fixture.database.password());
    config.setMaximumPoolSize(1);
    config.setConnectionInitSql(limit);
    return new HikariDataSource(config);
  }

  /** Makes each verify take longer than the limit. */
  private void slowDown() throws SQLException {
    fixture.execute("ALTER TABLE timewheel_count RENAME TO counts");
    fixture.execute(
        "CREATE VIEW timewheel_count AS SELECT c.* FROM counts c, ("
            + Server.of(this).sleep(0.8)
            + ") s");
  }

  @Test
  void aVerifyMayTakeLongerThanTheTimeLimitOfStatements() throws SQLException {
    String sleep = Server.of(this).sleep(0.8);
    slowDown();
    try (HikariDataSource limited = limited(Server.of(this).limitStatements(500));
        JdbcTimerStore store = fixture.builder(limited).open()) {
      assertThat(store.verify().texts()).isEmpty();
      try (Connection connection = limited.getConnection();
          Statement statement = connection.createStatement()) {
        assertThatThrownBy(() -> statement.execute(sleep)).isInstanceOf(SQLException.class);
      }
    }
  }

  @Test
  void aVerifyMayTakeLongerThanTheTimeLimitOfTransactions() throws SQLException {
    try (Connection connection = fixture.database.connect()) {
      DatabaseMetaData server = connection.getMetaData();
      assumeThat(server.getDatabaseProductName()).isEqualTo("PostgreSQL");
      assumeThat(server.getDatabaseMajorVersion()).isGreaterThanOrEqualTo(17);
    }
    slowDown();
    try (HikariDataSource limited = limited("SET transaction_timeout = 500");
        JdbcTimerStore store = fixture.builder(limited).open()) {
      assertThat(store.verify().texts()).isEmpty();
    }
  }

  @Test
  void aFailedRepairReportsTheProblemsThatItHasFixed() throws SQLException {
    int wrong = (Shards.of(key("a"), 4) + 1) % 4;
    fixture.execute("UPDATE timewheel_timer SET shard = " + wrong + " WHERE id = 'a'");
    fixture.execute(
        "ALTER TABLE timewheel_timer ADD CONSTRAINT c CHECK (id <> 'a' OR shard = " + wrong + ")");
    fixture.execute("INSERT INTO timewheel_count (namespace, state, delta) VALUES ('shop', 1, 5)");
    assertThatExceptionOfType(IncompleteRepairException.class)
        .isThrownBy(node.store::repair)
        .withMessageMatching("(?s)the repair has fixed 1 problems and failed: .*; run it again")
        .satisfies(e -> assertThat(e.held()).isEmpty())
        .satisfies(
            e ->
                assertThat(e.repaired().texts())
                    .containsExactly("the counter of shop in state READY: 7 (expected: 2)"));
  }

  @Test
  void twoRepairsAtOnceCorrectACounterOnce() throws SQLException {
    for (int i = 0; i < 10; i++) {
      fixture.execute(
          "INSERT INTO timewheel_count (namespace, state, delta) VALUES ('shop', 1, 5)");
      CompletableFuture<VerifyReport> other = CompletableFuture.supplyAsync(node.store::repair);
      long fixed = node.store.repair().problems() + other.join().problems();
      assertThat(fixed).isOne();
      assertClean();
    }
  }
}
