// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import java.sql.Connection;

/**
 * Begins and ends the transactions of handlers, where a framework has to do that, so that what is
 * called from a handler finds them: {@link TransactionTimers#handler(TransactionHandler,
 * TransactionRunner)}.
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
   * Begins a transaction, works in it, and commits it, on the calling thread.
   *
   * @param work to be handled and then finished, once each
   * @throws Exception what the work has thrown, after a rollback; or why there is no transaction;
   *     or what has failed in a commit or after it, whose outcome is then asked for
   */
  void run(Work work) throws Exception;

  /** What is done in a transaction. */
  interface Work {
    /**
     * Calls the handler.
     *
     * @param connection to the database and the schema of the store, in a transaction that has done
     *     nothing yet, not in auto-commit mode, with isolation READ COMMITTED
     * @throws Exception if the attempt failed, and the transaction is to be rolled back
     */
    void handle(Connection connection) throws Exception;

    /**
     * Records the success on the same connection. From then on locks are held that others wait for,
     * and the server limits how long: what the handler has yet to write is written before, and the
     * commit follows.
     *
     * @throws RuntimeException if the transaction is to be rolled back
     */
    void finish();
  }
}
