// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.internal.handler.StoreTables;
import io.timewheel.durable.jdbc.internal.handler.TransactionChanges;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.testing.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Changes the parts of the history while transactions write to them. Only on PostgreSQL. */
@Timeout(120)
class HistoryPartsTest {
  final Fixture fixture = new Fixture(Server.of(this));
  final Fixture.Node node = fixture.start();

  @AfterEach
  void close() {
    fixture.close();
  }

  private static Change.Cancel cancel(String id, long now) {
    return new Change.Cancel(key(id), 0, now);
  }

  private void finish(Fixture.Node by, String id, long now) {
    by.commit(schedule(id, NOW));
    by.commit(cancel(id, now));
  }

  private long rows(int part) throws SQLException {
    return fixture.number("SELECT count(*) FROM timewheel_done_" + part);
  }

  /** Makes the history continue in its next part. */
  private void startNextPart() throws SQLException {
    fixture.execute("UPDATE timewheel_history SET part_since = 0");
    node.store.purge(NOW - 5, 10, 10);
  }

  /** Commits changes like {@link TransactionTimers}, in a transaction of the user. */
  private static List<Outcome> in(Connection connection, Fixture.Node by, Change change)
      throws SQLException {
    return new TransactionChanges(
            by.store.writer(),
            by.store.server(),
            new StoreTables(by.store.transactions(), by.store.server()),
            connection)
        .commit(List.of(change));
  }

  @Test
  void aSessionThatNeverPurgesWritesToTheCurrentPart() throws SQLException {
    Fixture.Node other = fixture.open();
    finish(other, "before", NOW);
    startNextPart();
    finish(other, "after", NOW + 10);
    try (Connection connection = fixture.transaction()) {
      in(connection, other, schedule("user", NOW));
      in(connection, other, cancel("user", NOW + 20));
      connection.commit();
    }
    assertThat(rows(0)).isOne();
    assertThat(rows(1)).isEqualTo(2);
    node.store.purge(NOW + 15, 10, 10);
    assertThat(rows(0)).isZero();
  }

  /** The clock of the node is behind, or its transaction took long. */
  @Test
  void aTimerThatFinishesBehindThePositionIsVisibleUntilTheNextPurge() throws SQLException {
    finish(node, "a", NOW + 100);
    assertThat(node.store.purge(NOW + 150, 10, 10)).isOne();
    finish(node, "late", NOW);
    assertThat(node.store.get(key("late"))).isNotNull();
    assertThat(node.store.purge(NOW + 150, 10, 10)).isOne();
    assertThat(node.store.counts()).isEmpty();
  }

  /** The row is committed between the check of a part and its truncation. */
  @Test
  void keepsARowThatIsCommittedWhileItsPartIsEmptied() throws SQLException {
    finish(node, "old", NOW);
    node.commit(schedule("late", NOW));
    try (Connection user = fixture.transaction()) {
      in(user, node, cancel("late", NOW + 100));
      startNextPart();
      finish(node, "next", NOW + 40);
      LossySource source = new LossySource(fixture.pool);
      Fixture.Node other = fixture.open(source, 4);
      source.onPrepare =
          () -> {
            if (source.prepared.startsWith("LOCK TABLE timewheel_done_0")
                || source.prepared.startsWith("TRUNCATE timewheel_done_0")) {
              commit(user);
            }
          };
      assertThat(other.store.purge(NOW + 50, 10, 10)).isEqualTo(2);
    }
    assertThat(node.store.get(key("late"))).isNotNull();
    assertThat(rows(0)).isEqualTo(2);
    assertThat(node.store.counts()).isEqualTo(Map.of("shop", Map.of(TimerState.CANCELLED, 1L)));
    finish(node, "last", NOW + 140);
    node.store.purge(NOW + 150, 10, 10);
    assertThat(rows(0)).isZero();
    assertThat(node.store.counts()).isEmpty();
  }

  private static void commit(Connection connection) {
    try {
      connection.commit();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** An open transaction blocks only its own part; the other parts are emptied. */
  @Test
  void emptiesOtherPartsWhileATransactionHoldsOne() throws SQLException {
    finish(node, "a", NOW);
    node.commit(schedule("held", NOW));
    try (Connection user = fixture.transaction()) {
      in(user, node, cancel("held", NOW + 100));
      startNextPart();
      finish(node, "b", NOW + 1);
      startNextPart();
      finish(node, "c", NOW + 40);
      assertThat(node.store.purge(NOW + 50, 10, 10)).isEqualTo(3);
      assertThat(rows(0)).isOne();
      assertThat(rows(1)).isZero();
      user.commit();
    }
    assertThat(node.store.get(key("held"))).isNotNull();
  }

  /** The statement has read the number of the part, and waits for the lock on it. */
  @Test
  void keepsTheRowOfAStatementThatWaitsForThePartToBeEmptied() throws Exception {
    finish(node, "old", NOW);
    node.commit(schedule("late", NOW));
    try (Connection emptying = fixture.transaction();
        Connection user = fixture.transaction();
        Statement statement = emptying.createStatement()) {
      statement.execute("LOCK TABLE timewheel_done_0 IN ACCESS EXCLUSIVE MODE");
      statement.execute("UPDATE timewheel_history SET part = 1, forgotten_at = " + (NOW + 50));
      statement.execute("TRUNCATE timewheel_done_0");
      CompletableFuture<List<Outcome>> late =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return in(user, node, cancel("late", NOW + 100));
                } catch (SQLException e) {
                  throw new IllegalStateException(e);
                }
              });
      Await.until(
          () ->
              late.isDone()
                  || fixture.number("SELECT count(*) FROM pg_locks WHERE NOT granted") != 0);
      emptying.commit();
      assertThat(late.get().get(0).answer()).isEqualTo(Outcome.Answer.CANCELLED);
      user.commit();
    }
    assertThat(node.store.get(key("late"))).isNotNull();
    assertThat(rows(0) + rows(1)).isOne();
    finish(node, "next", NOW + 110);
    assertThat(rows(1)).isPositive();
  }
}
