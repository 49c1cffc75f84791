// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import java.sql.Connection;

/**
 * Handles a firing of a durable timer in the transaction that records its success. Both are
 * committed, or neither is. So the handler's changes through the connection take effect exactly
 * once, even after a crash or a failover. The handler itself may be called more than once.
 *
 * <p>The transaction is rolled back, and retried by the timer's retry policy, in four cases. The
 * handler throws. The connection breaks. The shard has a new owner. Or the commit waits more than
 * 0.5 s for the timer, which a transaction of a user may hold. Other effects, such as a mail that
 * the handler sends, are not undone.
 */
@FunctionalInterface
public interface TransactionHandler {
  /**
   * Handles a firing.
   *
   * @param firing the firing
   * @param connection a connection in a transaction with isolation READ COMMITTED, for this call
   *     only. It refuses to commit, to close, and to roll back except to a savepoint. The server
   *     ends the transaction after 10 s without a statement
   * @throws Exception if the attempt failed
   */
  void handle(TransactionFiring firing, Connection connection) throws Exception;
}
