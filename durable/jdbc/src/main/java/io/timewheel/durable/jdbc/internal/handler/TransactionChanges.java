// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import io.timewheel.durable.jdbc.internal.server.ServerErrors;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.UserTransactions;
import io.timewheel.durable.jdbc.internal.write.BatchWriter;
import io.timewheel.durable.spi.ChangeStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Applies the changes of each call in one transaction of the user, all or none; neither commits nor
 * rolls back. Not thread-safe, like its connection.
 */
public final class TransactionChanges implements ChangeStore {
  /** Keeps the payloads of one write batch within its size limit. */
  private static final int BATCH = 200;

  private final BatchWriter writer;
  private final StoreTables tables;
  private final ServerErrors errors;
  private final Connection connection;
  private final UserTransactions statements;

  public TransactionChanges(
      BatchWriter writer, ServerParts server, StoreTables tables, Connection connection) {
    this.writer = writer;
    errors = server.errors();
    this.tables = tables;
    this.connection = connection;
    statements = server.userTransactions();
  }

  @Override
  public List<Outcome> commit(List<Change> changes) {
    try {
      return write(changes);
    } catch (SQLException e) {
      throw new StoreException(
          errors.kind(e),
          "the database: "
              + e.getMessage()
              + " ("
              + e.getSQLState()
              + "); the transaction can only be rolled back",
          e);
    }
  }

  private List<Outcome> write(List<Change> changes) throws SQLException {
    List<Outcome> outcomes = new ArrayList<>();
    boolean marked = false;
    try {
      for (int from = 0; from < changes.size(); from += BATCH) {
        List<Change> batch = changes.subList(from, Math.min(changes.size(), from + BATCH));
        UserTransactions.Visit visit = tables.enter(connection);
        if (!marked) {
          statements.mark(connection);
          marked = true;
        }
        outcomes.addAll(writer.unheardBatch(batch).runIn(connection, visit.firstVersion()));
        statements.leave(connection, visit);
      }
      return outcomes;
    } catch (SQLException | RuntimeException e) {
      if (marked) {
        statements.undo(connection, e);
      }
      throw e;
    }
  }
}
