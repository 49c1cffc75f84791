// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.MariaDbSql.execute;
import static io.timewheel.durable.jdbc.MariaDbSql.explain;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.durable.jdbc.internal.mariadb.MariaDbQueries;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.testing.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs the tests of {@link QueueTest} on MariaDB, as {@link MariaDbTest} describes. */
@On(Server.MARIADB)
class MariaDbQueueTest extends QueueTest {
  @Override
  void analyze() throws SQLException {
    fixture.execute("ANALYZE TABLE timewheel_timer PERSISTENT FOR ALL");
    fixture.execute("ANALYZE TABLE timewheel_ready PERSISTENT FOR ALL");
  }

  @Override
  void assertClaimsInTheOrderOfTheIndex() throws SQLException {
    List<String> plan = explain(fixture, MariaDbQueries.TAKE_READY, "'shop'", "'orders'", "7", "1");
    assertThat(plan).hasSize(2).noneMatch(table -> table.matches(".*(filesort|temporary).*"));
    assertThat(plan.get(0)).startsWith("ref ");
    assertThat(plan.get(1)).startsWith("eq_ref ");
    List<String> notEmpty =
        explain(fixture, MariaDbQueries.NOT_EMPTY, "'[[\"61\", \"62\"], [\"63\", \"64\"]]'");
    assertThat(notEmpty).filteredOn(table -> table.startsWith("ref ")).hasSize(1);
    assertThat(notEmpty).noneMatch(table -> table.startsWith("index "));
  }

  @Test
  void insertsNoRowIfThereIsNothingToClaim() throws SQLException {
    makeReady(1);
    node.store.pause("shop");
    long before = fixture.number("SELECT count(*) FROM timewheel_commit");
    assertThat(lease(node.store, 1)).isEmpty();
    node.store.resume("shop");
    assertThat(lease(node.store, 1)).hasSize(1);
    assertThat(lease(node.store, 1)).isEmpty();
    assertThat(fixture.number("SELECT count(*) FROM timewheel_commit"))
        .as("for the end of the pause, and one claim")
        .isEqualTo(before + 2);
  }

  /** A claim that skips a timer keeps the lock on its index row until the claim ends. */
  @Test
  @Timeout(120)
  void aCancelWaitsForAClaimThatHasSkippedItsTimer() throws Exception {
    makeReady(2);
    try (Connection claim = fixture.transaction()) {
      execute(claim, READY + " AND id = 'id-000' FOR UPDATE");
      CompletableFuture<Outcome> cancel =
          CompletableFuture.supplyAsync(
              () -> node.commit(new Change.Cancel(key("id-000"), 0, NOW)));
      Await.until(() -> fixture.number(WAITING) != 0 || cancel.isDone());
      claim.rollback();
      assertThat(cancel.get().answer()).isEqualTo(Answer.CANCELLED);
    }
    assertThat(lease(node.store, 2)).extracting(TimerRecord::key).containsExactly(key("id-001"));
  }

  private static final String WAITING =
      "SELECT count(*) FROM information_schema.processlist"
          + " WHERE info LIKE '%DELETE FROM timewheel_ready%' AND id <> connection_id()";

  /** A deadlock ends the transaction, and the rest of the batch begins another one. */
  @Test
  @Timeout(120)
  void aDeadlockInABatchLeavesNoChangesThatTheUserCouldCommit() throws SQLException {
    makeReady(3);
    fixture.execute("CREATE TABLE own (id int PRIMARY KEY, n int)");
    fixture.execute("INSERT INTO own VALUES (1, 0)");
    fixture.execute("CREATE TABLE weight (n int)");
    try (Connection user = fixture.transaction();
        Connection other = fixture.transaction()) {
      // In a deadlock, MariaDB rolls back the transaction with fewer changes.
      execute(other, "INSERT INTO weight SELECT seq FROM seq_1_to_1000");
      execute(other, READY + " AND id = 'id-001' FOR UPDATE");
      execute(user, "UPDATE own SET n = 1");
      CompletableFuture<Void> waits = CompletableFuture.runAsync(() -> update(other));
      assertThatExceptionOfType(DurableTimerException.class)
          .isThrownBy(
              () ->
                  TransactionTimers.of(node.store)
                      .in(user)
                      .cancelAll(List.of(key("id-000"), key("id-001"), key("id-002"))))
          .withMessageContaining("Deadlock");
      waits.join();
      other.rollback();
      user.commit();
    }
    assertThat(lease(node.store, 3)).as("no timer is lost from the queue").hasSize(3);
  }

  private static final String READY =
      "SELECT id FROM timewheel_ready WHERE namespace = 'shop' AND queue = 'orders'"
          + " AND ready_at = "
          + NOW;

  private static void update(Connection connection) {
    try {
      execute(connection, "UPDATE own SET n = 2");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
