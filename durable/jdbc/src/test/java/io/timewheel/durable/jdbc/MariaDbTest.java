// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimerException;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Outcome.Answer;
import io.timewheel.durable.spi.StoreException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What holds on PostgreSQL, on MariaDB: the same tests, but for what differs. A test that is
 * overridden without {@code @Test} has no counterpart there.
 */
@SuppressWarnings("ClassCanBeStatic") // what is nested must not be, for JUnit
class MariaDbTest {
  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String text(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }

  private static final String SETTINGS =
      "SELECT concat(@@tx_isolation, ' ', @@innodb_lock_wait_timeout, ' ',"
          + " @@idle_transaction_timeout)";

  @Nested
  class Tables extends SchemaTest {
    @Override
    Server server() {
      return Server.MARIADB;
    }

    /** All text is UTF-8, whatever the database is. */
    @Override
    void refusesAnEncodingThatCannotHoldAllNames() {}

    @Test
    void goesOnWithTablesThatWereHalfMade() throws SQLException {
      String script = fixture.builder(fixture.pool).schema();
      fixture.execute(script.substring(0, script.indexOf("INSERT INTO timewheel_history")));
      assertThat(fixture.open().store.traits().shards()).isEqualTo(4);
      assertThat(fixture.number("SELECT count(*) FROM timewheel_history")).isOne();
    }

    @Test
    void refusesAServerThatTakesNoLargePackets() throws SQLException {
      Database administration = TestDatabases.mariadb().administration();
      long usual = administration.number("SELECT @@global.max_allowed_packet");
      administration.execute("SET GLOBAL max_allowed_packet = 1048576");
      try {
        assertThatExceptionOfType(StoreException.class)
            .isThrownBy(() -> JdbcTimerStore.mariadb(fixture.database.dataSource()))
            .withMessageContaining("max_allowed_packet");
      } finally {
        administration.execute("SET GLOBAL max_allowed_packet = " + usual);
      }
    }
  }

  @Nested
  class Groups extends GroupTest {
    @Override
    Server server() {
      return Server.MARIADB;
    }

    @Override
    @Test
    void findsTimersByTheirKeysWhateverIsInTheTables() throws SQLException {
      try (Connection connection = fixture.pool.getConnection();
          Statement statement = connection.createStatement();
          ResultSet rows =
              statement.executeQuery(
                  "EXPLAIN SELECT * FROM timewheel_timer t FORCE INDEX (PRIMARY) WHERE"
                      + " (t.namespace = 'shop' AND t.id IN ('a', 'b') OR t.namespace = 'zoo'"
                      + " AND t.id IN ('c')) ORDER BY t.namespace, t.id FOR UPDATE")) {
        rows.next();
        assertThat(rows.getString("type")).isEqualTo("range");
        assertThat(rows.getString("Extra")).doesNotContain("filesort");
      }
    }

    @Override
    @Test
    void beginsNothingBesideAPauseThatIsBeingMade() throws SQLException {
      node.commit(schedule("a", NOW));
      try (Connection pauser = fixture.database.connect()) {
        pauser.setAutoCommit(false);
        new MariaDb().queries().lockPauses(pauser);
        execute(pauser, "INSERT INTO timewheel_pause VALUES ('shop')");
        assertThatExceptionOfType(StoreException.class)
            .isThrownBy(() -> node.commit(node.begin("a")))
            .returns(StoreException.Kind.TRANSIENT, StoreException::kind);
        pauser.commit();
      }
      assertThat(node.commit(node.begin("a")).answer()).isEqualTo(Answer.HELD);
    }

    /** The bytes of any name can be. */
    @Override
    void refusesWhatCannotBeStored() {}

    @Test
    void tellsNamesApartByTheirBytes() {
      for (String id : List.of("a", "A", "a ", "\u00e4", "a\u0308")) {
        assertThat(node.commit(schedule(id, NOW)).answer()).isEqualTo(Answer.CREATED);
      }
    }

    @Test
    void takesMoreThanOneStatementOfLargeTimers() {
      byte[] payload = new byte[64 * 1024];
      payload[0] = '\'';
      List<Change> changes =
          IntStream.range(0, 100)
              .<Change>mapToObj(i -> schedule("id-" + i, NOW, payload, false))
              .toList();
      assertThat(node.store.commit(changes)).allMatch(done -> done.answer() == Answer.CREATED);
      assertThat(node.store.get(key("id-99")).definition().payload()).isEqualTo(payload);
    }

