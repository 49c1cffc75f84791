// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.durable.jdbc.internal.postgresql.PostgreSql;
import io.timewheel.durable.jdbc.internal.postgresql.PostgreSqlQueries;
import io.timewheel.durable.jdbc.internal.postgresql.PostgreSqlRecords;
import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.HeldTimersException;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.testing.Await;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Verifies the locks and the plans of write batches, for any content of the tables. */
class WriteBatchTest {
  final Fixture fixture = Fixture.withoutTables(Server.of(this));
  final Fixture.Node node = fixture.start();

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void commitsTheSameChangesOfTwoNodesOneAfterTheOther() {
    Fixture.Node other = fixture.open();
    List<Change> changes = new ArrayList<>();
    IntStream.range(0, 200).forEach(i -> changes.add(schedule("id-" + i, NOW)));
    List<Change> backwards = new ArrayList<>(changes);
    Collections.reverse(backwards);
    for (int round = 0; round < 5; round++) {
      CompletableFuture<List<Outcome>> first =
          CompletableFuture.supplyAsync(() -> commitWhenReleased(node, changes));
      List<Outcome> all = new ArrayList<>(commitWhenReleased(other, backwards));
      all.addAll(first.join());
      long created = all.stream().filter(outcome -> outcome.answer() == Answer.CREATED).count();
      assertThat(created).isEqualTo(200);
      assertThat(all).hasSize(400);
      List<Change> cancels = new ArrayList<>();
      changes.forEach(change -> cancels.add(new Change.Cancel(change.key(), 0, NOW)));
      node.store.commit(cancels);
      assertThat(node.store.counts()).isEqualTo(Map.of("shop", Map.of(TimerState.CANCELLED, 200L)));
    }
  }

  /** Repeats a batch whose timers another transaction holds, like an engine. */
  private static List<Outcome> commitWhenReleased(Fixture.Node node, List<Change> changes) {
    List<Outcome> outcomes = new ArrayList<>();
    Await.until(
        () -> {
          try {
            return outcomes.addAll(node.store.commit(changes));
          } catch (HeldTimersException e) {
            return false;
          }
        });
    return outcomes;
  }

  @Test
  void locksInTheOrderOfTheKeys() throws SQLException {
    for (String id : List.of("a", "b", "c")) {
      node.commit(schedule(id, NOW));
    }
    List<Change> cancels = new ArrayList<>();
    for (String id : List.of("c", "b", "a")) {
      cancels.add(new Change.Cancel(key(id), 0, NOW));
    }
    try (Connection holder = fixture.transaction();
        Connection looker = fixture.transaction()) {
      free(holder, "WHERE namespace = 'shop' AND id = 'b'");
      CompletableFuture<List<Outcome>> commit =
          CompletableFuture.supplyAsync(() -> node.store.commit(cancels));
      List<String> free;
      do {
        free = free(looker, "ORDER BY id");
        looker.rollback();
        assertThat(free).isIn(List.of("a", "c"), List.of("c"));
      } while (free.contains("a") && !commit.isDone());
      assertThat(free).containsExactly("c");
      holder.rollback();
      assertThat(commit.join()).hasSize(3);
    }
  }

