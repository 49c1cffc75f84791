// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import java.sql.Connection;

/** Begins and ends the transactions of handlers, like a framework. */
public interface HandlerRunner {
  /**
   * Begins a transaction, runs the work in it, and commits it, on the calling thread.
   *
   * @throws Exception if the work or the commit failed
   */
  void run(Work work) throws Exception;

  /** Performs the work of a transaction. */
  interface Work {
    /** Calls the handler. */
    void handle(Connection connection) throws Exception;

    /** Records the success on the same connection. */
    void finish();
  }
}
