// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Empty databases behind a pooler in transaction mode, as the guide says to use one. */
final class PooledDatabase {
  private static Database former;

  private PooledDatabase() {}

  /** A database of its own: a connection has no parameters there, and so no schema. */
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

  /** The pooler would keep the connections of the test before, and the server has a hundred. */
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

  /** So that the next transaction of a connection is in another session of the server. */
  private static void openTwo(Database pooled) throws SQLException {
    try (Connection first = pooled.connect();
        Connection second = pooled.connect()) {
      begin(first);
      begin(second);
      first.commit(); // otherwise the pooler would close it
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
