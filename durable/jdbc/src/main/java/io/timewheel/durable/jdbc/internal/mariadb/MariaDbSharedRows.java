// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.mariadb;

import io.timewheel.durable.jdbc.internal.server.SharedRows;
import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.format.Codes;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads and writes pauses, epochs and counters on MariaDB. */
final class MariaDbSharedRows implements SharedRows {
  @Override
  public Answer<Set<String>> holdPauses(Statements to) throws SQLException {
    // This row stands for all pauses that do not exist yet, because missing rows cannot be locked.
    Set<String> scopes =
        SharedRows.scopes(
            to.connection(),
            "SELECT p.scope FROM timewheel_meta m LEFT JOIN timewheel_pause p ON TRUE"
                + " WHERE m.name = 'pauses' "
                + MariaDbExpressions.FOR_SHARE);
    return () -> scopes;
  }

  @Override
  public void count(Statements to, StateCounts deltas) throws SQLException {
    insertCounts(to.connection(), deltas);
  }

  static void insertCounts(Connection connection, StateCounts deltas) throws SQLException {
    MariaDbRows.insert(
        connection,
        "INSERT INTO timewheel_count (namespace, state, delta)",
        3,
        deltas.toList(),
        (to, row) ->
            to.text(row.scope()).number(Codes.STATES.of(row.state())).number(row.number()));
  }

  @Override
  public Answer<Map<Integer, Long>> holdEpochs(Statements to, List<Integer> shards)
      throws SQLException {
    String sql =
        "SELECT shard, epoch FROM timewheel_shard FORCE INDEX (PRIMARY) WHERE shard IN ("
            + MariaDbExpressions.marks(shards.size())
            + ") ORDER BY shard "
            + MariaDbExpressions.FOR_SHARE;
    try (PreparedStatement statement = to.connection().prepareStatement(sql)) {
      Parameters values = new Parameters(to.connection(), statement);
      for (int shard : shards) {
        values.number(shard);
      }
      try (ResultSet rows = statement.executeQuery()) {
        Map<Integer, Long> epochs = SharedRows.epochs(rows);
        return () -> epochs;
      }
    }
  }
}
