// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.jdbc.LossySource.Fate;
import io.timewheel.durable.jdbc.internal.mariadb.MariaDb;
import io.timewheel.durable.jdbc.internal.mariadb.MariaDbExpressions;
import io.timewheel.durable.jdbc.internal.mariadb.MariaDbHistory;
import io.timewheel.durable.jdbc.internal.mariadb.MariaDbQueries;
import io.timewheel.durable.jdbc.internal.mariadb.MariaDbRecords;
import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.server.CommitProof;
import io.timewheel.durable.jdbc.internal.server.DirectInserts;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.jdbc.internal.write.Novelty;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.FinishingHandler;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.Outcome.Answer;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerDefinition;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.testing.Await;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs the tests for PostgreSQL on MariaDB, except where the two differ. A test that is overridden
 * without {@code @Test} does not apply to MariaDB.
 */
@SuppressWarnings("ClassCanBeStatic") // JUnit requires nested classes that are not static
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

  /** {@return the access type of each table of a statement} */
  private static List<String> explain(Fixture fixture, String sql, String... values)
      throws SQLException {
    String text = sql;
    for (String value : values) {
      text = text.replaceFirst("\\?", value);
    }
    try (Connection connection = fixture.pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("EXPLAIN " + text)) {
      List<String> plan = new ArrayList<>();
      while (rows.next()) {
        plan.add(rows.getString("type") + " " + rows.getString("Extra"));
      }
      return plan;
    }
  }

  /** {@return the number of lock waits so far} */
  private static long waits(Fixture fixture) throws SQLException {
    return fixture.number(
        "SELECT variable_value FROM information_schema.global_status"
            + " WHERE variable_name = 'INNODB_ROW_LOCK_WAITS'");
  }

  private static List<Change> schedules(String prefix, int size) {
    List<Change> changes = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      changes.add(schedule(prefix + i, NOW));
    }
    return changes;
  }

  private static final String SETTINGS =
      "SELECT concat_ws(' ', @@tx_isolation, @@innodb_lock_wait_timeout,"
          + " @@idle_transaction_timeout, @@idle_write_transaction_timeout,"
          + " @@idle_readonly_transaction_timeout)";

  @Nested
  class Tables extends SchemaTest {
    /** All text is UTF-8, with any encoding of the database. */
    @Override
    void refusesAnEncodingThatCannotHoldAllNames() {}

    @Test
    void completesTablesWhoseCreationWasInterrupted() throws SQLException {
      String script = fixture.builder(fixture.pool).migration(false);
      fixture.execute(script.substring(0, script.indexOf("START TRANSACTION;\nINSERT")));
      assertThat(fixture.open().store.traits().shards()).isEqualTo(4);
      assertThat(fixture.number("SELECT count(*) FROM timewheel_history")).isOne();
    }

    @Test
    void refusesAServerWithASmallPacketLimit() throws SQLException {
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
  class Groups extends WriteBatchTest {
    /** A write batch does not wait for locks, so this test cannot observe their order. */
    @Override
    void locksInTheOrderOfTheKeys() {}

    @Override
    @Test
    void findsTimersByTheirKeysForAnyTableContent() throws SQLException {
      String lock = MariaDbRecords.lock(List.of(key("a"), key("b"), new TimerKey("zoo", "c")));
      assertThat(explain(fixture, lock, "'shop'", "'a'", "'b'", "'zoo'", "'c'"))
          .hasSize(1)
          .allMatch(table -> table.startsWith("range ") && !table.contains("filesort"));
    }

    @Override
    @Test
    void beginsNoAttemptDuringAnUncommittedPause() throws SQLException {
      node.commit(schedule("a", NOW));
      try (Connection pauser = fixture.transaction()) {
        MariaDb.parts(Formats.ofThisRelease()).queries().lockPauses(pauser);
        execute(pauser, "INSERT INTO timewheel_pause VALUES ('shop', 1)");
        assertThatExceptionOfType(StoreException.class)
            .isThrownBy(() -> node.commit(node.begin("a")))
            .returns(StoreException.Kind.TRANSIENT, StoreException::kind);
        pauser.commit();
      }
      assertThat(node.commit(node.begin("a")).answer()).isEqualTo(Answer.HELD);
    }

    @Override
    @Test
    void writesTimersByTheirKeysForAnyTableContent() throws SQLException {
      node.store.commit(List.of(schedule("a", NOW), schedule("b", NOW), schedule("c", NOW)));
      List<Change> begins = List.of(node.begin("a"), node.begin("c"));
      try (Connection other = fixture.transaction()) {
        execute(
            other,
            "SELECT 1 FROM timewheel_timer WHERE namespace = 'shop' AND id = 'b' FOR UPDATE");
        long before = waits(fixture);
        assertThat(node.store.commit(begins)).allMatch(done -> done.answer() == Answer.APPLIED);
        assertThat(waits(fixture)).isEqualTo(before);
      }
      List<Change> ends =
          begins.stream().<Change>map(begin -> Fixture.success((Change.Begin) begin)).toList();
      assertThat(node.store.commit(ends)).allMatch(done -> done.answer() == Answer.APPLIED);
      assertThat(fixture.number("SELECT count(*) FROM timewheel_timer")).isOne();
      assertThat(fixture.number("SELECT count(*) FROM timewheel_done")).isEqualTo(2);
    }

    @Override
    @Test
    void sweepsByTheDueIndexForAnyTableContent() throws SQLException {
      assertSweepsByTheDueIndex();
      fill(5_000);
      assertSweepsByTheDueIndex();
      fixture.execute("UPDATE timewheel_timer SET fire_at = NULL WHERE id > 'id-2'");
      assertSweepsByTheDueIndex();
      fixture.execute("ANALYZE TABLE timewheel_timer PERSISTENT FOR ALL");
      assertSweepsByTheDueIndex();
    }

    private void assertSweepsByTheDueIndex() throws SQLException {
      String now = Long.toString(NOW);
      String until = now + " + 1000";
      assertThat(explain(fixture, MariaDbQueries.DUE_IN_ONE, "1", now, until, "100"))
          .hasSize(1)
          .allMatch(table -> table.startsWith("range ") && !table.contains("filesort"));
      assertThat(explain(fixture, MariaDbQueries.DUE, "1", now, until, now, "'shop'", "'a'", "100"))
          .hasSize(1)
          .allMatch(table -> table.startsWith("range ") && !table.contains("filesort"));
    }

    /** The bytes of any name can be stored. */
    @Override
    void refusesTextsThatCannotBeStored() {}

    @Test
    void distinguishesNamesByTheirBytes() {
      for (String id : List.of("a", "A", "a ", "\u00e4", "a\u0308")) {
        assertThat(node.commit(schedule(id, NOW)).answer()).isEqualTo(Answer.CREATED);
      }
    }

    @Test
    void splitsLargeTimersIntoSeveralStatements() {
      byte[] payload = new byte[64 * 1024];
      payload[0] = '\'';
      List<Change> changes =
          IntStream.range(0, 100)
              .<Change>mapToObj(i -> schedule("id-" + i, NOW, payload, false))
              .toList();
      assertThat(node.store.commit(changes)).allMatch(done -> done.answer() == Answer.CREATED);
      assertThat(node.store.get(key("id-99")).definition().payload()).isEqualTo(payload);
    }

    /** MariaDB's maximum is 1 GB; operators may set the documented minimum. */
    @Test
    void splitsLargeBatchesForTheSmallestPacketLimit() throws SQLException {
      Database administration = TestDatabases.mariadb().administration();
      long usual = administration.number("SELECT @@global.max_allowed_packet");
      administration.execute("SET GLOBAL max_allowed_packet = 4194304");
      try (HikariDataSource pool = fixture.database.pool(2)) {
        Fixture.Node small = fixture.open(pool, 4);
        List<Change> changes = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
          changes.add(large("id-" + i));
        }
        assertThat(small.store.commit(changes))
            .extracting(Outcome::answer)
            .containsOnly(Answer.CREATED);
        assertThat(
                small.store.commit(
                    changes.stream()
                        .<Change>map(change -> new Change.Cancel(change.key(), 0, NOW))
                        .toList()))
            .extracting(Outcome::answer)
            .containsOnly(Answer.CANCELLED);
        assertThat(fixture.number("SELECT count(*) FROM timewheel_done")).isEqualTo(100);
        small.store.close();
      } finally {
        administration.execute("SET GLOBAL max_allowed_packet = " + usual);
      }
    }

    /** {@return a new timer with a payload and a header of about 64 KiB each} */
    private static Change large(String id) {
      Change.Schedule plain = schedule(id, NOW);
      TimerDefinition definition = plain.definition();
      return new Change.Schedule(
          plain.key(),
          new TimerDefinition(
              "",
              definition.handler(),
              false,
              new byte[64 * 1024],
              Map.of("header", "h".repeat(60_000)),
              definition.retry(),
              definition.missed(),
              0),
          NOW,
          false,
          Change.Condition.NONE,
          0,
          false,
          null,
          TimerRecord.NEVER,
          NOW);
    }

    @Test
    void restoresTheSettingsOfAConnection() throws SQLException {
      try (HikariDataSource single = fixture.database.pool(1)) {
        Fixture.Node user = fixture.open(single, 4);
        try (Connection connection = single.getConnection()) {
          execute(connection, SET);
        }
        user.commit(schedule("a", NOW));
        user.commit(schedule("a", NOW + 1));
        assertSettingsAreAsSet(single);
        fixture.execute("ALTER TABLE timewheel_count RENAME TO elsewhere");
        assertThatExceptionOfType(StoreException.class)
            .isThrownBy(() -> user.commit(schedule("b", NOW)));
        assertSettingsAreAsSet(single);
        user.store.close();
      }
    }

    private static final String SET =
        "SET SESSION tx_isolation = 'REPEATABLE-READ', innodb_lock_wait_timeout = 33,"
            + " idle_transaction_timeout = 77, idle_write_transaction_timeout = 88,"
            + " idle_readonly_transaction_timeout = 99";

    private void assertSettingsAreAsSet(HikariDataSource single) throws SQLException {
      try (Connection connection = single.getConnection()) {
        assertThat(text(connection, SETTINGS)).isEqualTo("REPEATABLE-READ 33 77 88 99");
      }
    }

    /** The session's limits for reads and writes take precedence over the general one. */
    @Test
    void mayStallForTwoSecondsWithAnyTimeoutOfTheUser() throws SQLException {
      try (Connection connection = fixture.database.connect()) {
        execute(connection, SET);
        MariaDb.parts(Formats.ofThisRelease()).transactions().begin(connection);
        assertThat(text(connection, SETTINGS)).isEqualTo("READ-COMMITTED 1 2 0 0");
      }
    }
  }

  @Nested
  class Expected extends ExpectedTest {
    @Override
    String waiting() {
      return "SELECT variable_value FROM information_schema.global_status"
          + " WHERE variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS'";
    }

    /** Statements that PostgreSQL receives together are sent one by one. */
    @Override
    void theExpectedCaseCostsAtMostTwoRoundTripsAndACommit() {}

    @Override
    void theLastEndOfASingleTimerIsOneStatement() {}

    /** A write batch does not wait for the lock of the epoch. */
    @Override
    void anEndThatWaitsForATakeOverIsStale() {}

    @Override
    @Test
    void aLongListIsAssumedNewUnlessOneWasNotWithinAMinute() {
      List<String> daring = new ArrayList<>();
      onPrepare =
          sql -> {
            if (sql.startsWith("INSERT INTO timewheel_timer ")
                && !sql.contains("ON DUPLICATE KEY")) {
              daring.add(sql);
            }
          };
      node.store.commit(schedules("a", Novelty.LEAST_TIMERS));
      assertThat(daring).hasSize(1);
      assertThat(node.store.commit(schedules("a", Novelty.LEAST_TIMERS + 1)))
          .extracting(Outcome::answer)
          .containsOnly(Answer.UNCHANGED, Answer.CREATED);
      assertThat(daring).hasSize(2);
      node.clock.advanceMillis(59_999);
      node.store.commit(schedules("b", Novelty.LEAST_TIMERS));
      assertThat(daring).hasSize(2);
      node.clock.advanceMillis(1);
      List<Change> repeated = schedules("c", Novelty.LEAST_TIMERS);
      repeated.addAll(schedules("c", 1));
      node.store.commit(repeated);
      assertThat(daring).as("a repeated key").hasSize(2);
      List<Change> other = schedules("d", Novelty.LEAST_TIMERS);
      other.add(new Change.Cancel(key("none"), 0, NOW));
      node.store.commit(other);
      assertThat(daring).as("another change").hasSize(2);
      node.store.commit(schedules("e", Novelty.LEAST_TIMERS));
      assertThat(daring).hasSize(3);
    }

    @Test
    void readsNoExpectedRecordUnlessThereAreMany() {
      List<String> reads = new ArrayList<>();
      onPrepare =
          sql -> {
            if (sql.contains("FROM timewheel_timer t FORCE INDEX (PRIMARY)")) {
              reads.add(sql);
            }
          };
      node.commit(schedule("a", NOW));
      assertThat(reads).isEmpty();
      Change.Begin begin = node.begin("a");
      Outcome claimed = node.commit(begin);
      assertThat(reads).singleElement().asString().contains("SKIP LOCKED");
      reads.clear();
      node.commit(successOf(begin, claimed));
      assertThat(reads).isEmpty();
      node.store.commit(List.of(schedule("b", NOW), schedule("c", NOW)));
      assertThat(reads).isEmpty();
      node.store.commit(
          List.of(
              new Change.Move(key("b"), 0, NOW + 1, NOW),
              new Change.Move(key("c"), 0, NOW + 1, NOW)));
      assertThat(reads).singleElement().asString().endsWith("FOR UPDATE");
    }
  }

  @Nested
  class Direct extends DirectWritesTest {
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
    void writesDirectlyWithAnyIsolationAndRestoresTheSettings(String isolation)
        throws SQLException {
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

  @Nested
  class Commits extends TransactionsTest {
    private int rollbacks;

    @Override
    @Test
    void reportsTheErrorOfTheDatabase() throws SQLException {
      fixture.execute("ALTER TABLE timewheel_timer RENAME TO elsewhere");
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> node.commit(schedule("a", NOW)))
          .withMessageContaining("timewheel_timer' doesn't exist")
          .returns(StoreException.Kind.UNAVAILABLE, StoreException::kind);
    }

    @Test
    void returnsNoConnectionWithItsSettingsToThePool() throws SQLException {
      try (HikariDataSource single = fixture.database.pool(1)) {
        LossySource lossy = new LossySource(single);
        Fixture.Node user = fixture.open(lossy, 4);
        user.commit(schedule("a", NOW));
        lossy.commits = 0;
        lossy.failsAfterCommit = true;
        assertThat(user.commit(schedule("a", NOW + 1)).answer()).isEqualTo(Answer.REPLACED);
        lossy.failsAfterCommit = false;
        try (Connection connection = single.getConnection()) {
          assertThat(text(connection, SETTINGS)).doesNotContain(" 1 2 ");
        }
        user.store.close();
      }
    }

    @Test
    void reportsUnknownForCommitsThatMayHaveBeenPurged() throws SQLException {
      CommitProof commits = MariaDb.parts(Formats.ofThisRelease()).commits();
      try (Connection connection = fixture.transaction()) {
        long now = Sql.number(connection, "SELECT " + MariaDbExpressions.NOW);
        assertThat(commits.isCommitted(connection, now + "/1")).isFalse();
        assertThat(commits.isCommitted(connection, now - 61_000 + "/1")).isNull();
      }
    }

    /** A query for a missing row locks the gap where the row would be. */
    @Test
    void blocksNoTransactionDuringALookup() {
      source.fates.add(Fate.COMMIT_LOST);
      source.onRollback = this::commitElsewhere;
      Change none = new Change.Cancel(key("none"), 0, NOW);
      assertThat(node.store.commit(List.of(schedule("a", NOW), none)).get(0).answer())
          .isEqualTo(Answer.CREATED);
      assertThat(rollbacks).isEqualTo(2);
    }

    private void commitElsewhere() {
      rollbacks++;
      try (Connection other = fixture.transaction()) {
        execute(other, "SET SESSION innodb_lock_wait_timeout = 0");
        execute(
            other,
            "INSERT INTO timewheel_commit (made_at, id) VALUES ("
                + MariaDbExpressions.NOW
                + " + 1000, 1)");
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Nested
  class HandlersOfNodes extends HandlersOfNodesTest {}

  @Nested
  class HandlersReady extends HandlerClaimsTest {
    @Override
    void analyze() throws SQLException {
      fixture.execute("ANALYZE TABLE timewheel_timer PERSISTENT FOR ALL");
      fixture.execute("ANALYZE TABLE timewheel_handler_ready PERSISTENT FOR ALL");
    }

    @Override
    void assertPlans() throws SQLException {
      List<String> plan = explain(fixture, MariaDbQueries.TAKE_HANDLER_READY, "'h'", "7", "1");
      assertThat(plan).noneMatch(table -> table.matches(".*(filesort|temporary).*"));
      assertThat(plan.get(0)).startsWith("ref ");
      assertThat(plan.get(1)).startsWith("eq_ref ");
      assertThat(explain(fixture, MariaDbQueries.READY_HANDLERS, "''", "10"))
          .singleElement()
          .satisfies(table -> assertThat(table).startsWith("range ").doesNotContain("filesort"));
    }
  }

  @Nested
  class Queue extends QueueTest {
    @Override
    void analyze() throws SQLException {
      fixture.execute("ANALYZE TABLE timewheel_timer PERSISTENT FOR ALL");
      fixture.execute("ANALYZE TABLE timewheel_ready PERSISTENT FOR ALL");
    }

    @Override
    void assertClaimsInTheOrderOfTheIndex() throws SQLException {
      List<String> plan =
          explain(fixture, MariaDbQueries.TAKE_READY, "'shop'", "'orders'", "7", "1");
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

  @Nested
  class Past extends HistoryTest {
    @Override
    long rows(int part) throws SQLException {
      return fixture.number("SELECT count(*) FROM timewheel_done");
    }

    @Override
    @Test
    void purgesWithoutDeletingRows() throws SQLException {
      finish("a", NOW);
      finish("b", NOW + 10);
      assertThat(node.store.purge(NOW + 5, 10, 10)).isEqualTo(1);
      assertThat(node.store.get(key("a"))).isNull();
      assertThat(node.store.get(key("b"))).isNotNull();
      assertThat(rows(0)).as("deleted").isOne();
    }

    private static final String OLD_COMMITS =
        "SELECT count(*) FROM timewheel_commit WHERE made_at < "
            + MariaDbExpressions.NOW
            + " - 120000";

    @Test
    void deletesCommitsThatAreNoLongerNeeded() throws SQLException {
      fixture.execute("UPDATE timewheel_commit SET made_at = made_at - 120001");
      node.commit(schedule("a", NOW));
      node.store.purge(NOW, 10, 10);
      assertThat(fixture.number(OLD_COMMITS)).isZero();
      assertThat(fixture.number("SELECT count(*) FROM timewheel_commit")).isPositive();
    }

    @Test
    void deletesCommitsFasterThanTheyAreInserted() throws SQLException {
      fixture.execute(
          "INSERT INTO timewheel_commit (made_at, id) SELECT 1, seq FROM seq_1_to_4000");
      for (int i = 0; i < 500; i++) {
        node.commit(schedule("a", NOW + i));
      }
      assertThat(fixture.number(OLD_COMMITS)).isZero();
    }

    @Test
    void waitsForNoRowThatIsBeingInserted() throws SQLException {
      finish("a", NOW);
      finish("b", NOW + 10);
      try (Connection holder = fixture.transaction()) {
        execute(holder, "INSERT INTO timewheel_count (namespace, state, delta) VALUES ('x', 1, 1)");
        execute(
            holder,
            "INSERT INTO timewheel_done SELECT version, due_at, created_at, changed_at - 1,"
                + " revision, attempt, state, flags, namespace, 'c', handler, spec, progress,"
                + " payload_hash FROM timewheel_done WHERE id = 'a'");
        assertThat(node.store.purge(NOW + 5, 10, 10)).isEqualTo(1);
        assertThat(fixture.number("SELECT count(*) FROM timewheel_count")).as("sums").isEqualTo(2);
        holder.commit();
      }
      assertThat(node.store.purge(NOW + 5, 10, 10)).as("before the purged position").isZero();
      assertThat(node.store.get(key("c"))).isNull();
      finish("d", NOW + 7);
      assertThat(node.store.purge(NOW + 8, 10, 10)).isEqualTo(1);
      assertThat(rows(0)).as("the next purge").isOne();
    }

    @Test
    void findsPurgedTimersByTheirFinishTime() throws SQLException {
      assertThat(explain(fixture, MariaDbHistory.PURGED, "9", "9", "'shop'", "'a'"))
          .hasSize(1)
          .allMatch(table -> table.startsWith("range ") && !table.contains("filesort"));
    }

    @Test
    void compactsTheCountersOfManyNamespaces() throws SQLException {
      fixture.execute(
          "INSERT INTO timewheel_count (namespace, state, delta)"
              + " SELECT mod(seq, 1000), 1, 1 FROM seq_1_to_50000");
      node.store.purge(NOW, 10, 10);
      assertThat(fixture.number("SELECT count(*) FROM timewheel_count")).isLessThan(20_000);
      assertThat(fixture.number("SELECT sum(delta) FROM timewheel_count")).isEqualTo(50_000);
    }

    @Test
    void compactsCountersBehindManyDifferentOnes() throws SQLException {
      fixture.execute(
          "INSERT INTO timewheel_count (namespace, state, delta)"
              + " SELECT seq, 1, 1 FROM seq_1_to_20000");
      fixture.execute(
          "INSERT INTO timewheel_count (namespace, state, delta)"
              + " SELECT 'x', 1, 1 FROM seq_1_to_1000");
      for (int pass = 0; pass < 3; pass++) {
        node.store.purge(NOW, 10, 10);
      }
      assertThat(fixture.number("SELECT count(*) FROM timewheel_count")).isEqualTo(20_001);
      assertThat(fixture.number("SELECT sum(delta) FROM timewheel_count")).isEqualTo(21_000);
    }

    /** On MariaDB, the history has only one part. */
    @Override
    void emptiesAPartWithoutRetainedTimers() {}

    @Override
    void doesNotSwitchToAPartThatIsNotEmpty() {}
  }

  @Nested
  class Verify extends VerifyTest {}

  @Nested
  class Copy extends CopyTest {}

  @Nested
  class UserTransactionFuzz extends UserTransactionFuzzTest {}

  @Nested
  class Leases extends OwnershipTest {}

  @Nested
  class Nodes extends MembershipTest {}

  @Nested
  class Figures extends JdbcFiguresTest {
    /** MariaDB has no notifications. */
    @Override
    void countsNotifications() {}
  }

  @Nested
  class Upgrades extends UpgradeTest {
    @Override
    String waiting() {
      return "SELECT count(*) FROM information_schema.processlist"
          + " WHERE db = database() AND state = 'Waiting for table metadata lock'";
    }
  }

  @Nested
  class Pages extends PageTest {
    @Override
    String releasePlan() {
      return "timewheel_timer_due range (?!.*filesort).*\n";
    }

    @Override
    String copies(int count) {
      return COPY.formatted("concat('id-', 10000 + seq)", "seq_1_to_" + count);
    }

    @Override
    String analyze() {
      return "ANALYZE TABLE timewheel_timer";
    }

    @Override
    String planRow(ResultSet row) throws SQLException {
      return String.join(
          " ",
          row.getString("key"),
          row.getString("type"),
          row.getString("key_len"),
          row.getString("Extra"));
    }
  }

  @Nested
  class Bounds extends DueBoundsTest {}

  @Nested
  class Pauses extends ClusterPausesTest {}

  @Nested
  class TwoNodes extends TwoTimersTest {}

  @Nested
  class RepeatedRequests extends RepeatedRequestsTest {}

  @Nested
  class Held extends HeldTimersTest {
    /** The shortest lock timeout is 1 s. */
    @Test
    void noWriteBatchWaitsForALock() throws SQLException {
      cancelHeld();
      scheduleHeld("new");
      long before = waits(fixture);
      assertHeld(List.of("held"), cancel("a"), cancel("held"));
      assertHeld(List.of("held"), cancel("held"));
      assertHeld(List.of("new"), schedule("new", NOW));
      assertThat(node.commit(node.begin("held")).answer()).isEqualTo(Answer.OUTDATED);
      assertThat(waits(fixture)).isEqualTo(before);
    }
  }

  @Nested
  class InTransactions extends TransactionTimerTest {
    /** A transaction stays usable after a failed statement. */
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

    /** On MariaDB, the store changes no settings. */
    @Override
    void restoresTheSettingsOfTheTransaction() {}

    @Override
    @Test
    void reportsTheLossOfTheTransactionWhenTheDatabaseFails() throws SQLException {
      node.commit(schedule("a", NOW));
      try (Connection holder = fixture.transaction()) {
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
      assertThat(state("0")).as("after the user commits nevertheless").isNull();
      assertThat(node.store.counts().get("shop")).hasSize(1).containsValue(1L);
    }

    @Override
    void loseB() throws SQLException {
      fixture.execute(
          "CREATE TRIGGER lose BEFORE INSERT ON timewheel_timer FOR EACH ROW"
              + " SET NEW.id = IF(NEW.id = 'b', 'elsewhere', NEW.id)");
    }

    /** MariaDB has no notifications. */
    @Override
    void notifiesOfNearTimersWhenItCommits() {}
  }

  @Nested
  class ExactlyOnce extends TransactionHandlerTest {
    @Override
    @Test
    void rollsBackWhenAStatementOfTheHandlerFails() {
      TimerInfo info = fire((firing, connection) -> execute(connection, "SELECT 1 FROM nowhere"));
      assertThat(ledger.effects()).containsExactly("a 2");
      assertThat(info.attempts().get(0).error()).contains("nowhere");
    }

    /** A transaction stays usable after a failed statement, but not after a deadlock. */
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
    void theServerLimitsTheIdleTimeOfAHandler() throws SQLException {
      fire(
          (firing, connection) ->
              assertThat(text(connection, "SELECT @@idle_transaction_timeout")).isEqualTo("10"));
      assertThat(ledger.effects()).containsExactly("a 1");
    }
  }

  @Nested
  class ExactlyOnceByARunner extends ExactlyOnce {
    @Override
    FinishingHandler finishing(TransactionTimers timers, TransactionHandler handler) {
      return timers.handler(handler, TransactionRunnerTest.runner(ledger.source));
    }

    /** On MariaDB, the user can change this setting. */
    @Override
    void theServerLimitsTheIdleTimeOfAHandler() {}

    @Test
    void settingsOfTheSessionAreTheUsers() throws SQLException {
      String usual;
      try (Connection connection = ledger.pool.getConnection()) {
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        usual = text(connection, SETTINGS);
      }
      List<String> seen = new CopyOnWriteArrayList<>();
      fire((firing, connection) -> seen.add(text(connection, SETTINGS)));
      assertThat(seen).containsExactly(usual);
    }

    @Test
    void refusesATransactionThatKeepsASnapshot() {
      assertThatIllegalStateException()
          .isThrownBy(
              () ->
                  ledger.timers.handler(
                      (firing, connection) -> {},
                      work -> {
                        try (Connection connection = ledger.pool.getConnection()) {
                          connection.setAutoCommit(false);
                          work.handle(connection);
                        }
                      }))
          .withMessageContaining("READ COMMITTED");
    }
  }

  @Nested
  class Batches extends BatchingHandlerTest {}

  @Nested
  @Timeout(300)
  class Outages extends OutageTest {
    @Override
    String readOnlyReason() {
      return "read-only";
    }

    @Override
    String readOnlySession() {
      return "SET SESSION TRANSACTION READ ONLY";
    }

    @Override
    void setReadOnly(boolean readOnly) throws SQLException {
      server.administration().execute("SET GLOBAL read_only = " + readOnly);
    }
  }
}
