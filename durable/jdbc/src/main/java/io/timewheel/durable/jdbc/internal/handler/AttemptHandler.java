// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import java.sql.Connection;
import java.util.List;

/** Handles attempts in the transaction that records their ends. */
public interface AttemptHandler {
  /**
   * Handles attempts, all or none.
   *
   * @throws Exception if they failed
   */
  void handle(List<HandlerAttempt> attempts, Connection connection) throws Exception;
}
