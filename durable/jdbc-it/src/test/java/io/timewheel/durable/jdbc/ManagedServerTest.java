// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.LossySource.Fate;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.spi.record.Outcome.Answer;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

/** Tests a managed server that does not return the position of its log. */
class ManagedServerTest {
  private static final String USER = "user_of_managed_server";

  private static Database managed() throws SQLException {
    Database admin = TestDatabases.postgresql().administration();
    String url = TestDatabases.postgresql().createDatabase().url();
    Database database = new Database(url, admin.user(), admin.password());
    database.execute("CREATE ROLE " + USER + " LOGIN");
    database.execute("GRANT CREATE ON SCHEMA public TO " + USER);
    for (String function : new String[] {"pg_current_wal_insert_lsn", "pg_last_wal_replay_lsn"}) {
      database.execute("REVOKE EXECUTE ON FUNCTION " + function + "() FROM PUBLIC");
    }
    return new Database(url, USER, "");
  }

  @Test
  void keepsTimersWithoutTheLogPosition() throws SQLException {
    try (HikariDataSource pool = managed().pool(6)) {
      LossySource source = new LossySource(pool);
      Fixture.Node node = new Fixture.Node(JdbcTimerStore.postgresqlBuilder(source).shards(4));
      node.store.start(node);
      assertThat(node.epochs).hasSize(4);
      node.ownership().renew();
      assertThat(node.epochs).hasSize(4);

      source.commits = 0;
      source.fates.add(Fate.ANSWER_LOST);
      assertThat(node.commit(TransactionsTest.keyed("a")).answer()).isEqualTo(Answer.CREATED);
      assertThat(source.commits).isEqualTo(1);
      source.fates.add(Fate.COMMIT_LOST);
      assertThat(node.commit(TransactionsTest.keyed("b")).answer()).isEqualTo(Answer.CREATED);
      assertThat(source.commits).isEqualTo(3);
      node.store.close();
    }
  }
}
