// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.JdbcTimerStoreBuilder;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.sql.DataSource;

/** A kind of database that a cluster shares. */
enum DatabaseKind {
  POSTGRESQL {
    @Override
    DatabaseServer server() {
      return DatabaseServer.postgresql();
    }

    @Override
    JdbcTimerStoreBuilder builder(DataSource source) {
      return JdbcTimerStore.postgresqlBuilder(source);
    }

    @Override
    Database givingUpAfter(int seconds, Database database) {
      return database.with("socketTimeout", seconds).with("connectTimeout", seconds);
    }

    @Override
    void endSomeConnections(Connection connection) throws SQLException {
      try (Statement statement = connection.createStatement()) {
        statement.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname ="
                + " current_database() AND pid <> pg_backend_pid() AND random() < 0.5");
      }
    }
  },

  MARIADB {
    private static final int NO_SUCH_CONNECTION = 1094;

    @Override
    DatabaseServer server() {
      return DatabaseServer.mariadb();
    }

    @Override
    JdbcTimerStoreBuilder builder(DataSource source) {
      return JdbcTimerStore.mariadbBuilder(source);
    }

    @Override
    Database givingUpAfter(int seconds, Database database) {
      return database
          .with("socketTimeout", 1_000 * seconds)
          .with("connectTimeout", 1_000 * seconds);
    }

    @Override
    void endSomeConnections(Connection connection) throws SQLException {
      try (Statement statement = connection.createStatement()) {
        List<Long> some = new ArrayList<>();
        try (ResultSet rows =
            statement.executeQuery(
                "SELECT id FROM information_schema.processlist WHERE db = database()"
                    + " AND id <> connection_id() AND rand() < 0.5")) {
          while (rows.next()) {
            some.add(rows.getLong(1));
          }
        }
        for (long number : some) {
          end(statement, number);
        }
      }
    }

    private static void end(Statement statement, long number) throws SQLException {
      try {
        statement.execute("KILL CONNECTION " + number);
      } catch (SQLException e) {
        if (e.getErrorCode() != NO_SUCH_CONNECTION) {
          throw e;
        }
      }
    }
  };

  /** {@return the kind of a database} */
  static DatabaseKind of(Database database) {
    return named(database.url().split(":", 3)[1]);
  }

  /** {@return the kind that has a name, as a user writes it} */
  static DatabaseKind named(String name) {
    return valueOf(name.toUpperCase(Locale.ROOT));
  }

  /** {@return a server, not started yet} */
  abstract DatabaseServer server();

  abstract JdbcTimerStoreBuilder builder(DataSource source);

  /**
   * {@return the same database, for a driver that closes a connection after so many silent seconds}
   */
  abstract Database givingUpAfter(int seconds, Database database);

  /** Closes about half of the connections to the database, on the side of the server. */
  abstract void endSomeConnections(Connection connection) throws SQLException;
}
