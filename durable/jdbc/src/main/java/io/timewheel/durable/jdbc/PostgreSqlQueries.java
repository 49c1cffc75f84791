// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.PostgreSql.NOW;
import static io.timewheel.durable.jdbc.PostgreSql.execute;
import static io.timewheel.durable.jdbc.PostgreSql.scopes;
import static io.timewheel.durable.jdbc.PostgreSqlRecords.DONE_COLUMNS;
import static io.timewheel.durable.jdbc.PostgreSqlRecords.NOT_FORGOTTEN;
import static io.timewheel.durable.jdbc.PostgreSqlRecords.TIMER_COLUMNS;

import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What PostgreSQL is asked apart from the commit of a group. */
final class PostgreSqlQueries implements Queries {
  /** Behind every id that begins with what stands in front of it: an id has 256 bytes at most. */
  private static final String LAST = new String(Character.toChars(0x10FFFF)).repeat(64);

  private static final Set<TimerState> FINISHED = EnumSet.of(TimerState.DONE, TimerState.CANCELLED);

  /** Those that are in the due index. */
  private static final Set<TimerState> INDEXED =
      EnumSet.of(TimerState.SCHEDULED, TimerState.RETRYING, TimerState.FIRING);

  // In one statement, so that a timer that moves between the tables is seen once.
  private static final String GET =
      "SELECT "
          + TIMER_COLUMNS
          + " FROM timewheel_timer t WHERE t.namespace = ? AND t.id = ? UNION ALL SELECT "
          + DONE_COLUMNS
          + " FROM timewheel_done t, timewheel_history h WHERE t.namespace = ? AND t.id = ? AND "
          + NOT_FORGOTTEN;

  private static final String DUE =
      """
      SELECT namespace, id, fire_at, version, revision, state, handler, flags, due_at
      FROM timewheel_timer WHERE shard = ? AND fire_at >= ? AND fire_at < ?
        AND (fire_at, namespace, id) > (?, ?, ?)
      ORDER BY fire_at, namespace, id LIMIT ?\
      """;

  private static final String HISTOGRAM =
      """
      SELECT width_bucket(fire_at, ?::bigint[]), count(*) FROM timewheel_timer
      WHERE state IN (?, ?) AND fire_at >= ? AND fire_at < ?\
      """;

  // The records are locked by the same statement: whoever holds one is passed over. "Materialized",
  // because a subquery may be run again, and then take more.
  private static final String TAKE_READY =
      """
      WITH r AS MATERIALIZED (
        SELECT r.namespace, r.id, r.ready_at FROM timewheel_ready r
        WHERE r.namespace = ? AND r.queue = ?
        ORDER BY r.ready_at, r.id LIMIT ? FOR UPDATE SKIP LOCKED)
      SELECT
      """
          + TIMER_COLUMNS
          + " FROM r JOIN timewheel_timer t ON t.namespace = r.namespace AND t.id = r.id"
          + " AND t.state = ? AND t.changed_at = r.ready_at"
          + " ORDER BY r.ready_at, r.id FOR NO KEY UPDATE OF t SKIP LOCKED";

