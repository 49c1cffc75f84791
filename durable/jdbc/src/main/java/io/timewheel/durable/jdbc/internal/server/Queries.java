// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.jdbc.internal.rows.Rows;
import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads timers, pauses scopes, and claims ready timers, by statements that all servers accept. */
public abstract class Queries {
  public static final String DUE_COLUMNS =
      "SELECT namespace, id, fire_at, version, revision, state, handler, flags"
          + " FROM timewheel_timer";

  public static final String SELECT_DUE = DUE_COLUMNS + " WHERE ";

  /** Orders by the index of MariaDB. It contains release_by, which is null in due timers. */
  public static final String DUE =
      SELECT_DUE
          + """
          shard = ? AND fire_at >= ? AND fire_at < ? AND (fire_at, namespace, id) > (?, ?, ?)
          ORDER BY fire_at, release_by, namespace, id LIMIT ?\
          """;

  /**
   * The ready timers of a queue in their order. Its placeholders are the joined tables r and t, the
   * namespace, the queue and the limit.
   */
  public static final String TAKE_READY_FROM =
      " FROM %s ON t.namespace = r.namespace AND t.id = r.id"
          + " WHERE r.namespace = %s AND r.queue = %s"
          + " AND t.state = ? AND t.changed_at = r.ready_at AND t.handler = r.queue"
          + " ORDER BY r.ready_at, r.id LIMIT %s";

  /** The ready timers of a handler, in the order of the index across all namespaces. */
  public static final String TAKE_HANDLER_READY_FROM =
      " FROM %s ON t.namespace = r.namespace AND t.id = r.id"
          + " WHERE r.handler = ?"
          + " AND t.state = ? AND t.changed_at = r.ready_at AND t.handler = r.handler"
          + " AND r.namespace NOT IN (SELECT scope FROM timewheel_pause)"
          + " ORDER BY r.ready_at, r.namespace, r.id LIMIT ?";

  private static final String ALL =
      "SELECT " + Rows.TIMER_COLUMNS + ", NULL AS payload_hash FROM timewheel_timer t";

  private final String get;
  private final String due;
  private final List<String> all;
  private final TimerPages pages;

  /**
   * Creates the statements.
   *
   * @param doneColumns the columns of a finished timer, as {@link Rows#record} reads them
   * @param settings a statement before a query that must use an index; empty if none is needed
   * @param pages lists timers
   */
  public Queries(String doneColumns, String settings, TimerPages pages) {
    this.pages = pages;
    due = settings + DUE;
    all =
        List.of(
            ALL,
            "SELECT "
                + doneColumns
                + ", t.payload_hash FROM timewheel_done t WHERE "
                + Rows.NOT_PURGED);
    // One statement reads both tables, so that a timer that moves between them is read once.
    get =
        "SELECT "
            + Rows.TIMER_COLUMNS
            + " FROM timewheel_timer t WHERE t.namespace = ? AND t.id = ? UNION ALL SELECT "
            + doneColumns
            + " FROM timewheel_done t WHERE t.namespace = ? AND t.id = ? AND "
            + Rows.NOT_PURGED;
  }

  // Reading

