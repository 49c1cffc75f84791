// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.mariadb;

import io.timewheel.durable.jdbc.internal.rows.Rows;
import io.timewheel.durable.jdbc.internal.server.Queries;
import io.timewheel.durable.jdbc.internal.server.TimerPages;
import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/** Executes the statements on MariaDB outside of write batches. */
public final class MariaDbQueries extends Queries {
  public static final String DUE_IN_ONE =
      "(" + SELECT_DUE + "shard = ? AND fire_at >= ? AND fire_at < ? ORDER BY fire_at LIMIT ?)";

  /** The maximum number of counter rows that one transaction combines. */
  static final int MAX_COUNTS = 20_000;

  /**
   * The number of commit rows that are deleted at once: far more than are inserted between two
   * deletions.
   */
  private static final int MAX_COMMITS = 5_000;

  /** Reads the index rows in order, and looks up each timer by its key. */
  public static final String TAKE_READY =
      "SELECT "
          + Rows.TIMER_COLUMNS
          + TAKE_READY_FROM.formatted(
              "timewheel_ready r FORCE INDEX (PRIMARY)"
                  + " STRAIGHT_JOIN timewheel_timer t FORCE INDEX (PRIMARY)",
              "?",
              "?",
              "?")
          + " FOR UPDATE SKIP LOCKED";

  /**
   * Finds the queues of a list that have rows in the index. The list is JSON with a pair of
   * hexadecimal names for each queue. With LIMIT, the subquery is evaluated for each queue by its
   * key. Without it, the optimizer may choose a join that reads the whole index.
   */
  public static final String NOT_EMPTY =
      "SELECT number FROM (SELECT q.number, (SELECT 1 FROM timewheel_ready r FORCE INDEX (PRIMARY)"
          + " WHERE r.namespace = unhex(q.namespace) AND r.queue = unhex(q.queue) LIMIT 1) AS found"
          + " FROM json_table(?, '$[*]' COLUMNS (number FOR ORDINALITY,"
          + " namespace varchar(512) PATH '$[0]', queue varchar(512) PATH '$[1]')) q) queues"
          + " WHERE found = 1 ORDER BY number";

  public static final String TAKE_HANDLER_READY =
      "SELECT "
          + Rows.TIMER_COLUMNS
          + TAKE_HANDLER_READY_FROM.formatted(
              "timewheel_handler_ready r FORCE INDEX (PRIMARY)"
                  + " STRAIGHT_JOIN timewheel_timer t FORCE INDEX (PRIMARY)")
          + " FOR UPDATE SKIP LOCKED";

  /** The optimizer skips from one name to the next in the index. */
  public static final String READY_HANDLERS =
      "SELECT DISTINCT handler FROM timewheel_handler_ready FORCE INDEX (PRIMARY)"
          + " WHERE handler > ? ORDER BY handler LIMIT ?";

  MariaDbQueries() {
    super(
        MariaDbRecords.DONE_COLUMNS,
        "",
        new TimerPages(
            MariaDbRecords.DONE_COLUMNS,
            MariaDbRecords.NO_PAYLOAD,
            "",
            // The optimizer would check a row comparison on each row.
            "(t.namespace > ? OR t.namespace = ? AND t.id > ?)"));
  }

