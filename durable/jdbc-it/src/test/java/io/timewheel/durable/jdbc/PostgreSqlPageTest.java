// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.internal.server.Queries;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Verifies that a page costs the same, however many timers there are. A table that has grown from
 * empty has no statistics at first.
 */
class PostgreSqlPageTest {
  private static final int PAGE = 100;

  private final Fixture fixture = Fixture.withoutTables(Server.POSTGRESQL);
  private final Fixture.Node node = fixture.open();

  @BeforeEach
  void makeTimers() throws SQLException {
    node.commit(schedule("a", NOW));
    fixture.execute(PageTest.COPY.formatted("'id-' || 100000 + n", "generate_series(1, 20000) n"));
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private Queries queries() {
    return node.store.server().queries();
  }

  private static long rowsRead(Connection connection) throws SQLException {
    Sql.text(connection, "SELECT pg_stat_force_next_flush()");
    return Sql.number(
        connection,
        "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables"
            + " WHERE relid = 'timewheel_timer'::regclass");
  }

  private static TimerQuery all(String namespace) {
    EnumSet<TimerState> all = EnumSet.allOf(TimerState.class);
    return new TimerQuery(namespace, "", all, Long.MIN_VALUE, Long.MAX_VALUE, null, false);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPageByIdReadsOnlyItsRows(boolean analyzed) throws SQLException {
    if (analyzed) {
      fixture.execute("ANALYZE timewheel_timer");
    }
    for (String namespace : new String[] {null, "shop"}) {
      try (Connection connection = fixture.pool.getConnection()) {
        long before = rowsRead(connection);
        DuePosition after = new DuePosition(0, key("id-105000"));
        List<TimerRecord> page =
            queries().page(connection, all(namespace), TimerOrder.ID, after, PAGE).records();
        assertThat(page).hasSize(PAGE).first().returns(key("id-105001"), TimerRecord::key);
        assertThat(rowsRead(connection) - before).isBetween((long) PAGE, 10L * PAGE);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void dueTimersAreReadByTheirIndex(boolean analyzed) throws SQLException {
    fixture.execute(
        "UPDATE timewheel_timer SET fire_at = fire_at + right(id, 5)::integer"
            + " WHERE id > 'id'");
    if (analyzed) {
      fixture.execute("ANALYZE timewheel_timer");
    }
    try (Connection connection = fixture.pool.getConnection()) {
      int shard = (int) Sql.number(connection, "SELECT shard FROM timewheel_timer WHERE id = 'a'");
      long before = rowsRead(connection);
      List<DueTimer> due =
          queries().due(connection, shard, NOW + 5_000, Long.MAX_VALUE, null, PAGE);
      assertThat(due).hasSize(PAGE);
      assertThat(rowsRead(connection) - before).isBetween((long) PAGE, 10L * PAGE);
    }
  }

  @Test
  void theSettingsOfAReadEndWithIt() throws SQLException {
    try (Connection connection = fixture.pool.getConnection()) {
      queries().page(connection, all("shop"), TimerOrder.ID, null, PAGE);
      assertThat(Sql.text(connection, "SHOW enable_seqscan")).isEqualTo("on");
      assertThat(Sql.text(connection, "SHOW enable_bitmapscan")).isEqualTo("on");
    }
  }
}
