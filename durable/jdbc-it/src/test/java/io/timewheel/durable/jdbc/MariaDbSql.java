// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.schedule;

import io.timewheel.durable.spi.record.Change;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Statements of the tests on MariaDB. */
final class MariaDbSql {
  private MariaDbSql() {}

  static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  static String text(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }

  /** {@return the access type of each table of a statement} */
  static List<String> explain(Fixture fixture, String sql, String... values) throws SQLException {
    String text = sql;
    for (String value : values) {
      text = text.replaceFirst("\\?", value);
    }
    try (Connection connection = fixture.pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("EXPLAIN " + text)) {
      List<String> plan = new ArrayList<>();
      while (rows.next()) {
        plan.add(rows.getString("type") + " " + rows.getString("Extra"));
      }
      return plan;
    }
  }

  /** {@return the number of lock waits so far} */
  static long waits(Fixture fixture) throws SQLException {
    return fixture.number(
        "SELECT variable_value FROM information_schema.global_status"
            + " WHERE variable_name = 'INNODB_ROW_LOCK_WAITS'");
  }

  static List<Change> schedules(String prefix, int size) {
    List<Change> changes = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      changes.add(schedule(prefix + i, NOW));
    }
    return changes;
  }

  static final String SETTINGS =
      "SELECT concat_ws(' ', @@tx_isolation, @@innodb_lock_wait_timeout,"
          + " @@idle_transaction_timeout, @@idle_write_transaction_timeout,"
          + " @@idle_readonly_transaction_timeout)";
}
