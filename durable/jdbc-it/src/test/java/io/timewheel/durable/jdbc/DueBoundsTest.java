// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.internal.read.DueBounds;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.record.DueTimer;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("promise-59")
class DueBoundsTest {
  private final Fixture fixture = new Fixture(Server.of(this));
  private final Fixture.Node node = fixture.start();
  private final int shard = Shards.of(key("a"), 4);

  @AfterEach
  void close() {
    fixture.close();
  }

  private List<DueTimer> due() {
    return node.store.due(shard, NOW + 1, null, 10);
  }

  /** Inserts a timer below the bound, as if by a transaction that was open for long. */
  private void becomesVisible(long fireAt) throws SQLException {
    node.commit(schedule("a", NOW));
    fixture.execute("UPDATE timewheel_timer SET fire_at = " + fireAt);
  }

  @Test
  void findsATimerAtOnceThatIsAMinuteLate() throws SQLException {
    assertThat(due()).isEmpty();
    long nowMillis = node.clock.millis() + node.store.clockOffsetMillis();
    becomesVisible(nowMillis - 60_000);
    assertThat(due()).hasSize(1);
  }

  @Test
  void findsATimerBehindTheEndOfAnEmptyScan() throws SQLException {
    long nowMillis = node.clock.millis() + node.store.clockOffsetMillis();
    becomesVisible(nowMillis - 100_000);
    assertThat(node.store.due(shard, nowMillis - 100_000, null, 10)).isEmpty();
    assertThat(due()).hasSize(1);
  }

  @Test
  void findsALaterTimerWithTheNextFullScan() throws SQLException {
    assertThat(due()).isEmpty();
    becomesVisible(5);
    assertThat(due()).as("timers below the bound are not read").isEmpty();
    node.clock.advanceMillis(29_999);
    assertThat(due()).isEmpty();
    node.clock.advanceMillis(1);
    assertThat(due()).hasSize(1);
    assertThat(due()).as("the bound is now below the timer").hasSize(1);
  }

  private List<DueTimer> sweep() {
    return node.store.sweep(List.of(shard), NOW + 1, 10);
  }

  @Test
  void aSweepFindsATimerThatIsFiveSecondsLate() throws SQLException {
    assertThat(sweep()).as("the first sweep is a full scan").isEmpty();
    assertThat(sweep()).isEmpty();
    long nowMillis = node.clock.millis() + node.store.clockOffsetMillis();
    becomesVisible(nowMillis - 5_000);
    assertThat(sweep()).hasSize(1);
    node.clock.advanceMillis(20_000);
    assertThat(sweep()).as("the bound stays before the timer found").hasSize(1);
    assertThat(sweep()).hasSize(1);
  }

  @Test
  void aLongSweepFindsATimerThatIsAMinuteLate() throws SQLException {
    assertThat(sweep()).isEmpty();
    assertThat(sweep()).isEmpty();
    long nowMillis = node.clock.millis() + node.store.clockOffsetMillis();
    becomesVisible(nowMillis - 60_000);
    node.clock.advanceMillis(4_999);
    assertThat(sweep()).as("a long sweep is not due yet").isEmpty();
    node.clock.advanceMillis(1);
    assertThat(sweep()).hasSize(1);
    assertThat(sweep()).as("the bound is now below the timer").hasSize(1);
  }

  @Test
  void aLongSweepThatBecomesDueDuringAShortOneStillRuns() {
    long[] nanos = {0};
    DueBounds bounds = new DueBounds(() -> nanos[0]);
    List<Integer> one = List.of(shard);
    bounds.scanned(shard, NOW, List.of());
    bounds.swept(bounds.sweepFrom(one), NOW, List.of(), due -> shard);
    nanos[0] = 4_999_999_999L;
    Map<Integer, Long> shortOne = bounds.sweepFrom(one);
    nanos[0]++;
    bounds.swept(shortOne, NOW, List.of(), due -> shard);
    assertThat(shortOne).containsEntry(shard, NOW - 5_000);
    assertThat(bounds.sweepFrom(one)).containsEntry(shard, NOW - 60_000);
  }

  @Test
  void aFullScanFindsATimerThatIsEvenLater() throws SQLException {
    assertThat(sweep()).isEmpty();
    becomesVisible(5);
    node.clock.advanceMillis(29_999);
    assertThat(sweep()).isEmpty();
    node.clock.advanceMillis(1);
    assertThat(sweep()).hasSize(1);
  }
}
