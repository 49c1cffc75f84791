// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.TimerStoreContract;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/**
 * Runs the contract on MariaDB with its default isolation, on tables that another user has created.
 * The user of the test has only the privileges in the guide.
 */
class MariaDbStoreTest extends TimerStoreContract {
  private static final Path GUIDE = Path.of("../../docs/operate/database.md");
  private static final String GRANT = "GRANT SELECT, INSERT, UPDATE, DELETE ON timers.* TO app";
  private static final String USER = "restricted";
  private static final List<HikariDataSource> POOLS = new ArrayList<>();

  private Database owned;
  private HikariDataSource pool;
  private TimerStore opened;

  /** Applies the settings of a session. */
  Database session(Database database) {
    return database;
  }

  @Override
  protected TimerStore create() {
    closePools(); // of earlier tests
    DatabaseServer server = TestDatabases.mariadb();
    owned = server.createDatabase();
    try {
      assertThat(Files.readString(GUIDE)).contains(GRANT);
      Database administration = server.administration();
      administration.execute(
          "CREATE USER IF NOT EXISTS " + USER + "@'%' IDENTIFIED BY '" + USER + "'");
      administration.execute(
          GRANT
              .replaceFirst("\\btimers\\b", owned.user())
              .replaceFirst("\\bapp\\b", USER + "@'%'"));
      pool = session(new Database(owned.url(), USER, USER)).pool(6);
      pool.setMinimumIdle(1);
      POOLS.add(pool);
      String script = JdbcTimerStore.mariadbBuilder(pool).migration(false);
      owned.with("allowMultiQueries", true).execute(script);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    opened = JdbcTimerStore.mariadb(pool);
    return opened;
  }

  @Override
  protected TimerStore reopen(TimerStore closed) {
    return JdbcTimerStore.mariadb(pool);
  }

  @AfterAll
  static void closePools() {
    POOLS.forEach(HikariDataSource::close);
    POOLS.clear();
  }

  @Test
  void needsAnotherRoleToPrepareTheTablesForTheNextRelease() {
    JdbcTimerStore.Builder program = JdbcTimerStore.mariadbBuilder(pool);
    program.formats = UpgradeTest.next();
    JdbcTimerStore.Builder administrator = JdbcTimerStore.mariadbBuilder(owned.dataSource());
    administrator.formats = UpgradeTest.next();
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(program::open)
        .withMessageStartingWith("the tables are not ready for this release (`timewheel store ")
        .withMessageContaining("ALTER command denied");
    assertThat(administrator.migrate(false)).isEqualTo(5);
    opened.close();
    try (JdbcTimerStore store = program.open()) {
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> program.migrate(true))
          .withMessageContaining("denied");
      assertThat(administrator.migrate(true)).isEqualTo(6);
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
