// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.jdbc.internal.rows.Rows;
import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.jdbc.internal.sql.Sql;
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
import org.jspecify.annotations.Nullable;

/** Reads and purges the history, by statements that all servers accept. */
public abstract class HistorySql {
  private final String nowMillis;

  /**
   * Creates the statements.
   *
   * @param nowMillis an expression for the time of the database
   */
  public HistorySql(String nowMillis) {
    this.nowMillis = nowMillis;
  }

  /**
   * The single row about the history.
   *
   * @param purged the position up to which the history is purged
   * @param part the part that receives finished timers
   * @param since the time since when it does
   * @param now the time of the database
   */
  public record Position(DuePosition purged, int part, long since, long now) {}

  /** {@return the position, locked; null if another transaction has locked it} */
  @Nullable
  public Position lock(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement(
                "SELECT forgotten_at, forgotten_namespace, forgotten_id, part, part_since, "
                    + nowMillis
                    + " FROM timewheel_history FOR UPDATE SKIP LOCKED");
        ResultSet rows = statement.executeQuery()) {
      return rows.next()
          ? new Position(
              new DuePosition(rows.getLong(1), new TimerKey(rows.getString(2), rows.getString(3))),
              rows.getInt(4),
              rows.getLong(5),
              rows.getLong(6))
          : null;
    }
  }

  /** A finished timer, in the order of the history. */
  public record Past(DuePosition position, TimerState state) {}

  public List<Past> past(Connection connection, DuePosition after, int limit) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT changed_at, namespace, id, state FROM timewheel_done WHERE changed_at >= ?"
                + " AND (changed_at, namespace, id) > (?, ?, ?)"
                + " ORDER BY changed_at, namespace, id LIMIT ?")) {
      new Parameters(connection, statement)
          .number(after.fireAt())
          .number(after.fireAt())
          .text(after.key().namespace())
          .text(after.key().id())
          .number(limit);
      try (ResultSet rows = statement.executeQuery()) {
        List<Past> past = new ArrayList<>();
        while (rows.next()) {
          TimerKey key = new TimerKey(rows.getString(2), rows.getString(3));
          past.add(
              new Past(new DuePosition(rows.getLong(1), key), Codes.STATES.at(rows.getInt(4))));
        }
        return past;
      }
    }
  }

  /**
   * Purges the oldest finished timers.
   *
   * @param oldest the timers, in the order of the history
   * @return the timers that the counters must no longer include
   */
  public List<Past> purge(Connection connection, List<Past> oldest) throws SQLException {
    DuePosition position = oldest.get(oldest.size() - 1).position();
    try (PreparedStatement statement =
        connection.prepareStatement(
            "UPDATE timewheel_history SET forgotten_at = ?, forgotten_namespace = ?,"
                + " forgotten_id = ?")) {
      new Parameters(connection, statement)
          .number(position.fireAt())
          .text(position.key().namespace())
          .text(position.key().id());
      statement.executeUpdate();
    }
    return oldest;
  }

  /** {@return the condition for the rows of the history that the counters include} */
  public String counted() {
    return Rows.NOT_PURGED;
  }

  /** Puts timers that finish from now on into another part. */
  public void startPart(Connection connection, int part) throws SQLException {
    Sql.update(
        connection, "UPDATE timewheel_history SET part = " + part + ", part_since = " + nowMillis);
  }

  /** {@return the parts of the history; null if it is not divided} */
  @Nullable
  public HistoryParts parts() {
    return null;
  }
}
