// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.TimerRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What MariaDB is asked apart from the commit of a group. */
final class MariaDbQueries extends Queries {
  /** How many rows are put together or deleted in one transaction. */
  private static final int MAX_ROWS = 5_000;

  private static final int MAX_LIST = 500;

  /** For how long it is known what became of a commit. */
  static final long COMMITS_MILLIS = 120_000;

  private final Records records;

  MariaDbQueries(Records records) {
    super(MariaDb.NOW, MariaDbRecords.DONE_COLUMNS);
    this.records = records;
  }

  @Override
  long[] histogram(Connection connection, @Nullable String namespace, long[] bounds)
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
  void compactCounts(Connection connection) throws SQLException {
    List<Long> numbers = new ArrayList<>();
    Map<String, Map<TimerState, Long>> sums = new HashMap<>();
    try (PreparedStatement statement =
            connection.prepareStatement(
                "SELECT number, namespace, state, delta FROM timewheel_count"
                    + " ORDER BY number LIMIT "
                    + MAX_ROWS
                    + " FOR UPDATE SKIP LOCKED");
        ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        numbers.add(rows.getLong(1));
        sums.computeIfAbsent(rows.getString(2), same -> new EnumMap<>(TimerState.class))
            .merge(Codes.STATES.at(rows.getInt(3)), rows.getLong(4), Long::sum);
      }
    }
    for (int from = 0; from < numbers.size(); from += MAX_LIST) {
      List<Long> some = numbers.subList(from, Math.min(numbers.size(), from + MAX_LIST));
      try (PreparedStatement statement =
          connection.prepareStatement(
              "DELETE FROM timewheel_count WHERE number IN (" + MariaDb.marks(some.size()) + ")")) {
        Parameters to = new Parameters(connection, statement);
        for (long number : some) {
          to.number(number);
        }
        statement.executeUpdate();
      }
    }
    sums.values().forEach(states -> states.values().removeIf(sum -> sum == 0));
    sums.values().removeIf(Map::isEmpty);
    MariaDb.insertCounts(connection, sums);
  }

  /** Deletes what nobody asks for any more. */
  @Override
  void tidy(Connection connection) throws SQLException {
    update(
        connection,
        "DELETE FROM timewheel_commit WHERE made_at < "
            + MariaDb.NOW
            + " - "
            + COMMITS_MILLIS
            + " ORDER BY made_at, id LIMIT "
            + MAX_ROWS);
  }

  // Pauses

  @Override
  void lockPauses(Connection connection) throws SQLException {
    MariaDb.number(connection, "SELECT value FROM timewheel_meta WHERE name = 'pauses' FOR UPDATE");
  }

  @Override
  void pause(Connection connection, String scope) throws SQLException {
    scope(
        connection,
        "INSERT INTO timewheel_pause VALUES (?) ON DUPLICATE KEY UPDATE scope = VALUES(scope)",
        scope);
  }

  // Queues

  @Override
  List<TimerRecord> takeReady(Connection connection, String namespace, String queue, int limit)
      throws SQLException {
    Map<TimerKey, Long> ready = new LinkedHashMap<>();
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT id, ready_at FROM timewheel_ready WHERE namespace = ? AND queue = ?"
                + " ORDER BY ready_at, id LIMIT ? FOR UPDATE SKIP LOCKED")) {
      new Parameters(connection, statement).text(namespace).text(queue).number(limit);
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          ready.put(new TimerKey(namespace, rows.getString(1)), rows.getLong(2));
        }
      }
    }
    if (ready.isEmpty()) {
      return List.of();
    }
    Map<TimerKey, TimerRecord> locked =
        records.lock(connection, ready.keySet().stream().sorted().toList(), true);
    List<TimerRecord> taken = new ArrayList<>();
    ready.forEach(
        (key, readyAt) -> {
          TimerRecord record = locked.get(key);
          if (record != null
              && record.state() == TimerState.READY
              && record.changedAt() == readyAt) {
            taken.add(record);
          }
        });
    return taken;
  }

  // History

  /** Deletes what is forgotten, of which there is little each time. */
  @Override
  void forgetUpTo(Connection connection, DuePosition position) throws SQLException {
    super.forgetUpTo(connection, position);
    try (PreparedStatement statement =
        connection.prepareStatement(
            "DELETE FROM timewheel_done WHERE changed_at <= ?"
                + " AND (changed_at, namespace, id) <= (?, ?, ?)")) {
      new Parameters(connection, statement)
          .number(position.fireAt())
          .number(position.fireAt())
          .text(position.key().namespace())
          .text(position.key().id());
      statement.executeUpdate();
    }
  }

  /** To empty a table at once ends the transaction, and the lock that makes it safe. */
  @Override
  int parts() {
    return 1;
  }

  @Override
  @Nullable Long endOfPart(Connection connection, int part) {
    throw new UnsupportedOperationException("the history has one part");
  }

  @Override
  void emptyPart(Connection connection, int part) {
    throw new UnsupportedOperationException("the history has one part");
  }
}
