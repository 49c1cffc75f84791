// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.jdbc.internal.sql.Statements;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The statements for transactions in which the user has work of his own. */
public interface UserTransactions {
  /** {@return which tables a connection leads to: equal only if they are the same ones} */
  @Nullable String tables(Connection connection) throws SQLException;

  /**
   * What a transaction of the user is like.
   *
   * @param tables which tables it finds; null if there are none
   * @param readCommitted whether each statement sees what was committed before it
   * @param readOnly whether it can write nothing
   * @param firstVersion the first version of a block that is this call's own
   * @param settings what its settings were before
   */
  record Visit(
      @Nullable String tables,
      boolean readCommitted,
      boolean readOnly,
      long firstVersion,
      List<String> settings) {}

  /**
   * Looks at a transaction of the user, and makes the settings that the statements of a write batch
   * want.
   *
   * @throws IllegalStateException if the transaction has failed already
   */
  Visit enter(Connection connection) throws SQLException;

  /** Gives the transaction back the settings that it had. */
  void leave(Connection connection, Visit visit) throws SQLException;

  /** Marks where a call begins, for {@link #undo}. */
  default void mark(Connection connection) throws SQLException {}

  /**
   * Has a call that failed have done nothing: takes back what it has done since {@link #mark}, or
   * lets the transaction do nothing any more but roll back.
   */
  void undo(Connection connection, Exception failure);

  /**
   * Begins the transaction of a handler. From then on it may stand still for so long.
   *
   * @param own whether {@link TransactionSql#end} is called after it; if not, settings that would
   *     outlive it are the user's
   * @return by what {@link #endHandler} knows it
   */
  String beginHandler(Connection connection, long idleMillis, boolean own) throws SQLException;

  /**
   * Sets the limits of what is left of it when the handler has returned, and checks the {@linkplain
   * Formats format}.
   *
   * @return whether it is the transaction that was begun, and not one that has come after it
   */
  Statements.Answer<Boolean> endHandler(Statements to, String begun, boolean own)
      throws SQLException;
}
