// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static io.timewheel.durable.jdbc.Fixture.success;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.SQLException;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HistoryTest {
  final Fixture fixture = Fixture.withoutTables(Server.of(this));
  final Fixture.Node node = fixture.start();

  @AfterEach
  void close() {
    fixture.close();
  }

  void finish(String id, long now) {
    node.commit(schedule(id, NOW));
    node.commit(new Change.Cancel(key(id), 0, now));
  }

  long rows(int part) throws SQLException {
    return fixture.number("SELECT count(*) FROM timewheel_done_" + part);
  }

  @Test
  void purgesWithoutDeletingRows() throws SQLException {
    finish("a", NOW);
    finish("b", NOW + 10);
    assertThat(node.store.purge(NOW + 5, 10, 10)).isEqualTo(1);
    assertThat(node.store.get(key("a"))).isNull();
    assertThat(node.store.get(key("b"))).isNotNull();
    assertThat(node.store.counts()).isEqualTo(Map.of("shop", Map.of(TimerState.CANCELLED, 1L)));
    assertThat(rows(0)).isEqualTo(2);
  }

  @Test
  void emptiesAPartWithoutRetainedTimers() throws SQLException {
    finish("a", NOW);
    fixture.execute("UPDATE timewheel_history SET part_since = 0");
    node.store.purge(NOW - 5, 10, 10);
    finish("b", NOW + 10);
    assertThat(rows(0)).isEqualTo(1);
    assertThat(rows(1)).isEqualTo(1);
    node.store.purge(NOW + 5, 10, 10);
    assertThat(rows(0)).as("a row at the position is not yet purged").isEqualTo(1);
    node.store.purge(NOW + 15, 10, 10);
    assertThat(rows(0)).isZero();
    assertThat(rows(1)).isEqualTo(1);
  }

  @Test
  void doesNotSwitchToAPartThatIsNotEmpty() throws SQLException {
    for (int day = 0; day < 6; day++) {
      finish("day-" + day, NOW + day);
      fixture.execute("UPDATE timewheel_history SET part_since = 0");
      node.store.purge(NOW - 5, 10, 10);
    }
    assertThat(rows(0)).isEqualTo(1);
    assertThat(rows(3)).isEqualTo(3);
    assertThat(node.store.get(key("day-0"))).isNotNull();
  }

  @Test
  void recognisesAnEqualTimerAlthoughItsPayloadIsDeleted() {
    node.commit(schedule("a", NOW));
    Change.Begin claim = node.begin("a");
    node.commit(claim);
    node.commit(success(claim));
    TimerRecord done = node.store.get(key("a"));
    assertThat(done.definition().payload()).isEmpty();
    assertThat(node.commit(schedule("a", NOW, new byte[] {1}, true)).answer())
        .isEqualTo(Answer.UNCHANGED);
    assertThat(node.commit(schedule("a", NOW, new byte[] {2}, true)).answer())
        .isEqualTo(Answer.CREATED);
  }

  @Test
  void removesATimerThatIsScheduledAgainFromTheHistory() throws SQLException {
    finish("a", NOW);
    long version = node.store.get(key("a")).version();
    assertThat(node.commit(schedule("a", NOW)).version()).isGreaterThan(version);
    assertThat(rows(0)).isZero();
    assertThat(node.store.counts()).isEqualTo(Map.of("shop", Map.of(TimerState.SCHEDULED, 1L)));
  }
}
