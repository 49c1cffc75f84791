// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** Creates empty schemas in one database of this JVM, which is faster than creating databases. */
final class EmptySchema {
  private static Database database;
  private static int schemas;

  private EmptySchema() {}

  static synchronized Database create() {
    if (database == null) {
      database = TestDatabases.postgresql().createDatabase();
    }
    String name = "test_" + ++schemas;
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE SCHEMA " + name);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    return database.with("currentSchema", name);
  }
}
