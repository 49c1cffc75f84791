// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.maintenance;

import io.timewheel.durable.jdbc.internal.maintenance.Findings.Kind;
import io.timewheel.durable.jdbc.internal.maintenance.Findings.ReadyRow;
import io.timewheel.durable.jdbc.internal.rows.Rows;
import io.timewheel.durable.jdbc.internal.server.HistorySql;
import io.timewheel.durable.jdbc.internal.server.RequestRows;
import io.timewheel.durable.jdbc.internal.server.TimerPages;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.format.MalformedException;
import io.timewheel.durable.spi.format.RecordCodec;
import io.timewheel.durable.spi.record.RequestAnswer;
import io.timewheel.durable.spi.record.TimerDefinition;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;

/**
 * Compares the tables with each other in the transaction of one snapshot. All transactions change a
 * timer together with its row in the ready index and its counters. So a snapshot shows no
 * difference even while nodes work.
 */
final class Verifier {
  private static final int FETCHED_ROWS = 1_000;

  private static final int READY = Codes.STATES.of(TimerState.READY);

  private static final String TIMERS =
      "SELECT namespace, id, shard, state, fire_at, spec, progress, flags, handler"
          + " FROM timewheel_timer";

  private static final String ORPHANS =
      "SELECT r.namespace, r.id, r.%2$s, r.ready_at, t.state, t.handler, t.changed_at"
          + " FROM %1$s r LEFT JOIN timewheel_timer t"
          + " ON t.namespace = r.namespace AND t.id = r.id WHERE t.id IS NULL OR t.state <> "
          + READY
          + " OR t.handler <> r.%2$s OR t.changed_at <> r.ready_at OR (t.flags & 1) <> %3$s";

  private static final String UNLISTED =
      "SELECT t.namespace, t.id, t.handler FROM timewheel_timer t LEFT JOIN %1$s r"
          + " ON r.namespace = t.namespace AND r.%2$s = t.handler AND r.ready_at = t.changed_at"
          + " AND r.id = t.id WHERE t.state = "
          + READY
          + " AND (t.flags & 1) = %3$s AND r.id IS NULL";

  private static final String REPEATED =
      "SELECT t.namespace, t.id, count(*), count(u.id) FROM timewheel_done t"
          + " LEFT JOIN timewheel_timer u ON u.namespace = t.namespace AND u.id = t.id WHERE "
          + Rows.NOT_PURGED
          + " GROUP BY t.namespace, t.id HAVING count(*) > 1 OR count(u.id) > 0";

  private static final String FINISHED =
      "SELECT t.namespace, t.state, count(*) FROM timewheel_done t WHERE %s"
          + " GROUP BY t.namespace, t.state";

  private static final String COUNTERS =
      "SELECT namespace, state, sum(delta) FROM timewheel_count GROUP BY namespace, state";

  private final Connection connection;
  private final int shards;
  private final String finished;
  private final Findings findings = new Findings();
  private final StateCounts rows = new StateCounts();

  private Verifier(Connection connection, int shards, HistorySql history) {
    this.connection = connection;
    this.shards = shards;
    finished = FINISHED.formatted(history.counted());
  }

  /**
   * Compares all tables.
   *
   * @param connection in a transaction that {@link TransactionSql#beginSnapshot} has begun
   */
  static Findings verify(Connection connection, int shards, HistorySql history)
      throws SQLException {
    Verifier verifier = new Verifier(connection, shards, history);
    verifier.readTimers();
    for (ReadyIndex index : ReadyIndex.values()) {
      verifier.compare(index);
    }
    verifier.readHistory();
    verifier.each(RequestRows.ALL, verifier::readAnswer);
    verifier.compareCounters();
    return verifier.findings;
  }

  private interface Visitor {
    void visit(ResultSet row) throws SQLException;
  }

