// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.jdbc.internal.sql.Statements;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Executes the statements for transactions that contain work of the user. */
public interface UserTransactions {
  /**
   * {@return an identification of the tables that a connection leads to, equal only for the same
   * ones}
   */
  @Nullable String tables(Connection connection) throws SQLException;

  /**
   * Describes a transaction of the user.
   *
   * @param tables identifies its tables; null if there are none
   * @param readCommitted true if each statement sees earlier commits of others
   * @param readOnly true if the transaction cannot write
   * @param firstVersion the first version of a block for this call
   * @param settings the settings before the call
   */
  record Visit(
      @Nullable String tables,
      boolean readCommitted,
      boolean readOnly,
      long firstVersion,
      List<String> settings) {}

  /**
   * Reads the state of a transaction of the user, and applies the settings that a write batch
   * needs.
   *
   * @throws IllegalStateException if the transaction has failed already
   */
  Visit enter(Connection connection) throws SQLException;

  /** Restores the settings of the transaction. */
  void leave(Connection connection, Visit visit) throws SQLException;

  /** Marks the start of a call, for {@link #undo}. */
  default void mark(Connection connection) throws SQLException {}

  /**
   * Undoes the changes of a failed call since {@link #mark}. If the server cannot do that, makes
   * the transaction accept nothing except a rollback.
   */
  void undo(Connection connection, Exception failure);

  /**
   * Begins the transaction of a handler, and sets its idle timeout.
   *
   * @param own true if {@link TransactionSql#end} is called after it; if false, settings that would
   *     outlive the transaction stay those of the user
   * @return identifies the transaction for {@link #endHandler}
   */
  String beginHandler(Connection connection, long idleMillis, boolean own) throws SQLException;

  /**
   * Sets the limits for the rest of the transaction after the handler has returned, and checks the
   * format of the tables.
   *
   * @return whether this is the transaction that was begun, and not a later one
   */
  Statements.Answer<Boolean> endHandler(Statements to, String begun, boolean own)
      throws SQLException;
}