  @Nullable
  public TimerRecord get(Connection connection, TimerKey key) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(get)) {
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

  public List<DueTimer> due(
      Connection connection,
      int shard,
      long from,
      long until,
      @Nullable DuePosition after,
      int limit)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(due)) {
      Parameters to = new Parameters(connection, statement).number(shard);
      if (after == null) {
        to.number(from).number(until).number(Long.MIN_VALUE).text("").text("");
      } else {
        to.number(after.fireAt()).number(until).number(after.fireAt());
        to.text(after.key().namespace()).text(after.key().id());
      }
      to.number(limit);
      return due(statement);
    }
  }

  /** {@return the first due timers of several shards, each from its own start time on} */
  public abstract List<DueTimer> sweep(
      Connection connection, Map<Integer, Long> from, long until, int limit) throws SQLException;

  public static List<DueTimer> due(PreparedStatement statement) throws SQLException {
    try (ResultSet rows = Sql.rows(statement)) {
      List<DueTimer> due = new ArrayList<>();
      while (rows.next()) {
        int flags = rows.getInt(8);
        long fireAt = rows.getLong(3);
        boolean never = rows.wasNull(); // wasNull() refers to the column that was read last
        due.add(
            new DueTimer(
                new TimerKey(rows.getString(1), rows.getString(2)),
                never ? TimerRecord.NEVER : fireAt,
                rows.getLong(4),
                rows.getLong(5),
                Codes.STATES.at(rows.getInt(6)),
                rows.getString(7),
                Rows.isQueue(flags),
                Rows.isRecurring(flags),
                Rows.isDeferred(flags)));
      }
      return due;
    }
  }

  // Lists

  public TimerPage page(
      Connection connection,
      TimerQuery query,
      TimerOrder order,
      @Nullable DuePosition after,
      int limit)
      throws SQLException {
    return pages.read(connection, query, order, after, limit);
  }

  /** {@return the counts of waiting timers by their time, in shards numbered from 0} */
  public abstract long[] histogram(
      Connection connection, int shards, @Nullable String namespace, long[] bounds)
      throws SQLException;

  /** Returns the counts of a query for numbers of buckets, from 1, and their counts. */
  protected static long[] buckets(PreparedStatement statement, long[] bounds) throws SQLException {
    long[] buckets = new long[bounds.length - 1];
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        buckets[rows.getInt(1) - 1] = rows.getLong(2);
      }
    }
    return buckets;
  }

  /** {@return the counts of namespaces and queues} */
  public StateCounts counts(Connection connection) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT namespace, state, sum(delta) FROM timewheel_count GROUP BY namespace, state"
                + " HAVING sum(delta) > 0")) {
      return counts(statement);
    }
  }

  private static StateCounts counts(PreparedStatement statement) throws SQLException {
    StateCounts counts = new StateCounts();
    try (ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        counts.add(rows.getString(1), Codes.STATES.at(rows.getInt(2)), rows.getLong(3));
      }
    }
    return counts;
  }

  /**
   * {@return the number of unfinished timers of each queue of a namespace, or of all if it is null}
   */
  public Map<TimerKey, Map<TimerState, Long>> queueCounts(
      Connection connection, @Nullable String namespace) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT namespace, state, sum(delta) FROM timewheel_count"
                + (namespace == null ? "" : " WHERE namespace > ? AND namespace < ?")
                + " GROUP BY namespace, state HAVING sum(delta) > 0")) {
      if (namespace != null) {
        statement.setString(1, Scopes.queue(namespace, ""));
        statement.setString(2, namespace + (char) 11); // follows the line feed
      }
      return counts(statement).queues(namespace);
    }
  }

  /** {@return when the first timer of each queue became ready; one index lookup for each queue} */
  public Map<TimerKey, Long> readySince(Connection connection, Collection<TimerKey> queues)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT ready_at FROM timewheel_ready WHERE namespace = ? AND queue = ?"
                + " ORDER BY ready_at LIMIT 1")) {
      Map<TimerKey, Long> since = new HashMap<>();
      for (TimerKey queue : queues) {
        new Parameters(connection, statement).text(queue.namespace()).text(queue.id());
        try (ResultSet rows = statement.executeQuery()) {
          if (rows.next()) {
            since.put(queue, rows.getLong(1));
          }
        }
      }
      return since;
    }
  }

  /**
   * Combines the counter rows that transactions have inserted into sums.
   *
   * @return whether there are enough rows left to repeat this
   */
  public abstract boolean compact(Connection connection) throws SQLException;

  // Copies

  /**
   * {@return queries for all unfinished timers and for the history, with the columns of {@link
   * Rows#record} and the hash of a payload that is not kept}
   */
  public List<String> all() {
    return all;
  }

  /** Takes a block of versions, and returns its first one. It exceeds all versions taken before. */
  public abstract long nextVersion(Connection connection) throws SQLException;

  /**
   * Makes all later blocks of versions begin above a version, which exceeds all versions taken
   * before.
   */
  public abstract void raiseVersion(Connection connection, long version) throws SQLException;

  // Pauses

  public Set<String> paused(Connection connection) throws SQLException {
    return SharedRows.scopes(connection, "SELECT scope FROM timewheel_pause");
  }

  /** Excludes other transactions that lock the pauses. */
  public abstract void lockPauses(Connection connection) throws SQLException;

  /** Returns the paused scopes, each with the number of its pause. */
  public Map<String, Long> pauseNumbers(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement("SELECT scope, number FROM timewheel_pause");
        ResultSet rows = statement.executeQuery()) {
      Map<String, Long> found = new HashMap<>();
      while (rows.next()) {
        found.put(rows.getString(1), rows.getLong(2));
      }
      return found;
    }
  }

  /** Pauses a scope that is not paused. The number of the pause is larger than all before. */
  public abstract void pause(Connection connection, String scope) throws SQLException;

  public void resume(Connection connection, String scope) throws SQLException {
    scope(connection, "DELETE FROM timewheel_pause WHERE scope = ?", scope);
  }

  protected static void scope(Connection connection, String sql, String scope) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, scope);
      statement.executeUpdate();
    }
  }

  // Limits

  protected static final String INSERT_LIMIT =
      "INSERT INTO timewheel_limit (name, tokens, at_millis) VALUES (?, ?, ?)";

  /** {@return an INSERT of a limit that keeps an existing row} */
  public abstract String insertLimit();

  // Queues

  /**
   * Locks the first claimable timers of queues: those that are ready and that no other transaction
   * holds. Index rows whose timer is held or not ready do not count.
   *
   * @param requests one for each queue
   * @param limit the maximum number of timers of all queues together
   * @return the timers in the order of the requests, and within a queue in their order
   */
  public abstract List<TimerRecord> takeReady(
      Connection connection, List<LeaseRequest> requests, int limit) throws SQLException;

  public static List<TimerRecord> records(PreparedStatement statement) throws SQLException {
    try (ResultSet rows = statement.executeQuery()) {
      List<TimerRecord> records = new ArrayList<>();
      while (rows.next()) {
        records.add(Rows.record(rows));
      }
      return records;
    }
  }

  /** Locks the first claimable timers of a handler, in all namespaces that are not paused. */
  public List<TimerRecord> takeReady(Connection connection, String handler, int limit)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(takeHandlerReady())) {
      new Parameters(connection, statement)
          .text(handler)
          .number(Codes.STATES.of(TimerState.READY))
          .number(limit);
      try (ResultSet rows = statement.executeQuery()) {
        List<TimerRecord> records = new ArrayList<>();
        while (rows.next()) {
          records.add(Rows.record(rows));
        }
        return records;
      }
    }
  }

  /** {@return {@link #TAKE_HANDLER_READY_FROM} with columns, tables and locks} */
  public abstract String takeHandlerReady();

  /**
   * {@return the text after the table of timers for which the server uses the index of timers to
   * release}
   */
  public String toRelease() {
    return " WHERE ";
  }

  /** {@return the handlers with ready timers whose names come after a name} */
  public List<String> readyHandlers(Connection connection, String after, int limit)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(readyHandlers())) {
      new Parameters(connection, statement).text(after).number(limit);
      try (ResultSet rows = statement.executeQuery()) {
        List<String> names = new ArrayList<>();
        while (rows.next()) {
          names.add(rows.getString(1));
        }
        return names;
      }
    }
  }

  /** {@return a statement that finds each name by the index, whatever the number of its rows} */
  public abstract String readyHandlers();
}
