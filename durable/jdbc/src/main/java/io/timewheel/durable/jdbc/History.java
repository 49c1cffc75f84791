// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.DuePosition;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Forgets finished timers. To forget is to move a position ahead, behind which the history is not
 * seen any more. Rows need not be deleted for it: the history is written to one of a few parts, to
 * the next one after a day, and a part of which nothing is remembered is emptied as a whole. A
 * database that cannot do that in a transaction has one part, and deletes what it forgets.
 */
final class History {
  private static final long PART_MILLIS = TimeUnit.DAYS.toMillis(1);

  private final Transactions transactions;
  private final Queries queries;
  private final Dialect dialect;
  private volatile int part;

  History(Transactions transactions, Dialect dialect) {
    this.transactions = transactions;
    this.dialect = dialect;
    queries = dialect.queries();
    part = transactions.read(queries::historyPart);
  }

  /** Where finished timers are put. A node that has not heard of the latest does no harm. */
  int part() {
    return part;
  }

  int forget(long finishedBefore, long keep, int limit) {
    int forgotten =
        transactions.write(connection -> forget(connection, finishedBefore, keep, limit));
    if (forgotten < limit && queries.parts() > 1) {
      transactions.write(this::turn);
      part = transactions.read(queries::historyPart);
    }
    return forgotten;
  }

  private int forget(Connection connection, long finishedBefore, long keep, int limit)
      throws SQLException {
    dialect.begin(connection);
    Queries.History history = queries.lockHistory(connection);
    if (history == null) {
      return 0; // another node is at it
    }
    long surplus = finished(queries.counts(connection)) - keep;
    Map<String, Map<TimerState, Long>> counts = new HashMap<>();
    DuePosition position = history.forgotten();
    int forgotten = 0;
    List<Queries.Past> oldest = queries.past(connection, position, limit);
    for (Queries.Past past : oldest) {
      if (forgotten >= surplus && past.position().fireAt() >= finishedBefore) {
        break;
      }
      forgotten++;
      position = past.position();
      counts
          .computeIfAbsent(position.key().namespace(), same -> new EnumMap<>(TimerState.class))
          .merge(past.state(), -1L, Long::sum);
    }
    if (forgotten > 0) {
      queries.forgetUpTo(connection, position);
      try (Statements to = new Statements(connection)) {
        dialect.count(to, counts);
        to.send();
      }
    }
    return forgotten;
  }

  private static long finished(Map<String, Map<TimerState, Long>> counts) {
    long finished = 0;
    for (Map<TimerState, Long> states : counts.values()) {
      for (Map.Entry<TimerState, Long> state : states.entrySet()) {
        finished += state.getKey().isFinished() ? state.getValue() : 0;
      }
    }
    return finished;
  }

  /** Empties a part of which nothing is remembered, and goes on to an empty part after a day. */
  private boolean turn(Connection connection) throws SQLException {
    dialect.begin(connection);
    Queries.History history = queries.lockHistory(connection);
    if (history == null) {
      return false;
    }
    int next = (history.part() + 1) % queries.parts();
    boolean due = history.now() - history.since() >= PART_MILLIS;
    if (due && queries.endOfPart(connection, next) == null) {
      queries.startPart(connection, next);
      return true;
    }
    for (int other = 0; other < queries.parts(); other++) {
      Long end = other == history.part() ? null : queries.endOfPart(connection, other);
      if (end != null && end < history.forgotten().fireAt()) {
        queries.emptyPart(connection, other);
      }
    }
    return true;
  }
}
