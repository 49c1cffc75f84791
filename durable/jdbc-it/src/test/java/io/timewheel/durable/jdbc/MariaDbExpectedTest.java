// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static io.timewheel.durable.jdbc.MariaDbSql.schedules;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.internal.write.Novelty;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Runs the tests of {@link ExpectedTest} on MariaDB, as {@link MariaDbTest} describes. */
@On(Server.MARIADB)
class MariaDbExpectedTest extends ExpectedTest {
  @Override
  String waiting() {
    return "SELECT variable_value FROM information_schema.global_status"
        + " WHERE variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS'";
  }

  /** Statements that PostgreSQL receives together are sent one by one. */
  @Override
  void theExpectedCaseCostsAtMostTwoRoundTripsAndACommit() {}

  @Override
  void theLastEndOfASingleTimerIsOneStatement() {}

  /** A write batch does not wait for the lock of the epoch. */
  @Override
  void anEndThatWaitsForATakeOverIsStale() {}

  @Override
  @Test
  void aLongListIsAssumedNewUnlessOneWasNotWithinAMinute() {
    List<String> daring = new ArrayList<>();
    onPrepare =
        sql -> {
          if (sql.startsWith("INSERT INTO timewheel_timer ") && !sql.contains("ON DUPLICATE KEY")) {
            daring.add(sql);
          }
        };
    node.store.commit(schedules("a", Novelty.LEAST_TIMERS));
    assertThat(daring).hasSize(1);
    assertThat(node.store.commit(schedules("a", Novelty.LEAST_TIMERS + 1)))
        .extracting(Outcome::answer)
        .containsOnly(Answer.UNCHANGED, Answer.CREATED);
    assertThat(daring).hasSize(2);
    node.clock.advanceMillis(59_999);
    node.store.commit(schedules("b", Novelty.LEAST_TIMERS));
    assertThat(daring).hasSize(2);
    node.clock.advanceMillis(1);
    List<Change> repeated = schedules("c", Novelty.LEAST_TIMERS);
    repeated.addAll(schedules("c", 1));
    node.store.commit(repeated);
    assertThat(daring).as("a repeated key").hasSize(2);
    List<Change> other = schedules("d", Novelty.LEAST_TIMERS);
    other.add(new Change.Cancel(key("none"), 0, NOW));
    node.store.commit(other);
    assertThat(daring).as("another change").hasSize(2);
    node.store.commit(schedules("e", Novelty.LEAST_TIMERS));
    assertThat(daring).hasSize(3);
  }

  @Test
  void readsNoExpectedRecordUnlessThereAreMany() {
    List<String> reads = new ArrayList<>();
    onPrepare =
        sql -> {
          if (sql.contains("FROM timewheel_timer t FORCE INDEX (PRIMARY)")) {
            reads.add(sql);
          }
        };
    node.commit(schedule("a", NOW));
    assertThat(reads).isEmpty();
    Change.Begin begin = node.begin("a");
    Outcome claimed = node.commit(begin);
    assertThat(reads).singleElement().asString().contains("SKIP LOCKED");
    reads.clear();
    node.commit(successOf(begin, claimed));
    assertThat(reads).isEmpty();
    node.store.commit(List.of(schedule("b", NOW), schedule("c", NOW)));
    assertThat(reads).isEmpty();
    node.store.commit(
        List.of(
            new Change.Move(key("b"), 0, NOW + 1, NOW),
            new Change.Move(key("c"), 0, NOW + 1, NOW)));
    assertThat(reads).singleElement().asString().endsWith("FOR UPDATE");
  }
}
