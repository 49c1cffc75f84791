// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.mariadb;

import io.timewheel.durable.jdbc.internal.server.HistorySql;
import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.record.DuePosition;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads and purges the history on MariaDB. It has one part, because emptying a whole table would
 * end the transaction and release the lock that makes it safe.
 */
public final class MariaDbHistory extends HistorySql {
  public static final String PURGED =
      "SELECT namespace, id, version, state, changed_at FROM timewheel_done FORCE INDEX"
          + " (timewheel_done_end) WHERE changed_at <= ? AND (changed_at, namespace, id) <= (?, ?,"
          + " ?) ORDER BY changed_at, namespace, id FOR UPDATE SKIP LOCKED";

  MariaDbHistory() {
    super(MariaDbExpressions.NOW);
  }

  /** A finished timer with its version in the history. */
  private record Done(Past past, long version) {}

  /**
   * Deletes the rows up to the newest given one, and those that were committed before an earlier
   * position. The counters include each row until it is deleted. Rows that another transaction
   * holds are left to the next purge.
   */
  @Override
  public List<Past> purge(Connection connection, List<Past> oldest) throws SQLException {
    DuePosition position = oldest.get(oldest.size() - 1).position();
    List<Past> unused = super.purge(connection, oldest);
    List<Done> deleted = new ArrayList<>();
    try (PreparedStatement statement = connection.prepareStatement(PURGED)) {
      new Parameters(connection, statement)
          .number(position.fireAt())
          .number(position.fireAt())
          .text(position.key().namespace())
          .text(position.key().id());
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          TimerKey key = new TimerKey(rows.getString(1), rows.getString(2));
          TimerState state = Codes.STATES.at(rows.getInt(4));
          deleted.add(
              new Done(new Past(new DuePosition(rows.getLong(5), key), state), rows.getLong(3)));
        }
      }
    }
    MariaDbRows.deleteLocked(
        connection,
        "timewheel_done WHERE namespace = ? AND id = ? AND version = ?",
        deleted,
        (to, done) ->
            to.text(done.past().position().key().namespace())
                .text(done.past().position().key().id())
                .number(done.version()));
    return deleted.stream().map(Done::past).toList();
  }

  @Override
  public String counted() {
    return "TRUE";
  }
}
