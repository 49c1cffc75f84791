// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.handler;

import java.sql.Connection;

/** Begins and ends the transactions of handlers, as a framework does. */
public interface HandlerRunner {
  /**
   * Begins a transaction, works in it, and commits it, on the calling thread.
   *
   * @throws Exception if the work or the commit failed
   */
  void run(Work work) throws Exception;

  /** The work in a transaction. */
  interface Work {
    /** Calls the handler. */
    void handle(Connection connection) throws Exception;

    /** Records the success on the same connection. */
    void finish();
  }
}
