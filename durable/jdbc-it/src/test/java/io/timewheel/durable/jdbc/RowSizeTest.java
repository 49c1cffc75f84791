// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Verifies that a row on PostgreSQL contains no value that follows from the others. */
class RowSizeTest {
  final Fixture fixture = Fixture.withoutTables(Server.of(this));
  final Fixture.Node node = fixture.open();

  @AfterEach
  void close() {
    assertThat(node.store.verify().texts()).isEmpty();
    fixture.close();
  }

  /** An additional change makes a write batch of the call. */
  @ParameterizedTest
  @ValueSource(strings = {"1", "1,cancel", "1000", "1000,cancel"})
  void aNewTimerIsStoredWithoutRepetitions(String call) throws SQLException {
    int size = Integer.parseInt(call.split(",", 2)[0]);
    List<Change> changes = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      changes.add(schedule("id-" + i, NOW + i, new byte[64], false));
    }
    if (call.endsWith("cancel")) {
      changes.add(new Change.Cancel(key("none"), 0, NOW));
    }
    for (Outcome outcome : node.store.commit(changes).subList(0, size)) {
      assertThat(node.store.get(outcome.record().key())).isEqualTo(outcome.record());
    }
    assertThat(
            fixture.number(
                "SELECT count(*) FROM timewheel_timer"
                    + " WHERE created_at IS NULL AND spec = '' AND progress IS NULL"))
        .isEqualTo(size);
    assertThat(fixture.number("SELECT count(token) FROM timewheel_timer")).isLessThanOrEqualTo(8);
  }

  private static Change pause(String id, long now) {
    return new Change.Verb(key(id), Change.Verb.Command.PAUSE, 0, now);
  }

  @Test
  void aChangedTimerKeepsTheTimeOfItsCreation() {
    node.commit(schedule("a", NOW));
    for (int i = 1; i <= 2; i++) {
      Outcome changed = node.commit(pause("a", NOW + i));
      assertThat(node.store.get(key("a"))).isEqualTo(changed.record());
    }
    Outcome moved = node.commit(new Change.Move(key("a"), 0, NOW + 50, NOW + 9));
    assertThat(node.store.get(key("a"))).isEqualTo(moved.record());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void timersAreListedByTheTimeOfTheirCreation(boolean descending) {
    TimerOrder order = descending ? TimerOrder.CREATED_DESCENDING : TimerOrder.CREATED;
    for (String id : List.of("c", "b", "a")) {
      Change.Schedule plain = schedule(id, NOW + 100);
      node.commit(
          new Change.Schedule(
              plain.key(),
              plain.definition(),
              plain.dueAt(),
              false,
              plain.condition(),
              0,
              false,
              null,
              TimerRecord.NEVER,
              NOW + 'c' - id.charAt(0)));
    }
    node.commit(pause("c", NOW + 50));
    EnumSet<TimerState> all = EnumSet.allOf(TimerState.class);
    TimerQuery query = new TimerQuery("shop", "", all, Long.MIN_VALUE, Long.MAX_VALUE, null, false);
    List<String> ids = new ArrayList<>();
    DuePosition after = null;
    for (int i = 0; i < 3; i++) {
      TimerRecord record = node.store.sorted(query, order, after, 1).records().get(0);
      ids.add(record.key().id());
      after = order.position(record);
    }
    assertThat(ids).isEqualTo(descending ? List.of("a", "b", "c") : List.of("c", "b", "a"));
  }
}
