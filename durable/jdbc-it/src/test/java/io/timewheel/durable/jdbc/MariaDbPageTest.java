// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Verifies that a page costs the same, however many timers there are. */
class MariaDbPageTest {
  private static final int PAGE = 10;

  private final Fixture fixture = Fixture.withoutTables(Server.MARIADB);
  private final Fixture.Node node = fixture.open();

  @BeforeEach
  void makeTimers() throws SQLException {
    node.commit(schedule("a", NOW));
    node.commit(new Change.Cancel(key("a"), 0, NOW));
    fixture.execute(
        "INSERT INTO timewheel_done SELECT version, due_at, created_at, changed_at + seq, revision,"
            + " attempt, state, flags, namespace, concat('id-', 10000 + seq), handler, spec,"
            + " progress, payload_hash FROM timewheel_done, seq_1_to_5000");
    node.commit(schedule("b", NOW));
    fixture.execute(
        "INSERT INTO timewheel_timer SELECT version, due_at, fire_at, created_at, changed_at,"
            + " revision, shard, attempt, state, flags, namespace, concat('id-', 10000 + seq),"
            + " handler, spec, progress, payload FROM timewheel_timer, seq_1_to_5000");
    fixture.execute("ANALYZE TABLE timewheel_done, timewheel_timer");
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private static TimerQuery finished(String namespace, String prefix) {
    return query(namespace, prefix, TimerState.COMPLETED, TimerState.CANCELLED);
  }

  private static TimerQuery query(String namespace, String prefix, TimerState... states) {
    return new TimerQuery(
        namespace, prefix, Set.of(states), Long.MIN_VALUE, Long.MAX_VALUE, "orders", false);
  }

  private void assertReadsOnePage(TimerQuery query, TimerKey after, String first)
      throws SQLException {
    try (Connection connection = fixture.pool.getConnection()) {
      long before = rowsRead(connection);
      DuePosition position = after == null ? null : new DuePosition(0, after);
      List<TimerRecord> page =
          node.store
              .server()
              .queries()
              .page(connection, query, TimerOrder.ID, position, PAGE)
              .records();
      assertThat(rowsRead(connection) - before).isLessThan(10 * PAGE);
      assertThat(page).hasSize(PAGE).first().returns(key(first), TimerRecord::key);
    }
  }

  private static long rowsRead(Connection connection) throws SQLException {
    return Sql.number(
        connection,
        "SELECT variable_value FROM information_schema.session_status"
            + " WHERE variable_name = 'ROWS_READ'");
  }

  @Test
  void ofAll() throws SQLException {
    assertReadsOnePage(finished(null, ""), null, "a");
    assertReadsOnePage(finished(null, ""), key("id-12499"), "id-12500");
  }

  @Test
  void ofANamespace() throws SQLException {
    assertReadsOnePage(finished("shop", ""), null, "a");
    assertReadsOnePage(finished("shop", ""), key("id-12499"), "id-12500");
  }

  @Test
  void ofAPrefix() throws SQLException {
    assertReadsOnePage(finished("shop", "id-1"), null, "id-10001");
    assertReadsOnePage(finished("shop", "id-1"), key("id-12499"), "id-12500");
  }

  @Test
  void ofUnfinishedTimers() throws SQLException {
    assertReadsOnePage(query("shop", "", TimerState.SCHEDULED), null, "b");
    assertReadsOnePage(query("shop", "", TimerState.SCHEDULED), key("id-12499"), "id-12500");
    assertReadsOnePage(query(null, "", TimerState.SCHEDULED), key("id-12499"), "id-12500");
  }

  @Test
  void ofBoth() throws SQLException {
    TimerQuery all = query("shop", "", TimerState.SCHEDULED, TimerState.CANCELLED);
    assertReadsOnePage(all, null, "a");
  }
}