  private void each(String sql, Visitor visitor) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setFetchSize(FETCHED_ROWS);
      try (ResultSet found = statement.executeQuery()) {
        while (found.next()) {
          visitor.visit(found);
        }
      }
    }
  }

  private static TimerKey key(ResultSet row) throws SQLException {
    return new TimerKey(row.getString(1), row.getString(2));
  }

  private void readTimers() throws SQLException {
    each(TIMERS, this::readTimer);
  }

  private void readTimer(ResultSet row) throws SQLException {
    findings.timers(1);
    TimerKey key = key(row);
    int shard = row.getInt(3);
    int expected = Shards.of(key, shards);
    if (shard != expected) {
      String what = "in shard " + shard + " (expected: " + expected + ")";
      findings.add(Kind.MISPLACED, key, what, null);
    }
    try {
      TimerState state = Codes.STATES.at(row.getInt(4));
      rows.add(key.namespace(), state, 1);
      if (Rows.isQueue(row.getInt(8))) {
        rows.add(Scopes.queue(key.namespace(), row.getString(9)), state, 1);
      }
      boolean waits = row.getObject(5) != null;
      if (waits != TimerPages.INDEXED.contains(state)) {
        String what = "in state " + state + (waits ? " with" : " without") + " a time to fire at";
        findings.add(key, what);
      }
      TimerDefinition unusedSpec =
          RecordCodec.decodeSpec(row.getBytes(6), row.getString(9), false, new byte[0]);
      RecordCodec.Progress unused = RecordCodec.decodeProgress(row.getBytes(7));
    } catch (MalformedException | IllegalArgumentException e) {
      findings.add(key, "the record cannot be read: " + e.getMessage());
    }
  }

  private void compare(ReadyIndex index) throws SQLException {
    each(
        index.format(ORPHANS),
        row -> {
          ReadyRow ready = new ReadyRow(index, key(row), row.getString(3), row.getLong(4));
          String what =
              "a row in the ready index (%s %s, ready at %d), but %s"
                  .formatted(index.column(), ready.target(), ready.readyAt(), timerOf(index, row));
          findings.add(Kind.ORPHAN, ready.key(), what, ready);
        });
    each(
        index.format(UNLISTED),
        row -> {
          String what =
              "ready in %s %s, without a row in the ready index"
                  .formatted(index.column(), row.getString(3));
          findings.add(Kind.UNLISTED, key(row), what, null);
        });
  }

  private static String timerOf(ReadyIndex index, ResultSet orphan) throws SQLException {
    int state = orphan.getInt(5);
    if (orphan.wasNull()) {
      return "no such timer is unfinished";
    }
    return state == READY
        ? "its timer is ready in %s %s at %d"
            .formatted(index.column(), orphan.getString(6), orphan.getLong(7))
        : "its timer is in another state";
  }

  private void readHistory() throws SQLException {
    each(
        finished,
        row -> {
          findings.timers(row.getLong(3));
          rows.add(row.getString(1), Codes.STATES.at(row.getInt(2)), row.getLong(3));
        });
    each(
        REPEATED,
        row -> {
          long times = row.getLong(3);
          String unfinished = row.getLong(4) > 0 ? " and unfinished" : "";
          String what = "%d times in the history%s".formatted(times, unfinished);
          findings.add(Kind.REPEATED, key(row), what, null);
        });
  }

  private void readAnswer(ResultSet row) throws SQLException {
    try {
      RequestAnswer unused = RequestRows.answer(row);
    } catch (IllegalArgumentException e) {
      findings.addAnswer(key(row), row.getString(3), "cannot be read: " + e.getMessage());
    }
  }

  private void compareCounters() throws SQLException {
    StateCounts counters = new StateCounts();
    each(
        COUNTERS,
        row -> counters.add(row.getString(1), Codes.STATES.at(row.getInt(2)), row.getLong(3)));
    Set<String> scopes = new HashSet<>(rows.scopes());
    scopes.addAll(counters.scopes());
    for (String scope : scopes) {
      for (TimerState state : TimerState.values()) {
        if (counters.of(scope, state) != rows.of(scope, state)) {
          findings.count(scope, state, counters.of(scope, state), rows.of(scope, state));
        }
      }
    }
  }
}
