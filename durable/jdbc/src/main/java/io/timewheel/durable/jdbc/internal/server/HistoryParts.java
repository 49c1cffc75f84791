// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The parts of a history, which are emptied one by one. */
public interface HistoryParts {
  /** {@return the number of parts} */
  int count();

  /** {@return when the last timer of a part ended; null if the part is empty} */
  @Nullable Long end(Connection connection, int part) throws SQLException;

  /**
   * Empties a part if all its rows ended before a time. It waits for transactions that have rows of
   * the part and are not committed, and keeps others out until this transaction ends.
   */
  void empty(Connection connection, int part, long endedBefore) throws SQLException;
}
