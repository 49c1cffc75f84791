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
   * Returns the same argument. Servers that can read it in the round trip of the waiting statements
   * do so; others read it when the answer is requested.
   */
  default Answer<Optional<String>> transactionId(Statements to) {
    return () -> Optional.ofNullable(transactionId(to.connection()));
  }

  /**
   * Looks up the outcome of a transaction. The caller rolls back the transaction of the lookup.
   *
   * @return whether the transaction was committed; null while it is in progress, or while the
   *     server may lack committed changes
   */
  @Nullable Boolean isCommitted(Connection connection, String transactionId) throws SQLException;

  /**
   * Commits a meaningless change, outside of a transaction, if a commit waits for a standby or for
   * the disk, for which {@link #isCommitted} does not wait. When this commit is durable, so are all
   * earlier ones.
   */
  default void touch(Connection connection) throws SQLException {}

  /**
   * {@return an expression that identifies the writing server; another one may have lost commits}
   */
  String writingServer();
}
