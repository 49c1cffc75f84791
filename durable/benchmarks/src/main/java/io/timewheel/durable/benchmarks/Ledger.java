// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import io.timewheel.durable.jdbc.TransactionFiring;
import io.timewheel.durable.jdbc.TransactionTimers;
import io.timewheel.durable.spi.FinishingHandler;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;

/**
 * Handlers whose effect is a row in a table without a key, in the transaction that finishes the
 * timer.
 */
final class Ledger {
  private static final int HANDLERS = 8;
  private static final int MAX_BATCH = 500;
  private static final String INSERT = "INSERT INTO ledger VALUES (?, ?)";

  private Ledger() {}

  static Subject oneByOne(ServerPlace place, int nodes, Subject.OnFire onFire) throws Exception {
    return open(
        place,
        nodes,
        HANDLERS,
        HANDLERS,
        timers ->
            timers.handler(
                (firing, connection) -> {
                  insert(firing, connection);
                  onFire.fired(firing.id());
                }));
  }

  static Subject inBatches(ServerPlace place, int nodes, Subject.OnFire onFire) throws Exception {
    return batches(
        place,
        nodes,
        onFire,
        (firings, connection) -> {
          for (TransactionFiring firing : firings) {
            insert(firing, connection);
          }
        });
  }

  static Subject inJdbcBatches(ServerPlace place, int nodes, Subject.OnFire onFire)
      throws Exception {
    return batches(
        place,
        nodes,
        onFire,
        (firings, connection) -> {
          try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
            for (TransactionFiring firing : firings) {
              set(statement, firing);
              statement.addBatch();
            }
            statement.executeBatch();
          }
        });
  }

  private interface Effects {
    void insert(List<TransactionFiring> firings, Connection connection) throws SQLException;
  }

  private static Subject batches(
      ServerPlace place, int nodes, Subject.OnFire onFire, Effects effects) throws Exception {
    return open(
        place,
        nodes,
        2 * MAX_BATCH,
        2,
        timers ->
            timers.batchHandler(
                (firings, connection) -> {
                  effects.insert(firings, connection);
                  firings.forEach(firing -> onFire.fired(firing.id()));
                },
                MAX_BATCH));
  }

  private static Subject open(
      ServerPlace place,
      int nodes,
      int limit,
      int connections,
      Function<TransactionTimers, FinishingHandler> handler)
      throws Exception {
    place.database().execute("CREATE TABLE ledger (id varchar(64), attempt integer)");
    return ClusterSubject.start(
        place,
        nodes,
        connections,
        (builder, store) ->
            builder.finishingHandler(
                TimewheelSubject.HANDLER, handler.apply(TransactionTimers.of(store)), limit));
  }

  private static void insert(TransactionFiring firing, Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
      set(statement, firing);
      statement.executeUpdate();
    }
  }

  private static void set(PreparedStatement statement, TransactionFiring firing)
      throws SQLException {
    statement.setString(1, firing.id());
    statement.setInt(2, firing.attempt());
  }
}
