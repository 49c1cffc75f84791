// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.postgresql;

import io.timewheel.durable.jdbc.internal.rows.Rows;
import io.timewheel.durable.jdbc.internal.server.Queries;
import io.timewheel.durable.jdbc.internal.server.TimerPages;
import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Executes the statements on PostgreSQL outside of write batches. */
public final class PostgreSqlQueries extends Queries {
  /**
   * Makes the planner read by an index and in its order, also while a table that has grown from
   * empty has no statistics. Otherwise each page sorts all rows that follow, and bitmap scans read
   * dead rows again and again, which index scans mark. The settings end with the implicit
   * transaction of this statement and the query: the driver sends both in one round trip.
   */
  private static final String BY_INDEX =
      "SELECT set_config('enable_seqscan', 'off', true),"
          + " set_config('enable_bitmapscan', 'off', true),"
          + " set_config('enable_sort', 'off', true), set_config('jit', 'off', true); ";

  /**
   * With shards in the condition, PostgreSQL reads a short span by the due index, which begins with
   * the shard.
   */
  public static final String HISTOGRAM =
      """
      SELECT width_bucket(fire_at, ?::bigint[]), count(*) FROM timewheel_timer
      WHERE state IN (?, ?) AND fire_at >= ? AND fire_at < ? AND shard = ANY (?::integer[])\
      """;

  /**
   * Claims ready timers. An empty queue costs one index lookup. LIMIT is above the locks in the
   * plan, so it counts claimable timers. Each timer is locked before its index row, so a held timer
   * costs one failed lock.
   */
  public static final String TAKE_READY =
      "SELECT ready.* FROM unnest(?::text[], ?::text[], ?::integer[]) AS q (namespace, queue, most)"
          + " CROSS JOIN LATERAL (SELECT "
          + Rows.TIMER_COLUMNS
          + TAKE_READY_FROM.formatted(
              "timewheel_ready r JOIN timewheel_timer t", "q.namespace", "q.queue", "q.most")
          + " FOR NO KEY UPDATE OF t SKIP LOCKED FOR UPDATE OF r SKIP LOCKED) ready LIMIT ?";

  public static final String TAKE_HANDLER_READY =
      "SELECT "
          + Rows.TIMER_COLUMNS
          + TAKE_HANDLER_READY_FROM.formatted("timewheel_handler_ready r JOIN timewheel_timer t")
          + " FOR NO KEY UPDATE OF t SKIP LOCKED FOR UPDATE OF r SKIP LOCKED";

  public static final String READY_HANDLERS =
      "WITH RECURSIVE names (handler) AS ("
          + "(SELECT handler FROM timewheel_handler_ready WHERE handler > ?"
          + " ORDER BY handler LIMIT 1) UNION ALL SELECT"
          + " (SELECT r.handler FROM timewheel_handler_ready r WHERE r.handler > names.handler"
          + " ORDER BY r.handler LIMIT 1) FROM names WHERE names.handler IS NOT NULL)"
          + " SELECT handler FROM names WHERE handler IS NOT NULL LIMIT ?";

  public static final String SWEEP =
      "SELECT t.* FROM unnest(?::integer[], ?::bigint[]) AS s (shard, since) CROSS JOIN LATERAL ("
          + SELECT_DUE
          + "shard = s.shard AND fire_at >= s.since AND fire_at < ? ORDER BY fire_at LIMIT ?) t";

  PostgreSqlQueries() {
    super(
        PostgreSqlRecords.DONE_COLUMNS,
        BY_INDEX,
        new TimerPages(
            PostgreSqlRecords.DONE_COLUMNS,
            PostgreSqlRecords.NO_PAYLOAD,
            BY_INDEX,
            "t.namespace >= ? AND (t.namespace, t.id) > (?, ?)"));
  }

  @Override
  public List<DueTimer> sweep(Connection connection, Map<Integer, Long> from, long until, int limit)
      throws SQLException {
    List<Map.Entry<Integer, Long>> shards = List.copyOf(from.entrySet());
    try (PreparedStatement statement = connection.prepareStatement(SWEEP)) {
      new Parameters(connection, statement)
          .ints(shards, Map.Entry::getKey)
          .longs(shards, Map.Entry::getValue)
          .number(until)
          .number(limit);
      return due(statement);
    }
  }

  @Override
  public long[] histogram(
      Connection connection, int shards, @Nullable String namespace, long[] bounds)
      throws SQLException {
    String sql = HISTOGRAM + (namespace == null ? "" : " AND namespace = ?") + " GROUP BY 1";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setObject(1, bounds);
      statement.setInt(2, Codes.STATES.of(TimerState.SCHEDULED));
      statement.setInt(3, Codes.STATES.of(TimerState.RETRYING));
      statement.setLong(4, bounds[0]);
      statement.setLong(5, bounds[bounds.length - 1]);
      statement.setObject(6, IntStream.range(0, shards).toArray());
      if (namespace != null) {
        statement.setString(7, namespace);
      }
      return buckets(statement, bounds);
    }
  }

  @Override
  public boolean compact(Connection connection) throws SQLException {
    Sql.update(
        connection,
        """
        WITH gone AS (DELETE FROM timewheel_count WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM timewheel_count FOR UPDATE SKIP LOCKED))
          RETURNING namespace, state, delta)
        INSERT INTO timewheel_count
        SELECT namespace, state, sum(delta) FROM gone GROUP BY namespace, state
        HAVING sum(delta) <> 0\
        """);
    return false;
  }

  // Pauses

  @Override
  public void lockPauses(Connection connection) throws SQLException {
    Sql.update(connection, "LOCK TABLE timewheel_pause IN EXCLUSIVE MODE");
  }

  @Override
  public void pause(Connection connection, String scope) throws SQLException {
    scope(
        connection,
        "INSERT INTO timewheel_pause (scope, number) VALUES (?, nextval('timewheel_version'))",
        scope);
  }

  // Queues

  @Override
  public List<TimerRecord> takeReady(Connection connection, List<LeaseRequest> requests, int limit)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(TAKE_READY)) {
      new Parameters(connection, statement)
          .texts(requests, LeaseRequest::namespace)
          .texts(requests, LeaseRequest::queue)
          .ints(requests, LeaseRequest::max)
          .number(Codes.STATES.of(TimerState.READY))
          .number(limit);
      return records(statement);
    }
  }

  @Override
  public String insertLimit() {
    return INSERT_LIMIT + " ON CONFLICT DO NOTHING";
  }

  @Override
  public String takeHandlerReady() {
    return TAKE_HANDLER_READY;
  }

  @Override
  public String readyHandlers() {
    return READY_HANDLERS;
  }

  @Override
  public long nextVersion(Connection connection) throws SQLException {
    return Sql.number(connection, "SELECT nextval('timewheel_version')");
  }

  @Override
  public void raiseVersion(Connection connection, long version) throws SQLException {
    Sql.execute(connection, "SELECT setval('timewheel_version', " + version + ")");
  }
}
