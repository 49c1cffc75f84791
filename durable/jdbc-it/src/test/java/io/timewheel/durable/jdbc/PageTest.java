// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.internal.read.Releasables;
import io.timewheel.durable.jdbc.internal.server.Queries;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PageTest {
  final Fixture fixture = Fixture.withoutTables(Server.of(this));
  final Fixture.Node node = fixture.open();

  @AfterEach
  void close() {
    fixture.close();
  }

  private TimerPage page(boolean payload, int limit) {
    EnumSet<TimerState> all = EnumSet.allOf(TimerState.class);
    return node.store.page(
        new TimerQuery("shop", "", all, Long.MIN_VALUE, Long.MAX_VALUE, null, payload),
        null,
        limit);
  }

  @Test
  void readsPayloadsOnlyOnRequest() {
    node.commit(schedule("a", NOW, new byte[] {1, 2}, false));
    assertThat(page(false, 10).records())
        .extracting(record -> record.definition().payload())
        .containsExactly(new byte[0]);
    assertThat(page(true, 10).records())
        .extracting(record -> record.definition().payload())
        .containsExactly(new byte[] {1, 2});
  }

  @Test
  void combinesAPageFromBothTables() {
    List<Change> changes = new ArrayList<>();
    for (int i = 100; i < 230; i++) {
      changes.add(schedule("id-" + i, NOW));
    }
    node.store.commit(changes);
    node.store.commit(
        changes.stream()
            .filter(change -> change.key().id().endsWith("7"))
            .<Change>map(change -> new Change.Cancel(change.key(), 0, NOW))
            .toList());
    for (boolean payload : new boolean[] {false, true}) {
      TimerPage all = page(payload, 130);
      assertThat(all.records())
          .extracting(TimerRecord::key)
          .isEqualTo(changes.stream().map(Change::key).toList());
      assertThat(all.next()).isNull();
      assertThat(page(payload, 129).next()).isEqualTo(key("id-228"));
    }
  }

  /** Blocked timers of an unknown handler cost one lookup for their handler. */
  @Test
  void findsTimersToReleaseByTheirIndex() throws SQLException {
    node.commit(schedule("a", NOW));
    fixture.execute(copies(20_000));
    fixture.execute("UPDATE timewheel_timer SET state = 5, fire_at = NULL WHERE id > 'id-11000'");
    for (boolean analyzed : new boolean[] {false, true}) {
      if (analyzed) {
        fixture.execute(analyze());
      }
      assertThat(plan(Releasables.next(queries()), 0, "=orders")).matches(releasePlan());
      assertThat(
              plan(Releasables.timers(queries()), 0, "=orders", "shop", "shop", "id-12000", 1_000))
          .matches(releasePlan());
    }
  }

  private Queries queries() {
    return node.store.server().queries();
  }

  /** {@return a pattern of the plans that read only the wanted rows of the index} */
  String releasePlan() {
    return "(?s).*timewheel_timer_release.*";
  }

  String copies(int count) {
    return COPY.formatted("'id-' || 10000 + n", "generate_series(1, " + count + ") n");
  }

  String analyze() {
    return "ANALYZE timewheel_timer";
  }

  /** {@return a row of a query plan} */
  String planRow(ResultSet row) throws SQLException {
    return row.getString("QUERY PLAN");
  }

  static final String COPY =
      "INSERT INTO timewheel_timer (version, due_at, fire_at, created_at, changed_at, revision,"
          + " shard, attempt, state, flags, namespace, id, handler, spec, progress, payload)"
          + " SELECT version, due_at, fire_at, created_at, changed_at, revision, shard, attempt,"
          + " state, flags, namespace, %s, handler, spec, progress, payload"
          + " FROM timewheel_timer, %s";

  private String plan(String sql, Object... values) throws SQLException {
    try (Connection connection = fixture.pool.getConnection();
        PreparedStatement statement = connection.prepareStatement("EXPLAIN " + sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      StringBuilder plan = new StringBuilder();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          plan.append(planRow(rows)).append('\n');
        }
      }
      return plan.toString();
    }
  }
}