    @Test
    void leavesTheSettingsOfAConnectionAsTheyWere() throws SQLException {
      try (HikariDataSource single = fixture.database.pool(1)) {
        Fixture.Node user = fixture.open(single, 4);
        try (Connection connection = single.getConnection()) {
          execute(
              connection,
              "SET SESSION tx_isolation = 'REPEATABLE-READ',"
                  + " innodb_lock_wait_timeout = 33, idle_transaction_timeout = 77");
        }
        user.commit(schedule("a", NOW));
        user.commit(schedule("a", NOW + 1));
        try (Connection connection = single.getConnection()) {
          assertThat(text(connection, SETTINGS)).isEqualTo("REPEATABLE-READ 33 77");
        }
        user.store.close();
      }
    }
  }

  @Nested
  class Commits extends TransactionsTest {
    @Override
    Server server() {
      return Server.MARIADB;
    }

    @Override
    @Test
    void saysWhatIsWrong() throws SQLException {
      fixture.execute("ALTER TABLE timewheel_timer RENAME TO elsewhere");
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> node.commit(schedule("a", NOW)))
          .withMessageContaining("timewheel_timer' doesn't exist")
          .returns(StoreException.Kind.UNAVAILABLE, StoreException::kind);
    }

    @Test
    void saysNothingOfCommitsThatItMayHaveForgotten() throws SQLException {
      MariaDb dialect = new MariaDb();
      try (Connection connection = fixture.pool.getConnection()) {
        long now = MariaDb.number(connection, "SELECT " + MariaDb.NOW);
        assertThat(dialect.isCommitted(connection, now + "/1")).isFalse();
        assertThat(dialect.isCommitted(connection, now - 61_000 + "/1")).isNull();
      }
    }
  }

  @Nested
  class Queue extends QueueTest {
    @Override
    Server server() {
      return Server.MARIADB;
    }
  }

  @Nested
  class Past extends HistoryTest {
    @Override
    Server server() {
      return Server.MARIADB;
    }

    @Override
    long rows(int part) throws SQLException {
      return fixture.number("SELECT count(*) FROM timewheel_done");
    }

    @Override
    @Test
    void forgetsWithoutDeletingRows() throws SQLException {
      finish("a", NOW);
      finish("b", NOW + 10);
      assertThat(node.store.forget(NOW + 5, 10, 10)).isEqualTo(1);
      assertThat(node.store.get(key("a"))).isNull();
      assertThat(node.store.get(key("b"))).isNotNull();
      assertThat(rows(0)).as("deleted").isOne();
    }

    @Test
    void deletesCommitsThatNobodyAsksForAnyMore() throws SQLException {
      fixture.execute("UPDATE timewheel_commit SET made_at = made_at - 120001");
      node.commit(schedule("a", NOW));
      node.store.forget(NOW, 10, 10);
      assertThat(fixture.number("SELECT count(*) FROM timewheel_commit")).isEqualTo(2);
    }

    /** There is one part. */
    @Override
    void emptiesAPartOfWhichNothingIsRemembered() {}

    @Override
    void goesOnToNoPartThatIsNotEmpty() {}
  }

  @Nested
  class Leases extends OwnershipTest {
    @Override
    Server server() {
      return Server.MARIADB;
    }
  }

  @Nested
  class Nodes extends MembershipTest {
    @Override
    Server server() {
      return Server.MARIADB;
    }
  }

  @Nested
  class Bounds extends DueBoundsTest {
    @Override
    Server server() {
      return Server.MARIADB;
    }
  }

  @Nested
  class TwoNodes extends TwoTimersTest {
    @Override
    Server server() {
      return Server.MARIADB;
    }
  }

  @Nested
  class Held extends HeldTimersTest {
    @Override
    Server server() {
      return Server.MARIADB;
    }
  }

  @Nested
  class InTransactions extends TransactionTimerTest {
    @Override
    Server server() {
      return Server.MARIADB;
    }

    /** A transaction goes on after a statement has failed. */
    @Override
    void refusesATransactionThatHasFailed() {}

    @Override
    @Test
    void refusesAReadOnlyTransaction() throws SQLException {
      connection.rollback();
      execute("SET SESSION TRANSACTION READ ONLY");
      assertThatIllegalStateException()
          .isThrownBy(() -> timer.cancel("shop", "a"))
          .withMessageContaining("its transaction is read-only");
    }

    @Override
    @Test
    void leavesTheSettingsOfTheTransactionAsTheyWere() throws SQLException {
      String before = text(connection, SETTINGS);
      timer.schedule(at("a", NOW));
      assertThat(text(connection, SETTINGS)).isEqualTo(before);
    }

    @Override
    @Test
    void saysThatTheTransactionIsLostWhenTheDatabaseFails() throws SQLException {
      node.commit(schedule("a", NOW));
      try (Connection holder = fixture.database.connect()) {
        holder.setAutoCommit(false);
        timers.in(holder).cancel("shop", "a");
        execute("SET SESSION innodb_lock_wait_timeout = 1");
        assertThatExceptionOfType(DurableTimerException.class)
            .isThrownBy(() -> timer.scheduleAll(List.of(spec("0"), at("a", NOW + 1), spec("z"))))
            .withMessageContaining("Lock wait timeout")
            .withMessageEndingWith("the transaction can only be rolled back")
            .returns(DurableTimerException.Reason.STORE_UNAVAILABLE, DurableTimerException::reason);
        connection.commit();
        holder.rollback();
      }
      assertThat(state("0")).as("of a user who commits nevertheless").isNull();
      assertThat(node.store.counts().get("shop")).hasSize(1).containsValue(1L);
    }

    /** There are no notifications. */
    @Override
    void notifiesOfWhatIsNearWhenItCommits() {}
  }

  @Nested
  class ExactlyOnce extends TransactionHandlerTest {
    @Override
    Server server() {
      return Server.MARIADB;
    }

    @Override
    @Test
    void rollsBackWhenAStatementOfTheHandlerFails() {
      TimerInfo info = fire((firing, connection) -> execute(connection, "SELECT 1 FROM nowhere"));
      assertThat(ledger.effects()).containsExactly("a 2");
      assertThat(info.attempts().get(0).error()).contains("nowhere");
    }

    /** A transaction goes on after a statement has failed, but not after a deadlock. */
    @Override
    @Test
    void anErrorThatTheHandlerHidesRollsBackToo() {
      ledger.execute("CREATE TABLE pair (id int PRIMARY KEY, n int)");
      ledger.execute("INSERT INTO pair VALUES (1, 0), (2, 0)");
      ledger.execute("CREATE TABLE weight (n int)");
      TimerInfo info =
          fire(
              (firing, connection) -> {
                try (Connection other = ledger.pool.getConnection()) {
                  other.setAutoCommit(false);
                  execute(other, "INSERT INTO weight SELECT seq FROM seq_1_to_1000");
                  execute(other, "UPDATE pair SET n = 1 WHERE id = 2");
                  execute(connection, "UPDATE pair SET n = 1 WHERE id = 1");
                  CompletableFuture<Void> waits = CompletableFuture.runAsync(() -> update(other));
                  assertThatExceptionOfType(SQLException.class)
                      .isThrownBy(() -> execute(connection, "UPDATE pair SET n = 2 WHERE id = 2"))
                      .returns(1213, SQLException::getErrorCode);
                  waits.join();
                  other.rollback();
                }
              });
      assertThat(info.attempts().get(0).error()).contains("has ended the transaction");
      assertThat(ledger.effects()).containsExactly("a 2");
    }

    private static void update(Connection other) {
      try {
        execute(other, "UPDATE pair SET n = 2 WHERE id = 1");
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    @Test
    void theServerLimitsHowLongAHandlerStandsStill() throws SQLException {
      fire(
          (firing, connection) ->
              assertThat(text(connection, "SELECT @@idle_transaction_timeout")).isEqualTo("10"));
      assertThat(ledger.effects()).containsExactly("a 1");
    }
  }

  @Nested
  class Batches extends BatchingHandlerTest {
    @Override
    Server server() {
      return Server.MARIADB;
    }
  }

  @Nested
  @Timeout(300)
  class Outages extends OutageTest {
    @Override
    Server kind() {
      return Server.MARIADB;
    }

    @Override
    String readOnlyReason() {
      return "read-only";
    }

    @Override
    void setReadOnly(boolean readOnly) throws SQLException {
      server.administration().execute("SET GLOBAL read_only = " + readOnly);
    }
  }
}
