// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import java.sql.Connection;

/**
 * Begins and ends the transactions of handlers. Implement it if a framework must do so, so that
 * code called from the handler finds the framework's transaction: {@link
 * TransactionTimers#handler(TransactionHandler, TransactionRunner)}.
 *
 * <pre>{@code
 * TransactionRunner runner = work -> {
 *   try (Connection connection = dataSource.getConnection()) {
 *     connection.setAutoCommit(false);
 *     try {
 *       work.handle(connection);
 *       work.finish();
 *     } catch (Throwable e) {
 *       connection.rollback();
 *       throw e;
 *     }
 *     connection.commit();
 *   }
 * };
 * }</pre>
 */
@FunctionalInterface
public interface TransactionRunner {
  /**
   * Begins a transaction, runs the work in it, and commits it, on the calling thread.
   *
   * @param work the work: call {@code handle} and then {@code finish}, once each
   * @throws Exception the exception of the work, after a rollback, or the reason why no transaction
   *     began. After a failure during or after the commit, the store looks up the outcome
   */
  void run(Work work) throws Exception;

  /** Performs the work of a transaction. */
  interface Work {
    /**
     * Calls the handler.
     *
     * @param connection a connection to the database and the schema of the store, not in
     *     auto-commit mode, in a new transaction with isolation READ COMMITTED
     * @throws Exception if the attempt failed; the transaction must be rolled back
     */
    void handle(Connection connection) throws Exception;

    /**
     * Records the success on the same connection. From then on the transaction holds locks that
     * other nodes wait for, and the server limits their duration. So the handler makes its last
     * writes before this call, and the commit follows at once.
     *
     * @throws RuntimeException if the transaction must be rolled back
     */
    void finish();
  }
}
