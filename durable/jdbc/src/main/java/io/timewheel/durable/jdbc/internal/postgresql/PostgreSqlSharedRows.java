// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.postgresql;

import io.timewheel.durable.jdbc.internal.server.SharedRows;
import io.timewheel.durable.jdbc.internal.sql.Parameters;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.batch.StateCounts.Count;
import io.timewheel.durable.spi.format.Codes;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads and writes pauses, epochs and counters on PostgreSQL. */
final class PostgreSqlSharedRows implements SharedRows {
  static final String COUNT =
      "INSERT INTO timewheel_count SELECT * FROM unnest(?::text[], ?::integer[], ?::bigint[])";

  @Override
  public Answer<Set<String>> holdPauses(Statements to) {
    return to.query("SELECT scope FROM timewheel_pause FOR SHARE", none -> {}, SharedRows::scopes);
  }

  @Override
  public void count(Statements to, StateCounts deltas) {
    List<Count> rows = deltas.toList();
    to.update(COUNT, values -> counts(values, rows));
  }

  /** Binds the parameters of {@link #COUNT}. */
  static Parameters counts(Parameters to, List<Count> rows) throws SQLException {
    return to.texts(rows, Count::scope)
        .ints(rows, row -> Codes.STATES.of(row.state()))
        .longs(rows, Count::number);
  }

  @Override
  public Answer<Map<Integer, Long>> holdEpochs(Statements to, List<Integer> shards) {
    return to.query(
        "SELECT shard, epoch FROM timewheel_shard WHERE shard = ANY (?::integer[])"
            + " ORDER BY shard FOR SHARE",
        values -> values.ints(shards, shard -> shard),
        SharedRows::epochs);
  }
}
