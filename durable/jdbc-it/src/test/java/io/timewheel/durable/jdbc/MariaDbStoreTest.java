// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.spi.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Runs the contract on MariaDB with its default isolation, on tables that another user has created.
 * The user of the test has only the privileges in the guide.
 */
@On(Server.MARIADB)
class MariaDbStoreTest extends DatabaseStoreContract {
  private static final Path GUIDE = Path.of("../../docs/operate/database.md");
  private static final String GRANT = "GRANT SELECT, INSERT, UPDATE, DELETE ON timers.* TO app";
  private static final String USER = "restricted";

  /** Applies the settings of a session. */
  Database session(Database database) {
    return database;
  }

  @Override
  Database seen(Database owned) throws SQLException, IOException {
    assertThat(Files.readString(GUIDE)).contains(GRANT);
    Database administration = TestDatabases.mariadb().administration();
    administration.execute(
        "CREATE USER IF NOT EXISTS " + USER + "@'%' IDENTIFIED BY '" + USER + "'");
    administration.execute(
        GRANT.replaceFirst("\\btimers\\b", owned.user()).replaceFirst("\\bapp\\b", USER + "@'%'"));
    // The store needs no permission to send scripts.
    String url = owned.url().replace("&allowMultiQueries=true", "");
    return session(new Database(url, USER, USER));
  }

  @Test
  void needsAnotherRoleToPrepareTheTablesForTheNextRelease() {
    JdbcTimerStoreBuilder program = JdbcTimerStore.mariadbBuilder(pool);
    program.formats = UpgradeTest.next();
    JdbcTimerStoreBuilder administrator = JdbcTimerStore.mariadbBuilder(owned.dataSource());
    administrator.formats = UpgradeTest.next();
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(program::open)
        .withMessageStartingWith("the tables are not ready for this release (`timewheel store ")
        .withMessageContaining("ALTER command denied");
    assertThat(administrator.migrate(false)).isEqualTo(6);
    opened.close();
    try (JdbcTimerStore store = program.open()) {
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> program.migrate(true))
          .withMessageContaining("denied");
      assertThat(administrator.migrate(true)).isEqualTo(7);
      assertThat(store.commit(List.of(Fixture.schedule("a", Fixture.NOW)))).hasSize(1);
    }
  }

  @Test
  void schedulesInOneStatement() {
    LossySource counted = new LossySource(pool);
    try (JdbcTimerStore store = JdbcTimerStore.mariadb(counted)) {
      counted.commits = 0;
      store.commit(List.of(Fixture.schedule("a", Fixture.NOW)));
      assertThat(counted.directWrites).isOne();
      assertThat(counted.commits).isZero();
    }
  }

  @Test
  void mayChangeNoTable() throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      for (String sql : List.of("CREATE TABLE mine (a int)", "DROP TABLE timewheel_count")) {
        assertThatExceptionOfType(SQLException.class)
            .isThrownBy(() -> statement.execute(sql))
            .returns("42000", SQLException::getSQLState);
      }
    }
  }
}
