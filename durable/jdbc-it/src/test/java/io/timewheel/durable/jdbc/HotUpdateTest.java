// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.internal.write.WriteBatch;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Verifies that a claim on PostgreSQL changes no index: its update is HOT. */
class HotUpdateTest {
  final Fixture fixture = Fixture.withoutTables(Server.of(this));
  final Fixture.Node node = fixture.start();

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void theUpdateOfAClaimIsHot() throws SQLException {
    node.commit(schedule("a", NOW));
    Change.Begin claim = node.begin("a");
    try (Connection connection = fixture.transaction();
        Statement statement = connection.createStatement()) {
      WriteBatch batch = node.store.writer().batch(List.of(claim));
      assertThat(batch.runIn(connection, 1))
          .extracting(Outcome::answer)
          .containsExactly(Outcome.Answer.APPLIED);
      String counters =
          "SELECT pg_stat_get_xact_tuples_updated(c), pg_stat_get_xact_tuples_hot_updated(c)"
              + " FROM (SELECT 'timewheel_timer'::regclass::oid AS c) t";
      try (ResultSet rows = statement.executeQuery(counters)) {
        rows.next();
        assertThat(rows.getLong(1)).isOne();
        assertThat(rows.getLong(2)).isOne();
      }
      connection.rollback();
    }
  }
}
