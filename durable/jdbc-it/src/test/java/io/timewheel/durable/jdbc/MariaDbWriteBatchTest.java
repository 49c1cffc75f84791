// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static io.timewheel.durable.jdbc.MariaDbSql.SETTINGS;
import static io.timewheel.durable.jdbc.MariaDbSql.execute;
import static io.timewheel.durable.jdbc.MariaDbSql.explain;
import static io.timewheel.durable.jdbc.MariaDbSql.text;
import static io.timewheel.durable.jdbc.MariaDbSql.waits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.internal.mariadb.MariaDb;
import io.timewheel.durable.jdbc.internal.mariadb.MariaDbQueries;
import io.timewheel.durable.jdbc.internal.mariadb.MariaDbRecords;
import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Runs the tests of {@link WriteBatchTest} on MariaDB, as {@link MariaDbTest} describes. */
@On(Server.MARIADB)
class MariaDbWriteBatchTest extends WriteBatchTest {
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
          other, "SELECT 1 FROM timewheel_timer WHERE namespace = 'shop' AND id = 'b' FOR UPDATE");
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
