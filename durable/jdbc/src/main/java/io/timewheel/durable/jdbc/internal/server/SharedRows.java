// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.server;

import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import io.timewheel.durable.spi.batch.StateCounts;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads and writes the rows that many timers share: pauses, epochs of shards, and counters. */
public interface SharedRows {
  /** {@return the paused scopes, locked until the transaction ends} */
  Answer<Set<String>> holdPauses(Statements to) throws SQLException;

  /** {@return the epochs of shards, locked until the transaction ends} */
  Answer<Map<Integer, Long>> holdEpochs(Statements to, List<Integer> shards) throws SQLException;

  /** Adds to the counters of timers. */
  void count(Statements to, StateCounts deltas) throws SQLException;

  /** Reads pauses. */
  static Set<String> scopes(ResultSet rows) throws SQLException {
    Set<String> scopes = new HashSet<>();
    while (rows.next()) {
      String scope = rows.getString(1);
      if (scope != null) { // null in an outer join
        scopes.add(scope);
      }
    }
    return scopes;
  }

  /** Reads pauses by a statement. */
  static Set<String> scopes(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql);
        ResultSet rows = statement.executeQuery()) {
      return scopes(rows);
    }
  }

  /** Reads the epochs of shards. */
  static Map<Integer, Long> epochs(ResultSet rows) throws SQLException {
    Map<Integer, Long> epochs = new HashMap<>();
    while (rows.next()) {
      epochs.put(rows.getInt(1), rows.getLong(2));
    }
    return epochs;
  }
}
