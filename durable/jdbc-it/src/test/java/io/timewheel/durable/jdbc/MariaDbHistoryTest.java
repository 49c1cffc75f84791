// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static io.timewheel.durable.jdbc.MariaDbSql.execute;
import static io.timewheel.durable.jdbc.MariaDbSql.explain;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.internal.mariadb.MariaDbExpressions;
import io.timewheel.durable.jdbc.internal.mariadb.MariaDbHistory;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** Runs the tests of {@link HistoryTest} on MariaDB, as {@link MariaDbTest} describes. */
@On(Server.MARIADB)
class MariaDbHistoryTest extends HistoryTest {
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
    fixture.execute("INSERT INTO timewheel_commit (made_at, id) SELECT 1, seq FROM seq_1_to_4000");
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
