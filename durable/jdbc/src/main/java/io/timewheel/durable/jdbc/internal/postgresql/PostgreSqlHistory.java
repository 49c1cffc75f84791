// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.postgresql;

import io.timewheel.durable.jdbc.internal.server.HistoryParts;
import io.timewheel.durable.jdbc.internal.server.HistorySql;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Reads and purges the history on PostgreSQL, which is divided into parts. */
final class PostgreSqlHistory extends HistorySql implements HistoryParts {
  static final int PARTS = 4;

  PostgreSqlHistory() {
    super(PostgreSqlExpressions.NOW);
  }

  @Override
  public HistoryParts parts() {
    return this;
  }

  @Override
  public int count() {
    return PARTS;
  }

  @Override
  public @Nullable Long end(Connection connection, int part) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement("SELECT max(changed_at) FROM timewheel_done_" + part);
        ResultSet rows = statement.executeQuery()) {
      rows.next();
      long end = rows.getLong(1);
      return rows.wasNull() ? null : end;
    }
  }

  @Override
  public void empty(Connection connection, int part, long endedBefore) throws SQLException {
    if (hasEnded(connection, part, endedBefore)) {
      Sql.update(connection, "LOCK TABLE timewheel_done_" + part + " IN ACCESS EXCLUSIVE MODE");
      if (hasEnded(connection, part, endedBefore)) { // other transactions may have added rows
        Sql.update(connection, "TRUNCATE timewheel_done_" + part);
      }
    }
  }

  private boolean hasEnded(Connection connection, int part, long before) throws SQLException {
    Long end = end(connection, part);
    return end != null && end < before;
  }
}
