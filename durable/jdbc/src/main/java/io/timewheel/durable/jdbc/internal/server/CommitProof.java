// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Proves whether a transaction was committed when the answer to its COMMIT was lost. */
public interface CommitProof {
  /** {@return the argument of {@link #isCommitted}; null if there is nothing to commit} */
  @Nullable String transactionId(Connection connection) throws SQLException;

  /**
   * Asks for the same: together with the statements that wait to be sent, where the server can do
   * that, and otherwise when the answer is read.
   */
  default Answer<Optional<String>> transactionId(Statements to) {
    return () -> Optional.ofNullable(transactionId(to.connection()));
  }

  /**
   * Asks in a transaction of its own, which is rolled back.
   *
   * @return whether a transaction was committed; null while it is in progress, or the server has
   *     not got to know all that was committed
   */
  @Nullable Boolean isCommitted(Connection connection, String transactionId) throws SQLException;

  /**
   * Commits something without a meaning, outside of a transaction, if its commit waits for more
   * than {@link #isCommitted} does: a standby, which has all earlier commits as soon as it has this
   * one.
   */
  default void touch(Connection connection) throws SQLException {}

  /** {@return an expression for the server that writes: another one may have lost commits} */
  String writingServer();
}
