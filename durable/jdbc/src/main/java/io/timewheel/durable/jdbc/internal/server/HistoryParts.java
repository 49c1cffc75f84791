// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Empties the parts of a history one by one. */
public interface HistoryParts {
  /** {@return the number of parts} */
  int count();

  /** {@return when the last timer of a part finished; null if the part is empty} */
  @Nullable Long end(Connection connection, int part) throws SQLException;

  /**
   * Empties a part if all its rows finished before a time. Waits for transactions that have
   * uncommitted rows in the part, and excludes others until this transaction ends.
   */
  void empty(Connection connection, int part, long endedBefore) throws SQLException;
}
