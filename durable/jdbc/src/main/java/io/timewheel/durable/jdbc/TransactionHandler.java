// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import java.sql.Connection;

/**
 * What is done when a durable timer fires, in the transaction that records its success: both are
 * committed, or neither is. So what it does through the connection happens exactly once, whatever
 * is killed, and although the handler itself may be called more often.
 *
 * <p>It is rolled back, and tried again by the timer's retry policy, if the handler throws, if the
 * connection breaks, if the shard has another owner by then, and if it waits at its end for more
 * than half a second for its timer, which a transaction of a user may hold. What it does elsewhere,
 * such as a mail that it sends, is not taken back.
 */
@FunctionalInterface
public interface TransactionHandler {
  /**
   * Handles a firing.
   *
   * @param firing what fires
   * @param connection in a transaction with isolation READ COMMITTED, for this call only. It
   *     refuses to commit, to roll back but to a savepoint, and to be closed. The server ends the
   *     transaction if nothing is asked of it for ten seconds
   * @throws Exception if the attempt failed
   */
  void handle(TransactionFiring firing, Connection connection) throws Exception;
}
