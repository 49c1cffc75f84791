// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import java.sql.Connection;
import java.util.List;

/** What is done when many durable timers fire, as {@link TransactionHandler} does it for one. */
@FunctionalInterface
public interface TransactionBatchHandler {
  /**
   * Handles firings, all or none.
   *
   * @param firings what fires
   * @param connection as for {@link TransactionHandler#handle}
   * @throws Exception if it failed; then each of the firings is handled by itself
   */
  void handle(List<TransactionFiring> firings, Connection connection) throws Exception;
}
