// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import java.sql.Connection;
import java.util.List;

/** Handles attempts in the transaction that records their completion. */
public interface AttemptHandler {
  /**
   * Handles attempts. The transaction commits all of them or none.
   *
   * @throws Exception if the batch failed
   */
  void handle(List<HandlerAttempt> attempts, Connection connection) throws Exception;
}
