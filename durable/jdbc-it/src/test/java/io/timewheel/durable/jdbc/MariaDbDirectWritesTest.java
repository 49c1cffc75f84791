// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static io.timewheel.durable.jdbc.MariaDbSql.SETTINGS;
import static io.timewheel.durable.jdbc.MariaDbSql.execute;
import static io.timewheel.durable.jdbc.MariaDbSql.schedules;
import static io.timewheel.durable.jdbc.MariaDbSql.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.LossySource.Fate;
import io.timewheel.durable.jdbc.internal.server.DirectInserts;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the tests of {@link DirectWritesTest} on MariaDB, as {@link MariaDbTest} describes. */
@On(Server.MARIADB)
class MariaDbDirectWritesTest extends DirectWritesTest {
  @Override
  int longest() {
    return 99;
  }

  @Test
  void leavesALongerListToAWriteBatch() {
    assertCreated(node.store.commit(schedules("a", 100)));
    assertThat(source.directWrites).isZero();
  }

  /** MariaDB has no setting that gives the parts of a compound statement own transactions. */
  @Override
  void writesNothingDirectlyWhereStatementsHaveTransactionsOfTheirOwn(String parameter) {}

  @Override
  void writesNothingDirectlyOnceTheIsolationHasChanged() {}

  /** The store does not know the session, and waits for no lock. */
  @Override
  void waitsForARepeatedInsertInAnotherSession() {}

  @Override
  void reportsNoChangeIfItsSessionHasEndedAndTheDatabaseIsReadOnly() {}

  /** The store reads no sessions. */
  @Override
  void settlesALostAnswerAlthoughItMayNotReadTheSessions(Fate fate) {}

  /** MariaDB has no lock that only a transaction holds on a table. */
  @Override
  void waitsBrieflyForALockOnATable(int size) {}

  @Override
  void aLookupWaitsBrieflyForALockOnATable(int size) {}

  @ParameterizedTest
  @ValueSource(strings = {"READ UNCOMMITTED", "REPEATABLE READ", "SERIALIZABLE"})
  void writesDirectlyWithAnyIsolationAndRestoresTheSettings(String isolation) throws SQLException {
    try (HikariDataSource pool = fixture.database.pool(1)) {
      LossySource counted = new LossySource(pool);
      Fixture.Node session = fixture.open(counted, 4);
      try (Connection connection = pool.getConnection()) {
        execute(connection, "SET SESSION TRANSACTION ISOLATION LEVEL " + isolation);
      }
      String before = settings(pool);
      assertThat(session.commit(schedule("a", NOW)).answer()).isEqualTo(Answer.CREATED);
      assertThat(counted.directWrites).isOne();
      assertThat(settings(pool)).isEqualTo(before);
      other.commit(schedule("b", NOW));
      session.commit(schedule("b", NOW));
      assertThat(counted.directWrites).isEqualTo(2);
      assertThat(settings(pool)).isEqualTo(before);
      session.store.close();
    }
  }

