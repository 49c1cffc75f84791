// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import java.sql.Connection;
import java.util.List;

/** Handles many firings in one transaction, like {@link TransactionHandler} handles one. */
@FunctionalInterface
public interface TransactionBatchHandler {
  /**
   * Handles firings. The transaction commits all of them or none.
   *
   * @param firings the firings
   * @param connection the connection, as for {@link TransactionHandler#handle}
   * @throws Exception if the batch failed; each firing is then handled in a transaction of its own
   */
  void handle(List<TransactionFiring> firings, Connection connection) throws Exception;
}
