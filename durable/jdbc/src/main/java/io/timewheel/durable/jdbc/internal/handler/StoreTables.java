// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.UserTransactions;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.spi.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Identifies the tables of the store, and checks whether a connection leads to them. Thread-safe.
 */
public final class StoreTables {
  private final Transactions transactions;
  private final Formats formats;
  private final UserTransactions statements;
  private volatile @Nullable String known;

  public StoreTables(Transactions transactions, ServerParts server) {
    this.transactions = transactions;
    formats = server.formats();
    statements = server.userTransactions();
    known = read();
  }

  private @Nullable String read() {
    return transactions
        .read(connection -> Optional.ofNullable(statements.tables(connection)))
        .orElse(null);
  }

  /**
   * Checks a transaction of the user, and applies the settings that a write batch needs.
   *
   * @throws IllegalStateException if the transaction cannot be used for timers; it is then
   *     unchanged
   */
  UserTransactions.Visit enter(Connection connection) throws SQLException {
    if (connection.getAutoCommit()) {
      throw new IllegalStateException(
          "connection: in auto-commit mode (expected: in a transaction)");
    }
    UserTransactions.Visit visit = statements.enter(connection);
    try {
      check(visit);
      formats.checkInUse(connection);
    } catch (IllegalStateException | StoreException e) { // the transaction stays usable
      statements.leave(connection, visit);
      throw e;
    }
    return visit;
  }

  /**
   * Checks a transaction of the user without changing its settings.
   *
   * @throws IllegalStateException if the transaction cannot be used for timers
   */
  void check(Connection connection) throws SQLException {
    statements.leave(connection, enter(connection));
  }

  private void check(UserTransactions.Visit visit) {
    if (visit.tables() == null) {
      throw new IllegalStateException(
          "connection: no tables of timers in its default schema (expected: the database and the"
              + " schema of the store)");
    }
    if (!areThoseOfStore(visit.tables())) {
      throw new IllegalStateException(
          "connection: leads to other tables of timers (expected: the database and the schema of"
              + " the store)");
    }
    if (visit.readOnly()) {
      throw new IllegalStateException(
          "connection: its transaction is read-only (expected: one that writes, on the primary"
              + " server)");
    }
    if (!visit.readCommitted()) {
      throw new IllegalStateException(
          "connection: its transaction does not see what others commit (expected: isolation READ"
              + " COMMITTED)");
    }
  }

  /**
   * Returns whether tables are those of the store. If not, reads the store's identity again,
   * because its data may have moved to another server.
   */
  private boolean areThoseOfStore(String others) {
    if (!others.equals(known)) {
      known = read();
    }
    return others.equals(known);
  }
}
