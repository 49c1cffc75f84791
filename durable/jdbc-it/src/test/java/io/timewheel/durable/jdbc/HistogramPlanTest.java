// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.internal.postgresql.PostgreSqlQueries;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Verifies PostgreSQL's plan of a histogram. */
class HistogramPlanTest {
  private static final long HOUR = 3_600_000;

  @Test
  void aShortSpanIsReadByTheDueIndex() throws SQLException {
    try (Fixture fixture = Fixture.withoutTables(Server.POSTGRESQL)) {
      Fixture.Node node = fixture.open();
      node.commit(schedule("a", NOW));
      fixture.execute(PageTest.COPY.formatted("'id-' || 10000 + n", "generate_series(1, 20000) n"));
      fixture.execute(
          "UPDATE timewheel_timer SET fire_at = due_at + 60000 * substr(id, 4)::bigint"
              + " WHERE id LIKE 'id-%'");
      fixture.execute("ANALYZE timewheel_timer");
      assertThat(plan(fixture, NOW + 200 * HOUR, NOW + 201 * HOUR)).contains("(shard = ANY");
      assertThat(plan(fixture, NOW, NOW + 10_000 * HOUR)).contains("Seq Scan");
    }
  }

  private static String plan(Fixture fixture, long from, long to) throws SQLException {
    try (Connection connection = fixture.pool.getConnection();
        PreparedStatement statement =
            connection.prepareStatement("EXPLAIN " + PostgreSqlQueries.HISTOGRAM + " GROUP BY 1")) {
      statement.setObject(1, new long[] {from, to});
      statement.setInt(2, 0);
      statement.setInt(3, 4);
      statement.setLong(4, from);
      statement.setLong(5, to);
      statement.setObject(6, IntStream.range(0, 64).toArray());
      StringBuilder plan = new StringBuilder();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          plan.append(rows.getString(1)).append('\n');
        }
      }
      return plan.toString();
    }
  }
}
