// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static io.timewheel.durable.jdbc.MariaDbSql.SETTINGS;
import static io.timewheel.durable.jdbc.MariaDbSql.execute;
import static io.timewheel.durable.jdbc.MariaDbSql.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.LossySource.Fate;
import io.timewheel.durable.jdbc.internal.mariadb.MariaDb;
import io.timewheel.durable.jdbc.internal.mariadb.MariaDbExpressions;
import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.server.CommitProof;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome.Answer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Runs the tests of {@link TransactionsTest} on MariaDB, as {@link MariaDbTest} describes. */
@On(Server.MARIADB)
class MariaDbTransactionsTest extends TransactionsTest {
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
