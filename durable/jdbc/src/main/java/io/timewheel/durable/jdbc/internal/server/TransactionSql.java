// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import java.sql.Connection;
import java.sql.SQLException;

/** Begins and ends transactions, and sets their isolation and their time limits. */
public interface TransactionSql {
  /**
   * Sets the limits of a transaction that commits changes, and checks the {@linkplain Formats
   * format}.
   *
   * @return the first version of a block for this transaction, if it wants versions; the block is
   *     large enough for all rounds of the largest write batch
   */
  Answer<Long> begin(Statements to, boolean wantsVersions) throws SQLException;

  /** Begins a transaction that commits a write batch, which waits only briefly for locks. */
  default Answer<Long> beginBatch(Statements to, boolean wantsVersions) throws SQLException {
    return begin(to, wantsVersions);
  }

  /** Begins a transaction that commits other changes, and needs no versions. */
  default void begin(Connection connection) throws SQLException {
    try (Statements to = new Statements(connection)) {
      Answer<Long> unused = begin(to, false);
      to.send();
    }
  }

  /**
   * {@return whether a write batch waits briefly for a lock; if not, a statement fails immediately
   * if another transaction has the lock}
   */
  default boolean waitsBriefly() {
    return true;
  }

  /**
   * Sets whether the next statements of a write batch wait briefly for a lock. Has no effect if the
   * server's write batches never wait.
   */
  default void waitForLocks(Statements to, boolean wait) {}

  /**
   * Begins a transaction whose reads all see the tables as of one moment, however long they take.
   * Lifts the time limits of the user's session for statements, transactions and idle time.
   *
   * @param exclusive whether to exclude other transactions that begin in this way, until it ends
   */
  void beginSnapshot(Connection connection, boolean exclusive) throws SQLException;

  /** Restores the changed settings, after the transaction. */
  default void end(Connection connection) throws SQLException {}
}
