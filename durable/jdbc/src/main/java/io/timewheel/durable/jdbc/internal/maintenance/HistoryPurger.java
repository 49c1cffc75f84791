// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.maintenance;

import io.timewheel.durable.jdbc.internal.server.HistoryParts;
import io.timewheel.durable.jdbc.internal.server.HistorySql;
import io.timewheel.durable.jdbc.internal.server.Queries;
import io.timewheel.durable.jdbc.internal.server.RequestRows;
import io.timewheel.durable.jdbc.internal.server.ServerErrors;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.SharedRows;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.jdbc.internal.sql.Log;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.batch.StateCounts;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Purges finished timers by moving a position forward. Rows of the history before the position are
 * no longer visible, and need not be deleted. The history has several parts. Timers that finish are
 * inserted into one part for a day, then into the next. A part without retained timers is emptied
 * as a whole. A database that cannot empty a part in a transaction has one part, and deletes the
 * purged rows.
 *
 * <h2>Why emptying a part loses no row</h2>
 *
 * <pre>
 *   a transaction that finishes a timer         the node that empties a part
 *   1 reads the current part                    1 finds that the part can be emptied
 *   2 takes a shared lock on that part          2 locks the part exclusively: waits for
 *   3 inserts its row                             all transactions at step 3
 *   4 commits                                   3 checks again that it can be emptied
 *                                               4 empties it, and commits
 * </pre>
 *
 * A transaction that stalls between its steps 1 and 2 inserts into a part that is no longer the
 * current one. The row is found and purged there like any other. The insert statement itself reads
 * the current part, so each statement can stall like this only once.
 */
public final class HistoryPurger {
  private static final long PART_MILLIS = TimeUnit.DAYS.toMillis(1);

  private final Transactions transactions;
  private final Queries queries;
  private final HistorySql history;
  private final RequestRows requests;
  private final TransactionSql sql;
  private final SharedRows shared;
  private final ServerErrors errors;

  public HistoryPurger(Transactions transactions, ServerParts server) {
    this.transactions = transactions;
    queries = server.queries();
    history = server.history();
    requests = server.requests();
    sql = server.transactions();
    shared = server.shared();
    errors = server.errors();
  }

  public int purge(long finishedBefore, long keep, int limit) {
    int purged = transactions.write(connection -> purge(connection, finishedBefore, keep, limit));
    HistoryParts parts = history.parts();
    if (parts != null && purged < limit) {
      turn(parts);
    }
    return purged;
  }

  /** Deletes answers of requests. Only one node does so at a time. */
  public int purgeAnswers(long answeredBefore, int limit) {
    return transactions.write(
        connection -> {
          sql.begin(connection);
          return history.lock(connection) == null
              ? 0
              : requests.purge(connection, answeredBefore, limit);
        });
  }

  private int purge(Connection connection, long finishedBefore, long keep, int limit)
      throws SQLException {
    sql.begin(connection);
    HistorySql.Position position = history.lock(connection);
    if (position == null) {
      return 0; // another node is purging
    }
    long surplus = queries.counts(connection).finished() - keep;
    List<HistorySql.Past> oldest = history.past(connection, position.purged(), limit);
    int purged = 0;
    while (purged < oldest.size()
        && (purged < surplus || oldest.get(purged).position().fireAt() < finishedBefore)) {
      purged++;
    }
    if (purged > 0) {
      List<HistorySql.Past> uncounted = history.purge(connection, oldest.subList(0, purged));
      StateCounts differences = new StateCounts();
      uncounted.forEach(
          past -> differences.add(past.position().key().namespace(), past.state(), -1));
      try (Statements to = new Statements(connection)) {
        shared.count(to, differences);
        to.send();
      }
    }
    return purged;
  }

  /** Empties parts without retained timers, and switches to an empty part after a day. */
  private void turn(HistoryParts parts) {
    boolean unused = transactions.write(connection -> startNextPart(connection, parts));
    for (int part = 0; part < parts.count(); part++) {
      int other = part;
      try {
        unused = transactions.writeOnce(connection -> emptyPart(connection, parts, other));
      } catch (StoreException e) {
        if (!(e.getCause() instanceof SQLException cause && errors.isHeldUp(cause))) {
          throw e;
        }
        Log.LOG.log(System.Logger.Level.DEBUG, "a part of the history is in use: emptied later", e);
      }
    }
  }

  private boolean startNextPart(Connection connection, HistoryParts parts) throws SQLException {
    sql.begin(connection);
    HistorySql.Position position = history.lock(connection);
    if (position == null || position.now() - position.since() < PART_MILLIS) {
      return false;
    }
    int next = (position.part() + 1) % parts.count();
    boolean isEmpty = parts.end(connection, next) == null;
    if (isEmpty) {
      history.startPart(connection, next);
    }
    return isEmpty;
  }

  private boolean emptyPart(Connection connection, HistoryParts parts, int part)
      throws SQLException {
    sql.begin(connection);
    HistorySql.Position position = history.lock(connection);
    if (position != null && position.part() != part) {
      parts.empty(connection, part, position.purged().fireAt());
    }
    return true;
  }
}