  private static List<String> free(Connection connection, String which) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT id FROM timewheel_timer " + which + " FOR UPDATE SKIP LOCKED")) {
      List<String> ids = new ArrayList<>();
      while (rows.next()) {
        ids.add(rows.getString(1));
      }
      return ids;
    }
  }

  @Test
  void findsTimersByTheirKeysForAnyTableContent() throws SQLException {
    assertThat(plan(PostgreSqlRecords.LOCK))
        .contains("Nested Loop", "timewheel_timer_pkey")
        .doesNotContain("Seq Scan on timewheel_timer");
    assertThat(plan(PostgreSqlRecords.FINISHED))
        .contains("Nested Loop", "timewheel_done_0_namespace_id_idx")
        .doesNotContain("Seq Scan on timewheel_done", "changed_at_idx");
  }

  private String plan(String sql) throws SQLException {
    try (Connection connection = fixture.pool.getConnection()) {
      connection.setAutoCommit(false);
      PostgreSql.parts(Formats.ofThisRelease()).transactions().begin(connection);
      StringBuilder plan = new StringBuilder();
      try (PreparedStatement statement = connection.prepareStatement("EXPLAIN " + sql)) {
        new Parameters(connection, statement)
            .texts(List.of("shop"), text -> text)
            .texts(List.of("a"), text -> text)
            .numbers(1);
        try (ResultSet rows = statement.executeQuery()) {
          while (rows.next()) {
            plan.append(rows.getString(1)).append('\n');
          }
        }
      }
      connection.rollback();
      return plan.toString();
    }
  }

  @Test
  void writesTimersByTheirKeysForAnyTableContent() throws SQLException {
    assertWritesByKeys();
    fill(20_000);
    fixture.execute("ANALYZE timewheel_timer");
    assertWritesByKeys();
  }

  void fill(int timers) {
    for (int from = 0; from < timers; from += 1_000) {
      node.store.commit(
          IntStream.range(from, from + 1_000)
              .<Change>mapToObj(i -> schedule("id-" + i, NOW + i))
              .toList());
    }
  }

  private void assertWritesByKeys() throws SQLException {
    for (String sql :
        List.of(PostgreSqlRecords.ADVANCE, PostgreSqlRecords.REPLACE, PostgreSqlRecords.FINISH)) {
      assertThat(fixture.keptPlan(sql))
          .contains("Nested Loop", "Index Scan using timewheel_timer_pkey")
          .doesNotContain("Seq Scan on timewheel_timer");
    }
  }

  @Test
  void sweepsByTheDueIndexForAnyTableContent() throws SQLException {
    assertThat(sweepPlan()).contains("timewheel_timer_due").doesNotContain("Seq Scan");
    fill(20_000);
    assertThat(sweepPlan()).contains("timewheel_timer_due").doesNotContain("Seq Scan");
    fixture.execute("ANALYZE timewheel_timer");
    assertThat(sweepPlan()).contains("timewheel_timer_due").doesNotContain("Seq Scan");
  }

  private String sweepPlan() throws SQLException {
    try (Connection connection = fixture.pool.getConnection();
        PreparedStatement statement =
            connection.prepareStatement("EXPLAIN " + PostgreSqlQueries.SWEEP)) {
      new Parameters(connection, statement)
          .ints(List.of(0, 1, 2), shard -> shard)
          .longs(List.of(NOW, NOW, NOW), from -> from)
          .number(NOW + 1_000)
          .number(100);
      StringBuilder plan = new StringBuilder();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          plan.append(rows.getString(1)).append('\n');
        }
      }
      return plan.toString();
    }
  }

  @Test
  void beginsNoAttemptDuringAnUncommittedPause() throws SQLException {
    node.commit(schedule("a", NOW));
    try (Connection pauser = fixture.transaction();
        Statement statement = pauser.createStatement()) {
      statement.execute("LOCK TABLE timewheel_pause IN EXCLUSIVE MODE");
      statement.execute("INSERT INTO timewheel_pause VALUES ('shop', 1)");
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> node.commit(node.begin("a")))
          .returns(StoreException.Kind.TRANSIENT, StoreException::kind);
      pauser.commit();
    }
    assertThat(node.commit(node.begin("a")).answer()).isEqualTo(Answer.HELD);
  }

  @Test
  void countsTheTimersOfABatchAgainstTheLimitOfTheirNamespace() {
    List<Change> changes = new ArrayList<>();
    for (String id : List.of("a", "b", "c")) {
      Change.Schedule plain = schedule(id, NOW);
      changes.add(
          new Change.Schedule(
              plain.key(),
              plain.definition(),
              NOW,
              false,
              Change.Condition.NONE,
              0,
              false,
              null,
              2,
              NOW));
    }
    assertThat(node.store.commit(changes))
        .extracting(Outcome::answer)
        .containsExactly(Answer.CREATED, Answer.CREATED, Answer.OVER_LIMIT);
  }

  @Test
  void compactsTheCounters() throws SQLException {
    for (int i = 0; i < 500; i++) {
      node.commit(schedule("a", NOW + i));
      node.commit(new Change.Cancel(key("a"), 0, NOW));
    }
    assertThat(fixture.number("SELECT count(*) FROM timewheel_count")).isLessThan(10);
    assertThat(node.store.counts()).isEqualTo(Map.of("shop", Map.of(TimerState.CANCELLED, 1L)));
  }

  @Test
  void refusesTextsThatCannotBeStored() {
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> node.commit(schedule("a\0b", NOW)))
        .returns(StoreException.Kind.REJECTED, StoreException::kind);
  }
}