  @Override
  public List<DueTimer> sweep(Connection connection, Map<Integer, Long> from, long until, int limit)
      throws SQLException {
    String sql = String.join(" UNION ALL ", Collections.nCopies(from.size(), DUE_IN_ONE));
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      Parameters to = new Parameters(connection, statement);
      for (Map.Entry<Integer, Long> shard : from.entrySet()) {
        to.number(shard.getKey()).number(shard.getValue()).number(until).number(limit);
      }
      return due(statement);
    }
  }

  /** Names the index, because the optimizer would prefer the one of all waiting timers. */
  @Override
  public String toRelease() {
    return " FORCE INDEX (timewheel_timer_due) WHERE fire_at IS NULL AND ";
  }

  @Override
  public long[] histogram(
      Connection connection, int shards, @Nullable String namespace, long[] bounds)
      throws SQLException {
    String sql =
        "SELECT interval(fire_at"
            + ", ?".repeat(bounds.length)
            + "), count(*) FROM timewheel_timer"
            + " WHERE state IN (?, ?) AND fire_at >= ? AND fire_at < ?"
            + (namespace == null ? "" : " AND namespace = ?")
            + " GROUP BY 1";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      Parameters to = new Parameters(connection, statement);
      for (long bound : bounds) {
        to.number(bound);
      }
      to.number(Codes.STATES.of(TimerState.SCHEDULED))
          .number(Codes.STATES.of(TimerState.RETRYING))
          .number(bounds[0])
          .number(bounds[bounds.length - 1]);
      if (namespace != null) {
        to.text(namespace);
      }
      return buckets(statement, bounds);
    }
  }

  @Override
  public boolean compact(Connection connection) throws SQLException {
    int commits = deleteCommits(connection);
    List<Long> numbers = new ArrayList<>();
    StateCounts sums = new StateCounts();
    try (PreparedStatement statement =
            connection.prepareStatement(
                "SELECT number, namespace, state, delta FROM timewheel_count"
                    + " ORDER BY number LIMIT "
                    + MAX_COUNTS
                    + " FOR UPDATE SKIP LOCKED");
        ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        numbers.add(rows.getLong(1));
        sums.add(rows.getString(2), Codes.STATES.at(rows.getInt(3)), rows.getLong(4));
      }
    }
    int different = sums.toList().size();
    // A full page without equal counters moves to the end, so that the next pass reads other rows.
    if (different < numbers.size() || numbers.size() == MAX_COUNTS) {
      MariaDbRows.deleteLocked(
          connection, "timewheel_count WHERE number = ?", numbers, Parameters::number);
      MariaDbSharedRows.insertCounts(connection, sums);
    } else if (commits == 0) {
      connection.rollback(); // nothing to commit
    }
    return numbers.size() == MAX_COUNTS && 4 * different <= 3 * MAX_COUNTS;
  }

  /** A commit row. */
  private record Commit(long madeAt, long id) {}

  /**
   * Deletes commit rows that are no longer needed.
   *
   * @return the number of rows deleted
   */
  private static int deleteCommits(Connection connection) throws SQLException {
    List<Commit> old = new ArrayList<>();
    try (PreparedStatement statement =
            connection.prepareStatement(
                "SELECT made_at, id FROM timewheel_commit WHERE made_at < "
                    + MariaDbExpressions.NOW
                    + " - "
                    + MariaDbCommitProof.COMMITS_MILLIS
                    + " ORDER BY made_at, id LIMIT "
                    + MAX_COMMITS
                    + " FOR UPDATE SKIP LOCKED");
        ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        old.add(new Commit(rows.getLong(1), rows.getLong(2)));
      }
    }
    MariaDbRows.deleteLocked(
        connection,
        "timewheel_commit WHERE made_at = ? AND id = ?",
        old,
        (to, commit) -> to.number(commit.madeAt()).number(commit.id()));
    return old.size();
  }

  // Pauses

  @Override
  public void lockPauses(Connection connection) throws SQLException {
    Sql.number(connection, "SELECT value FROM timewheel_meta WHERE name = 'pauses' FOR UPDATE");
  }

  @Override
  public void pause(Connection connection, String scope) throws SQLException {
    scope(
        connection,
        "INSERT INTO timewheel_pause (scope, number) VALUES (?, nextval(timewheel_version))",
        scope);
  }

  // Queues

  /** Queries the non-empty queues one by one, because MariaDB has no lateral joins. */
  @Override
  public List<TimerRecord> takeReady(Connection connection, List<LeaseRequest> requests, int limit)
      throws SQLException {
    List<TimerRecord> taken = new ArrayList<>();
    try (PreparedStatement statement = connection.prepareStatement(TAKE_READY)) {
      for (LeaseRequest request :
          requests.size() == 1 ? requests : notEmpty(connection, requests)) {
        int most = Math.min(request.max(), limit - taken.size());
        if (most == 0) {
          break;
        }
        new Parameters(connection, statement)
            .text(request.namespace())
            .text(request.queue())
            .number(Codes.STATES.of(TimerState.READY))
            .number(most);
        taken.addAll(records(statement));
      }
    }
    return taken;
  }

  private static List<LeaseRequest> notEmpty(Connection connection, List<LeaseRequest> requests)
      throws SQLException {
    StringJoiner queues = new StringJoiner(",", "[", "]");
    for (LeaseRequest request : requests) {
      queues.add("[\"" + hex(request.namespace()) + "\",\"" + hex(request.queue()) + "\"]");
    }
    try (PreparedStatement statement = connection.prepareStatement(NOT_EMPTY)) {
      new Parameters(connection, statement).text(queues.toString());
      List<LeaseRequest> found = new ArrayList<>();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          found.add(requests.get(rows.getInt(1) - 1));
        }
      }
      return found;
    }
  }

  private static String hex(String name) {
    return HexFormat.of().formatHex(name.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public String insertLimit() {
    // INSERT IGNORE would share the lock of an existing row. Two transactions that share it
    // deadlock when each needs it alone.
    return INSERT_LIMIT + " ON DUPLICATE KEY UPDATE name = name";
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
    return MariaDbTransactions.nextVersion(connection);
  }

  @Override
  public void raiseVersion(Connection connection, long version) throws SQLException {
    Sql.execute(connection, "SELECT setval(timewheel_version, " + version + ")");
  }
}
