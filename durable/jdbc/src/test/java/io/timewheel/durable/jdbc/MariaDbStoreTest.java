// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.jdbc.testing.TestDatabases;
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
 * The whole contract on MariaDB, with its default isolation, for a user who may do what the guide
 * grants and nothing else, on tables that another user has made.
 */
class MariaDbStoreTest extends TimerStoreContract {
  private static final Path GUIDE = Path.of("../../docs/CLUSTER.md");
  private static final String GRANT = "GRANT SELECT, INSERT, UPDATE, DELETE ON timers.* TO app";
  private static final String USER = "restricted";
  private static final List<HikariDataSource> POOLS = new ArrayList<>();

  private HikariDataSource pool;

  /** Makes the settings of a session. */
  Database session(Database database) {
    return database;
  }

  @Override
  protected TimerStore create() {
    closePools(); // of the tests before
    DatabaseServer server = TestDatabases.mariadb();
    Database owned = server.createDatabase();
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
      String script = JdbcTimerStore.mariadbBuilder(pool).schema();
      owned.with("allowMultiQueries", true).execute(script);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return JdbcTimerStore.mariadb(pool);
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
