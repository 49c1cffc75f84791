// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import io.timewheel.durable.jdbc.TransactionFiring;
import io.timewheel.durable.jdbc.TransactionTimers;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.spi.FinishingHandler;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;

/**
 * Handlers whose effect is a row in a table without a key, in the transaction that completes the
 * timer.
 */
final class Ledger {
  /** The number of concurrent handlers of single timers, and so of their transactions. */
  static final int HANDLERS = 8;

  /** The number of concurrent handlers of batches. */
  static final int BATCH_HANDLERS = 2;

  /** The largest number of timers in a batch. */
  static final int MAX_BATCH = 500;

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
                  insert(connection, firing.id(), firing.attempt());
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
            insert(connection, firing.id(), firing.attempt());
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
              set(statement, firing.id(), firing.attempt());
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
        BATCH_HANDLERS * MAX_BATCH,
        BATCH_HANDLERS,
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
    create(place.database());
    return ClusterSubject.start(
        place,
        nodes,
        connections,
        (builder, store) ->
            builder.finishingHandler(
                TimewheelSubject.HANDLER, handler.apply(TransactionTimers.of(store)), limit));
  }

  /** Creates the table of effects. */
  static void create(Database database) throws SQLException {
    database.execute("CREATE TABLE ledger (id varchar(64), attempt integer)");
  }

  /** Inserts the effect of one attempt. */
  static void insert(Connection connection, String id, int attempt) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(INSERT)) {
      set(statement, id, attempt);
      statement.executeUpdate();
    }
  }

  private static void set(PreparedStatement statement, String id, int attempt) throws SQLException {
    statement.setString(1, id);
    statement.setInt(2, attempt);
  }
}