  private String settings(HikariDataSource pool) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      assertThat(text(connection, "SELECT @@in_transaction")).isEqualTo("0");
      return text(connection, SETTINGS);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"CHAIN", "RELEASE"})
  void endsItsTransactionWithAnyCompletionType(String type) throws SQLException {
    other.commit(schedule("done", NOW));
    other.commit(new Change.Cancel(key("done"), 0, NOW));
    try (HikariDataSource pool = fixture.database.pool(1)) {
      LossySource lossy = new LossySource(pool);
      Fixture.Node session = fixture.open(lossy, 4);
      long connection;
      try (Connection user = pool.getConnection()) {
        execute(user, "SET SESSION completion_type = '" + type + "'");
        connection = Sql.number(user, "SELECT connection_id()");
      }
      DirectInserts inserts = session.store.server().directInserts();
      List<TimerRecord> done = List.of(session.store.get(key("done")));
      for (int i = 0; i < 2; i++) {
        lossy.fates.add(Fate.ANSWER_LOST); // so that it looks up, too
        assertThat(session.commit(schedule("id-" + i, NOW)).answer()).isEqualTo(Answer.CREATED);
        try (Connection user = pool.getConnection()) {
          assertThat(inserts.insert(user, done, 7, 4, to -> {}).inserted()).isFalse();
          assertThat(text(user, "SELECT concat(@@in_transaction, ' ', connection_id())"))
              .isEqualTo("0 " + connection);
        }
      }
      assertThat(lossy.directWrites).isEqualTo(2);
      session.store.close();
    }
  }

  @Test
  void leavesTimersThatAreTooLargeForOneStatementToAWriteBatch() {
    byte[] payload = new byte[1 << 20];
    assertCreated(
        node.store.commit(
            List.of(
                Fixture.schedule("a", NOW, payload, false),
                Fixture.schedule("b", NOW, payload, false))));
    assertThat(source.directWrites).isZero();
    assertThat(node.commit(Fixture.schedule("c", NOW, payload, false)).answer())
        .isEqualTo(Answer.CREATED);
    assertThat(source.directWrites).isOne();
  }

  /** The lock on the table of commits holds the write up after its insert. */
  @Override
  @Test
  void findsATimerInTheHistoryThatWasFinishingWhileItWaited() throws Exception {
    other.commit(schedule("b", NOW));
    other.commit(new Change.Cancel(key("b"), 0, NOW));
    try (Connection holder = fixture.pool.getConnection()) {
      execute(holder, "LOCK TABLES timewheel_commit WRITE");
      CompletableFuture<Outcome> commit =
          CompletableFuture.supplyAsync(() -> node.commit(schedule("a", NOW)));
      while (fixture.number(
              "SELECT count(*) FROM information_schema.processlist"
                  + " WHERE db = database() AND state = 'Waiting for table metadata lock'")
          == 0) {
        assertThat(commit).isNotDone();
      }
      fixture.execute("UPDATE timewheel_done SET id = 'a' WHERE id = 'b'");
      execute(holder, "UNLOCK TABLES");
      assertThat(commit.join().answer()).isEqualTo(Answer.CREATED);
    }
    assertThat(fixture.number("SELECT count(*) FROM timewheel_done")).isZero();
    assertThat(source.directWrites).isOne();
    assertThat(source.commits).isOne();
  }

  /** Otherwise each call would cost a round trip more. */
  @Test
  void triesNoDirectWriteOnceTheServerHasRefusedIt() {
    source.rewriting = sql -> sql.replace("DECLARE EXIT HANDLER", "DECLARE HANDLER");
    node.commit(schedule("a", NOW));
    node.commit(schedule("b", NOW));
    assertThat(source.directWrites).isOne();
    assertThat(source.commits).isEqualTo(2);
  }

  /** These are of a driver that reconnects, its failed login, and a proxy. */
  @ParameterizedTest
  @CsvSource({"25S03, 0", "28000, 1045", "42000, 1203", "HY000, 2013"})
  void looksUpTheOutcomeAfterAnyErrorThatMayFollowTheCommit(String state, int code) {
    source.lostState = state;
    source.lostCode = code;
    source.fates.add(Fate.ANSWER_LOST);
    assertCreated(commit(1, NOW));
    assertDirect(1);
  }

  @Test
  void looksUpNoOutcomeAfterTheSignalOfATrigger() throws SQLException {
    fixture.execute(
        "CREATE TRIGGER refuse BEFORE INSERT ON timewheel_timer FOR EACH ROW"
            + " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused by a trigger'");
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> node.commit(schedule("a", NOW)))
        .withMessageContaining("refused by a trigger")
        .returns(StoreException.Kind.UNAVAILABLE, StoreException::kind);
    assertThat(source.directWrites).isOne();
  }

  /** A server without a binary log shows commits before it has flushed them. */
  @Test
  void confirmsACommitByAnotherOne() throws SQLException {
    source.fates.add(Fate.ANSWER_LOST);
    assertCreated(commit(1, NOW));
    assertThat(fixture.number(COMMITS)).isEqualTo(2);
    source.fates.add(Fate.ANSWER_LOST);
    node.commit(new Change.Cancel(key("id-0"), 0, NOW));
    assertThat(fixture.number(COMMITS)).isEqualTo(4);
  }

  private static final String COMMITS = "SELECT count(*) FROM timewheel_commit";

  /** A handler that does not run stands for a statement that is killed after another error. */
  @Test
  void anyFailedStatementLeavesNoTransactionOpen() throws SQLException {
    List<TimerRecord> made = List.of(other.commit(schedule("a", NOW)).record());
    source.rewriting =
        sql -> sql.replace("BEGIN ROLLBACK AND NO CHAIN NO RELEASE; RESIGNAL; END", "RESIGNAL");
    try (Connection connection = source.getConnection()) {
      DirectInserts inserts = node.store.server().directInserts();
      assertThatExceptionOfType(SQLException.class)
          .isThrownBy(() -> inserts.insert(connection, made, 7, 4, to -> {}))
          .matches(inserts::isNotNew);
      assertThat(text(connection, "SELECT @@in_transaction")).isEqualTo("0");
    }
  }

  @Test
  void judgesAWriteByItsErrorAlthoughItsConnectionCannotBeAborted() throws SQLException {
    List<TimerRecord> made = List.of(other.commit(schedule("a", NOW)).record());
    source.isBroken = true;
    try (Connection connection = source.getConnection()) {
      DirectInserts inserts = node.store.server().directInserts();
      assertThatExceptionOfType(SQLException.class)
          .isThrownBy(() -> inserts.insert(connection, made, 7, 4, to -> {}))
          .matches(inserts::isNotNew)
          .satisfies(e -> assertThat(e.getSuppressed()).hasSize(2));
    }
  }

  /** The statements of a lookup read the timers, the history and the commit row. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void returnsTheCommittedOutcomeOfAnInsertThatEndsDuringALookup(int statement) {
    source.fates.add(Fate.COMMIT_DELAYED);
    int[] prepared = {0};
    source.onRollback =
        () -> {
          source.onRollback = () -> {};
          source.onPrepare =
              () -> {
                if (++prepared[0] == statement) {
                  endDelayed(true);
                }
              };
        };
    assertCreated(commit(3, NOW));
    assertThat(prepared[0]).isGreaterThanOrEqualTo(statement);
  }

  @ParameterizedTest
  @CsvSource({
    "READ-UNCOMMITTED, true",
    "READ-UNCOMMITTED, false",
    "REPEATABLE-READ, true",
    "REPEATABLE-READ, false",
    "SERIALIZABLE, true",
    "SERIALIZABLE, false"
  })
  void settlesALostAnswerWithAnyIsolation(String isolation, boolean isCommitted)
      throws SQLException {
    String settings = "tx_isolation='" + isolation + "'";
    try (HikariDataSource pool = fixture.database.with("sessionVariables", settings).pool(2)) {
      LossySource lossy = new LossySource(pool);
      lossy.liftIdleTimeout = fixture.server.liftIdleTimeout();
      Fixture.Node session = fixture.open(lossy, 4);
      lossy.fates.add(Fate.COMMIT_DELAYED);
      int[] looks = {0};
      session.onPause =
          () -> {
            if (++looks[0] == 3) {
              end(lossy.delayed, isCommitted);
            }
          };
      assertCreated(List.of(session.commit(schedule("a", NOW))));
      assertThat(looks[0]).isEqualTo(3);
      assertThat(settings(pool)).startsWith(isolation);
      session.store.close();
    }
  }

  // The commit row proves a write, even if its timers were replaced.

  @Override
  @ParameterizedTest
  @ValueSource(strings = {"ANSWER_LOST", "COMMIT_LOST"})
  void isUnknownIfTheTimerWasReplacedMeanwhile(Fate fate) {
    afterwards(fate, () -> other.commit(schedule("a", NOW + 1)));
    Outcome outcome = node.commit(schedule("a", NOW));
    if (fate == Fate.ANSWER_LOST) {
      assertThat(outcome.answer()).isEqualTo(Answer.CREATED);
      assertThat(outcome.version()).isLessThan(node.store.get(key("a")).version());
      assertThat(node.store.get(key("a")).dueAt()).isEqualTo(NOW + 1);
    } else {
      assertThat(outcome.answer()).isEqualTo(Answer.REPLACED);
      assertThat(node.store.get(key("a")).dueAt()).isEqualTo(NOW);
    }
  }

  @Override
  void doesNotMistakeTheKeptAnswerOfARequestForAVersion() {}

  @Override
  @Test
  void isUnknownIfTheTimerWasMovedMeanwhile() {
    afterwards(Fate.ANSWER_LOST, () -> other.commit(new Change.Move(key("a"), 0, NOW + 5, NOW)));
    assertThat(node.commit(schedule("a", NOW)).answer()).isEqualTo(Answer.CREATED);
    assertThat(node.store.get(key("a")).dueAt()).isEqualTo(NOW + 5);
  }

  /** See {@link #isUnknownIfTheFirstTimersOfAListWereMovedMeanwhile}. */
  @Override
  void returnsTheCommittedOutcomeOfAListWhileOneOfItsFirstTimersIsUnchanged() {}

  @Override
  @Test
  void isUnknownIfTheFirstTimersOfAListWereMovedMeanwhile() {
    afterwards(Fate.ANSWER_LOST, () -> other.store.commit(moves(8)));
    assertThat(commit(1_000, NOW)).allMatch(outcome -> outcome.answer() == Answer.CREATED);
    assertThat(node.store.get(key("id-0")).dueAt()).isEqualTo(NOW + 5);
  }

  /** The clock of the server is so far ahead that the commit row may be purged. */
  @Override
  @Test
  void isUnknownIfTheHistoryIsPurgedUpToNow() throws SQLException {
    source.fates.add(Fate.COMMIT_LOST);
    Change.Schedule plain = schedule("a", NOW);
    long longAgo = System.currentTimeMillis() - 61_000;
    assertUnknown(
        new Change.Schedule(
            plain.key(),
            plain.definition(),
            NOW,
            false,
            Change.Condition.NONE,
            0,
            false,
            null,
            TimerRecord.NEVER,
            longAgo));
  }

  @Override
  @Test
  void anInsertThatArrivesLateChangesNothing() throws SQLException {
    List<TimerRecord> made = List.of(other.commit(schedule("late", NOW)).record());
    try (Connection connection = fixture.pool.getConnection()) {
      DirectInserts inserts = node.store.server().directInserts();
      assertThatExceptionOfType(SQLException.class)
          .isThrownBy(() -> inserts.insert(connection, made, 7, 4, to -> {}))
          .matches(inserts::isNotNew);
      other.commit(new Change.Cancel(key("late"), 0, NOW));
      assertThat(inserts.insert(connection, made, 7, 4, to -> {}).inserted()).isFalse();
      assertThat(text(connection, "SELECT @@in_transaction")).isEqualTo("0");
    }
    assertThat(node.store.get(key("late")).state()).isEqualTo(TimerState.CANCELLED);
    assertThat(node.store.counts()).isEqualTo(Map.of("shop", Map.of(TimerState.CANCELLED, 1L)));
  }

  /** No handler of the statement runs when it is killed. */
  @Test
  void aKilledStatementChangesNothingAndLeavesNoTransactionOpen() throws Exception {
    try (Connection holder = fixture.pool.getConnection()) {
      execute(holder, "LOCK TABLES timewheel_commit WRITE");
      CompletableFuture<Outcome> commit =
          CompletableFuture.supplyAsync(() -> node.commit(schedule("a", NOW)));
      String waiting =
          "SELECT coalesce(max(id), 0) FROM information_schema.processlist"
              + " WHERE db = database() AND state = 'Waiting for table metadata lock'";
      long id;
      do {
        assertThat(commit).isNotDone();
        id = fixture.number(waiting);
      } while (id == 0);
      fixture.execute("KILL QUERY " + id);
      execute(holder, "UNLOCK TABLES");
      assertCreated(List.of(commit.join()));
    }
    assertThat(source.commits).isZero();
  }
}