  @Override
  public @Nullable TimerRecord get(Connection connection, TimerKey key) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(GET)) {
      new Parameters(connection, statement)
          .text(key.namespace())
          .text(key.id())
          .text(key.namespace())
          .text(key.id());
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() ? Rows.record(rows) : null;
      }
    }
  }

  @Override
  public List<DueTimer> due(
      Connection connection,
      int shard,
      long from,
      long until,
      @Nullable DuePosition after,
      int limit)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(DUE)) {
      Parameters to = new Parameters(connection, statement).number(shard);
      if (after == null) {
        to.number(from).number(until).number(Long.MIN_VALUE).text("").text("");
      } else {
        to.number(after.fireAt()).number(until).number(after.fireAt());
        to.text(after.key().namespace()).text(after.key().id());
      }
      to.number(limit);
      try (ResultSet rows = statement.executeQuery()) {
        List<DueTimer> due = new ArrayList<>();
        while (rows.next()) {
          TimerState state = Codes.STATES.at(rows.getInt(6));
          int flags = rows.getInt(8);
          boolean recurring = Rows.isRecurring(flags);
          boolean afterItsTime = rows.getLong(3) > rows.getLong(9);
          due.add(
              new DueTimer(
                  new TimerKey(rows.getString(1), rows.getString(2)),
                  rows.getLong(3),
                  rows.getLong(4),
                  rows.getLong(5),
                  state,
                  rows.getString(7),
                  Rows.isQueue(flags),
                  recurring,
                  recurring && afterItsTime && state == TimerState.SCHEDULED));
        }
        return due;
      }
    }
  }

  // Lists

  @Override
  public List<TimerRecord> page(
      Connection connection, TimerQuery query, @Nullable TimerKey after, int limit)
      throws SQLException {
    Set<TimerState> unfinished = EnumSet.noneOf(TimerState.class);
    unfinished.addAll(query.states());
    unfinished.removeAll(FINISHED);
    boolean idle = unfinished.stream().noneMatch(INDEXED::contains);
    List<String> parts = new ArrayList<>();
    List<Object> values = new ArrayList<>();
    if (!unfinished.isEmpty()) {
      parts.add(
          "SELECT "
              + TIMER_COLUMNS
              + " FROM timewheel_timer t WHERE "
              + (idle ? "t.fire_at IS NULL AND " : "")
              + conditions(query, after, values));
    }
    if (query.states().stream().anyMatch(FINISHED::contains)) {
      parts.add(
          "SELECT "
              + DONE_COLUMNS
              + " FROM timewheel_done t, timewheel_history h WHERE "
              + NOT_FORGOTTEN
              + " AND "
              + conditions(query, after, values));
    }
    if (parts.isEmpty()) {
      return List.of();
    }
    String sql = String.join(" UNION ALL ", parts) + " ORDER BY namespace, id LIMIT ?";
    values.add(limit);
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.size(); i++) {
        statement.setObject(i + 1, values.get(i));
      }
      try (ResultSet rows = statement.executeQuery()) {
        List<TimerRecord> records = new ArrayList<>();
        while (rows.next()) {
          records.add(Rows.record(rows));
        }
        return records;
      }
    }
  }

  private static String conditions(
      TimerQuery query, @Nullable TimerKey after, List<Object> values) {
    StringBuilder sql = new StringBuilder("t.state = ANY (?) AND t.due_at >= ? AND t.due_at < ?");
    values.add(query.states().stream().mapToInt(Codes.STATES::of).sorted().toArray());
    values.add(query.dueFrom());
    values.add(query.dueTo());
    if (query.namespace() != null) {
      sql.append(" AND t.namespace = ?");
      values.add(query.namespace());
    }
    if (!query.prefix().isEmpty()) {
      sql.append(" AND t.id >= ? AND t.id <= ? AND starts_with(t.id, ?)");
      values.add(query.prefix());
      values.add(query.prefix() + LAST);
      values.add(query.prefix());
    }
    if (query.handler() != null) {
      sql.append(" AND t.handler = ?");
      values.add(query.handler());
    }
    if (after != null) {
      sql.append(" AND (t.namespace, t.id) > (?, ?)");
      values.add(after.namespace());
      values.add(after.id());
    }
    return sql.toString();
  }

  @Override
  public long[] histogram(Connection connection, @Nullable String namespace, long[] bounds)
      throws SQLException {
    String sql = HISTOGRAM + (namespace == null ? "" : " AND namespace = ?") + " GROUP BY 1";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setObject(1, bounds);
      statement.setInt(2, Codes.STATES.of(TimerState.SCHEDULED));
      statement.setInt(3, Codes.STATES.of(TimerState.RETRYING));
      statement.setLong(4, bounds[0]);
      statement.setLong(5, bounds[bounds.length - 1]);
      if (namespace != null) {
        statement.setString(6, namespace);
      }
      long[] buckets = new long[bounds.length - 1];
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          buckets[rows.getInt(1) - 1] = rows.getLong(2);
        }
      }
      return buckets;
    }
  }

  @Override
  public Map<String, Map<TimerState, Long>> counts(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement(
                "SELECT namespace, state, sum(delta) FROM timewheel_count GROUP BY namespace, state"
                    + " HAVING sum(delta) > 0");
        ResultSet rows = statement.executeQuery()) {
      Map<String, Map<TimerState, Long>> counts = new HashMap<>();
      while (rows.next()) {
        counts
            .computeIfAbsent(rows.getString(1), namespace -> new EnumMap<>(TimerState.class))
            .put(Codes.STATES.at(rows.getInt(2)), rows.getLong(3));
      }
      return counts;
    }
  }

  @Override
  public void compactCounts(Connection connection) throws SQLException {
    execute(
        connection,
        """
        WITH gone AS (DELETE FROM timewheel_count WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM timewheel_count FOR UPDATE SKIP LOCKED))
          RETURNING namespace, state, delta)
        INSERT INTO timewheel_count
        SELECT namespace, state, sum(delta) FROM gone GROUP BY namespace, state
        HAVING sum(delta) <> 0\
        """);
  }

  // Pauses

  @Override
  public Set<String> paused(Connection connection) throws SQLException {
    return scopes(connection, "SELECT scope FROM timewheel_pause");
  }

  @Override
  public void lockPauses(Connection connection) throws SQLException {
    execute(connection, "LOCK TABLE timewheel_pause IN EXCLUSIVE MODE");
  }

  @Override
  public void pause(Connection connection, String scope) throws SQLException {
    scope(connection, "INSERT INTO timewheel_pause VALUES (?) ON CONFLICT DO NOTHING", scope);
  }

  @Override
  public void resume(Connection connection, String scope) throws SQLException {
    scope(connection, "DELETE FROM timewheel_pause WHERE scope = ?", scope);
  }

  private static void scope(Connection connection, String sql, String scope) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, scope);
      statement.executeUpdate();
    }
  }

  // Queues

  @Override
  public List<TimerRecord> takeReady(
      Connection connection, String namespace, String queue, int limit) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(TAKE_READY)) {
      new Parameters(connection, statement)
          .text(namespace)
          .text(queue)
          .number(limit)
          .number(Codes.STATES.of(TimerState.READY));
      try (ResultSet rows = statement.executeQuery()) {
        List<TimerRecord> records = new ArrayList<>();
        while (rows.next()) {
          records.add(Rows.record(rows));
        }
        return records;
      }
    }
  }

  // History

  @Override
  public @Nullable History lockHistory(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement(
                "SELECT forgotten_at, forgotten_namespace, forgotten_id, part, part_since, "
                    + NOW
                    + " FROM timewheel_history FOR UPDATE SKIP LOCKED");
        ResultSet rows = statement.executeQuery()) {
      return rows.next()
          ? new History(
              new DuePosition(rows.getLong(1), new TimerKey(rows.getString(2), rows.getString(3))),
              rows.getInt(4),
              rows.getLong(5),
              rows.getLong(6))
          : null;
    }
  }

  @Override
  public int historyPart(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement("SELECT part FROM timewheel_history");
        ResultSet rows = statement.executeQuery()) {
      rows.next();
      return rows.getInt(1);
    }
  }

  @Override
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

  @Override
  public void forgetUpTo(Connection connection, DuePosition position) throws SQLException {
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
  }

  @Override
  public void startPart(Connection connection, int part) throws SQLException {
    execute(connection, "UPDATE timewheel_history SET part = " + part + ", part_since = " + NOW);
  }

  @Override
  public @Nullable Long endOfPart(Connection connection, int part) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement("SELECT max(changed_at) FROM timewheel_done_" + part);
        ResultSet rows = statement.executeQuery()) {
      rows.next();
      long end = rows.getLong(1);
      return rows.wasNull() ? null : end;
    }
  }

  @Override
  public void emptyPart(Connection connection, int part) throws SQLException {
    execute(connection, "TRUNCATE timewheel_done_" + part);
  }
}
