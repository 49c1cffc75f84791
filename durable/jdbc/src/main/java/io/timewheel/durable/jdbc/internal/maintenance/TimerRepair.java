// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.maintenance;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.jdbc.internal.maintenance.Findings.Problem;
import io.timewheel.durable.jdbc.internal.maintenance.Findings.ReadyRow;
import io.timewheel.durable.jdbc.internal.rows.Rows;
import io.timewheel.durable.jdbc.internal.server.SharedRows;
import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.format.Codes;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Fixes a problem of one timer in a transaction of the caller. Locks the timer, checks the problem
 * again, and changes only rows that are still wrong.
 */
final class TimerRepair {
  private static final String ADD_READY =
      "INSERT INTO %1$s (namespace, %2$s, ready_at, id)"
          + " SELECT t.namespace, t.handler, t.changed_at, t.id FROM timewheel_timer t"
          + " WHERE t.namespace = ? AND t.id = ? AND (t.flags & 1) = %3$s"
          + " AND NOT EXISTS (SELECT 1 FROM %1$s r"
          + " WHERE r.namespace = t.namespace AND r.%2$s = t.handler"
          + " AND r.ready_at = t.changed_at AND r.id = t.id)";

  private static final String PAST =
      "SELECT version, revision, state FROM timewheel_done t WHERE namespace = ? AND id = ? AND "
          + Rows.NOT_PURGED
          + " ORDER BY version %1$s, revision %1$s LIMIT 1";

  private static final String OLDEST_PAST = PAST.formatted("ASC");
  private static final String NEWEST_PAST = PAST.formatted("DESC");

  /** The outcome for one problem. */
  enum Result {
    /** The problem is fixed. */
    FIXED,
    /** Another transaction has fixed the problem, or a repair cannot fix it. */
    NONE_LEFT,
    /** Another transaction holds the timer. */
    HELD
  }

  private final SharedRows shared;
  private final int shards;

  TimerRepair(SharedRows shared, int shards) {
    this.shared = shared;
    this.shards = shards;
  }

  /** An unfinished, locked timer. */
  private record Timer(TimerState state, String handler, long changedAt, ReadyIndex index) {}

  Result fix(Connection connection, Problem problem) throws SQLException {
    String request = problem.request();
    if (request != null) { // a node writes an answer once, and never changes it
      return removeAnswer(connection, problem.key(), request) ? Result.FIXED : Result.NONE_LEFT;
    }
    Timer timer = lock(connection, problem.key());
    if (timer == null && isUnfinished(connection, problem.key())) {
      return Result.HELD;
    }
    return fix(connection, problem, timer) ? Result.FIXED : Result.NONE_LEFT;
  }

  private static @Nullable Timer lock(Connection connection, TimerKey key) throws SQLException {
    return first(
        connection,
        "SELECT state, handler, changed_at, flags FROM timewheel_timer WHERE namespace = ? AND id ="
            + " ? FOR UPDATE SKIP LOCKED",
        key,
        row ->
            new Timer(
                Codes.STATES.at(row.getInt(1)),
                row.getString(2),
                row.getLong(3),
                Rows.isQueue(row.getInt(4)) ? ReadyIndex.QUEUES : ReadyIndex.HANDLERS));
  }

  private static boolean isUnfinished(Connection connection, TimerKey key) throws SQLException {
    String sql = "SELECT 1 FROM timewheel_timer WHERE namespace = ? AND id = ?";
    return first(connection, sql, key, row -> true) != null;
  }

  private boolean fix(Connection connection, Problem problem, @Nullable Timer timer)
      throws SQLException {
    TimerKey key = problem.key();
    return switch (problem.kind()) {
      case ORPHAN -> removeOrphan(connection, requireNonNull(problem.row()), timer);
      case UNLISTED -> isReady(timer) && addReady(connection, key);
      case MISPLACED -> timer != null && place(connection, key);
      case REPEATED -> removeRepeated(connection, key, timer);
      case ANSWER -> throw new AssertionError(problem);
    };
  }

  private static boolean removeAnswer(Connection connection, TimerKey key, String request)
      throws SQLException {
    return update(
        connection,
        "DELETE FROM timewheel_answer WHERE namespace = ? AND id = ? AND request = ?",
        to -> bind(to, key).text(request));
  }

  private static boolean addReady(Connection connection, TimerKey key) throws SQLException {
    boolean added = false;
    for (ReadyIndex index : ReadyIndex.values()) {
      added |= update(connection, index.format(ADD_READY), to -> bind(to, key));
    }
    return added;
  }

  private static boolean isReady(@Nullable Timer timer) {
    return timer != null && timer.state() == TimerState.READY;
  }

  private static boolean removeOrphan(Connection connection, ReadyRow row, @Nullable Timer timer)
      throws SQLException {
    boolean belongs =
        timer != null
            && timer.equals(new Timer(TimerState.READY, row.target(), row.readyAt(), row.index()));
    return !belongs
        && update(
            connection,
            row.index()
                .format(
                    "DELETE FROM %1$s"
                        + " WHERE namespace = ? AND id = ? AND %2$s = ? AND ready_at = ?"),
            to -> bind(to, row.key()).text(row.target()).number(row.readyAt()));
  }

  private boolean place(Connection connection, TimerKey key) throws SQLException {
    int shard = Shards.of(key, shards);
    return update(
        connection,
        "UPDATE timewheel_timer SET shard = ? WHERE namespace = ? AND id = ?",
        to -> bind(to.number(shard), key));
  }

  /** A row of the history. */
  private record Past(long version, long revision, TimerState state) {}

  /**
   * Keeps one row of a key: the unfinished timer, so that no timer is lost, or otherwise the newest
   * row in the history.
   */
  private boolean removeRepeated(Connection connection, TimerKey key, @Nullable Timer timer)
      throws SQLException {
    Past newest = timer != null ? null : first(connection, NEWEST_PAST, key, TimerRepair::past);
    Past past;
    StateCounts counts = new StateCounts();
    while ((past = first(connection, OLDEST_PAST, key, TimerRepair::past)) != null
        && !past.equals(newest)
        && remove(connection, key, past)) {
      counts.add(key.namespace(), past.state(), -1);
    }
    if (counts.isEmpty()) {
      return false;
    }
    count(connection, counts);
    return true;
  }

  private static Past past(ResultSet row) throws SQLException {
    return new Past(row.getLong(1), row.getLong(2), Codes.STATES.at(row.getInt(3)));
  }

  private static boolean remove(Connection connection, TimerKey key, Past past)
      throws SQLException {
    return update(
        connection,
        "DELETE FROM timewheel_done"
            + " WHERE namespace = ? AND id = ? AND version = ? AND revision = ?",
        to -> bind(to, key).number(past.version()).number(past.revision()));
  }

  /** Adds differences to the counters. */
  void count(Connection connection, StateCounts differences) throws SQLException {
    try (Statements to = new Statements(connection)) {
      shared.count(to, differences);
      to.send();
    }
  }

  private static Parameters bind(Parameters to, TimerKey key) throws SQLException {
    return to.text(key.namespace()).text(key.id());
  }

  private static <T> @Nullable T first(
      Connection connection, String sql, TimerKey key, Statements.Reading<T> reading)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      bind(new Parameters(connection, statement), key);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() ? reading.read(rows) : null;
      }
    }
  }

  /** {@return whether a row was changed} */
  private static boolean update(Connection connection, String sql, Statements.Binding binding)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      binding.bind(new Parameters(connection, statement));
      return statement.executeUpdate() > 0;
    }
  }
}
