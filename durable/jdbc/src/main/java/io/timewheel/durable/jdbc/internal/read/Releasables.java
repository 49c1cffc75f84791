// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.read;

import io.timewheel.durable.jdbc.internal.server.Queries;
import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.HandlerNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds waiting timers that may be released. The column release_by contains {@code =handler} for a
 * blocked timer, {@code *namespace} for a held one, and null for all others. The tables compute it.
 * The index begins with shard and release_by. On MariaDB, fire_at is between them, and is null.
 * From one value of a shard, a lookup finds the next one, so each unwanted value costs one lookup,
 * however many timers have it.
 */
public final class Releasables {
  private static final char HANDLER = '=';
  private static final char NAMESPACE = '*';

  private Releasables() {}

  /** {@return the query for the next value of a shard} */
  public static String next(Queries queries) {
    return "SELECT release_by FROM timewheel_timer"
        + queries.toRelease()
        + "shard = ? AND release_by > ? ORDER BY release_by LIMIT 1";
  }

  /** {@return the query for the timers with one value} */
  public static String timers(Queries queries) {
    return Queries.DUE_COLUMNS
        + queries.toRelease()
        + "shard = ? AND release_by = ? AND namespace >= ?"
        + " AND (namespace > ? OR id > ?) ORDER BY namespace, id LIMIT ?";
  }

  static List<DueTimer> read(
      Connection connection,
      Queries queries,
      int shard,
      HandlerNames handlers,
      Set<String> namespaces,
      @Nullable DueTimer after,
      int limit)
      throws SQLException {
    List<DueTimer> found = new ArrayList<>();
    String value = after == null ? next(connection, queries, shard, "") : releaseBy(after);
    DueTimer behind = after;
    while (value != null && found.size() < limit) {
      String name = value.substring(1);
      if (value.charAt(0) == HANDLER ? handlers.contains(name) : namespaces.contains(name)) {
        found.addAll(timers(connection, queries, shard, value, behind, limit - found.size()));
      }
      behind = null;
      value = next(connection, queries, shard, value);
    }
    return found;
  }

  private static String releaseBy(DueTimer timer) {
    return timer.state() == TimerState.BLOCKED
        ? HANDLER + timer.handler()
        : NAMESPACE + timer.key().namespace();
  }

  private static @Nullable String next(
      Connection connection, Queries queries, int shard, String value) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(next(queries))) {
      new Parameters(connection, statement).number(shard).text(value);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() ? rows.getString(1) : null;
      }
    }
  }

  private static List<DueTimer> timers(
      Connection connection,
      Queries queries,
      int shard,
      String value,
      @Nullable DueTimer behind,
      int limit)
      throws SQLException {
    String namespace = behind == null ? "" : behind.key().namespace();
    try (PreparedStatement statement = connection.prepareStatement(timers(queries))) {
      new Parameters(connection, statement)
          .number(shard)
          .text(value)
          .text(namespace)
          .text(namespace)
          .text(behind == null ? "" : behind.key().id())
          .number(limit);
      return Queries.due(statement);
    }
  }
}
