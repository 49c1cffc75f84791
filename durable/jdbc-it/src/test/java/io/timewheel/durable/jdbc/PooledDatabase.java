// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Creates empty databases behind a pooler in transaction mode, set up as in the guide. */
final class PooledDatabase {
  private static Database former;

  private PooledDatabase() {}

  /**
   * Creates a database, because a pooled connection has no parameters and so no schema of its own.
   */
  static synchronized Database create() {
    int port = TestDatabases.pooler().port();
    DatabaseServer server = TestDatabases.postgresql();
    try {
      closeIdle(server);
      former = server.createDatabase();
      Database pooled = former.through(port).with("prepareThreshold", 0);
      openTwo(pooled);
      return pooled;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Closes the pooler's idle connections of earlier tests, because the server has only 100. */
  private static void closeIdle(DatabaseServer server) throws SQLException {
    if (former != null) {
      String name = former.url().replaceFirst(".*/", "");
      server
          .administration()
          .execute(
              "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle'"
                  + " AND datname = '"
                  + name
                  + "'");
    }
  }

  /** Opens two server connections, so that consecutive transactions can use different ones. */
  private static void openTwo(Database pooled) throws SQLException {
    try (Connection first = pooled.connect();
        Connection second = pooled.connect()) {
      begin(first);
      begin(second);
      first.commit(); // the pooler would close an open transaction
      second.commit();
    }
  }

  private static void begin(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    try (PreparedStatement statement = connection.prepareStatement("SELECT 1")) {
      statement.execute();
    }
  }
}
