// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import java.sql.Connection;
import java.sql.SQLException;

/** Begins and ends transactions: their isolation and their time limits. */
public interface TransactionSql {
  /**
   * Sets the limits of a transaction that commits changes, and checks the {@linkplain Formats
   * format}.
   *
   * @return the first version of a block that is this transaction's own, if one is wanted; it has
   *     room for all rounds of the largest write batch
   */
  Answer<Long> begin(Statements to, boolean wantsVersions) throws SQLException;

  /** The same for a transaction that commits a write batch, which waits for no lock for long. */
  default Answer<Long> beginBatch(Statements to, boolean wantsVersions) throws SQLException {
    return begin(to, wantsVersions);
  }

  /** The same for a transaction that commits something else, and asks for no version. */
  default void begin(Connection connection) throws SQLException {
    try (Statements to = new Statements(connection)) {
      Answer<Long> unused = begin(to, false);
      to.send();
    }
  }

  /**
   * {@return whether a write batch waits for a lock, for a moment; if not, a statement of it fails
   * at once if another transaction has the lock}
   */
  default boolean waitsBriefly() {
    return true;
  }

  /**
   * Sets whether the statements of a write batch that follow wait for a lock, for a moment. Where
   * they do not wait anyway, nothing is set.
   */
  default void waitForLocks(Statements to, boolean wait) {}

  /**
   * Begins a transaction whose reads all see the tables as of one moment, however long they take:
   * it lifts the time limits of the user's session for statements, transactions and idling.
   *
   * @param alone whether it excludes other transactions that begin in this way, until it ends
   */
  void beginSnapshot(Connection connection, boolean alone) throws SQLException;

  /** Restores the settings that the beginning has changed, after the transaction. */
  default void end(Connection connection) throws SQLException {}
}
