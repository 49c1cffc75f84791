// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Executes single statements without parameters, and reads the rows of prepared ones. */
public final class Sql {
  private Sql() {}

  public static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Changes rows, by a statement that the driver may keep prepared. */
  public static void update(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.executeUpdate();
    }
  }

  /** Executes a statement, or several in one round trip. {@return the rows of the last one} */
  public static ResultSet rows(PreparedStatement statement) throws SQLException {
    statement.execute();
    ResultSet rows = statement.getResultSet();
    while (statement.getMoreResults(Statement.KEEP_CURRENT_RESULT)) {
      rows = statement.getResultSet();
    }
    return rows;
  }

  /** {@return the first column of the first row} */
  public static String text(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return String.valueOf(rows.getString(1));
    }
  }

  /** {@return the first column of the first row, as a number} */
  public static long number(Connection connection, String sql) throws SQLException {
    return Long.parseLong(text(connection, sql));
  }
}
