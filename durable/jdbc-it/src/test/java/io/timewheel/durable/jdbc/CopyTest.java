// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static io.timewheel.durable.jdbc.Fixture.scheduleForQueue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerSink;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.maintenance.IncompleteExportException;
import io.timewheel.durable.spi.maintenance.StoreCopy;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Exports of a database, and imports into it. */
@Timeout(120)
class CopyTest {
  final Fixture source = new Fixture(Server.of(this));
  final Fixture target = new Fixture(Server.of(this));

  @AfterEach
  void close() {
    source.close();
    target.close();
  }

  private static long copy(TimerStore from, TimerStore to) {
    return StoreCopy.copy(from, to, read -> {});
  }

  /** {@return a store in memory that has the timers} */
  private static InMemoryTimerStore inMemory(JdbcTimerStore from) {
    InMemoryTimerStore memory = InMemoryTimerStore.create(from.traits());
    assertThat(copy(from, memory)).isPositive();
    return memory;
  }

  private static Outcome complete(Fixture.Node node, String id) {
    node.commit(schedule(id, NOW));
    Change.Begin claim = node.begin(id);
    node.commit(claim);
    return node.commit(Fixture.success(claim));
  }

  @Test
  void copiesALiveStoreInBatches() {
    Fixture.Node node = source.start();
    node.makeReady(1_500);
    node.store.commit(
        IntStream.range(0, 700)
            .<Change>mapToObj(i -> schedule("t-%03d".formatted(i), NOW + i))
            .toList());
    complete(node, "done");
    node.store.pause("closed");
    JdbcTimerStore copy = target.open().store;
    List<Long> progress = new ArrayList<>();

    assertThat(node.store.copyTo(copy, progress::add)).isEqualTo(2_201);

    assertThat(progress).containsExactly(1_000L, 2_000L, 2_201L);
    assertThat(copy.verify().texts()).isEmpty();
    assertThat(copy.verify().timers()).isEqualTo(2_201);
    assertThat(copy.counts()).isEqualTo(node.store.counts());
    assertThat(copy.queueCounts(null)).isEqualTo(node.store.queueCounts(null));
    assertThat(copy.paused()).containsExactly("closed");
    assertThat(node.store.copyTo(copy, read -> {})).isZero();
    assertThat(copy.verify().texts()).isEmpty();
  }

  @Test
  void aTimerOfAHandlerThatIsReadyStaysReady() {
    Fixture.Node node = source.start();
    node.commit(schedule("a", NOW));
    node.commit(node.readied(key("a"), NOW + 1));
    JdbcTimerStore copy = target.open().store;

    copy(node.store, copy);

    assertThat(copy.readyHandlers(null, 9)).containsExactly("orders");
    assertThat(copy.verify().texts()).isEmpty();
  }

  @Test
  void versionsExceedThoseOfTheImport() {
    Fixture.Node node = source.start();
    node.commit(schedule("a", NOW));
    TimerRecord late = node.store.get(key("a")).copy().version(7_000_000_000L).build();
    JdbcTimerStore copy = target.open().store;
    copy.beginImport(5_000_000_000L, Set.of());
    assertThat(copy.importTimers(List.of(new CopiedTimer(late, null)))).isOne();
    assertThat(copy.get(key("a")).version()).isEqualTo(7_000_000_000L);
    copy.endImport();
    copy.close();

    Fixture.Node next = target.start();
    assertThat(next.commit(schedule("b", NOW)).version()).isGreaterThan(7_000_000_000L);
    assertThat(next.commit(schedule("a", NOW + 1)).version()).isGreaterThan(7_000_000_000L);
  }

  /** A row before the purged position would be counted, but never be visible. */
  @Test
  void aFinishedTimerIsSeenAlthoughThePurgeHasPassedItsTime() {
    Fixture.Node node = source.start();
    complete(node, "old");
    InMemoryTimerStore old = inMemory(node.store);
    Fixture.Node other = target.start();
    other.commit(schedule("gone", NOW));
    other.commit(new Change.Cancel(key("gone"), 0, NOW + 1_000));
    assertThat(other.store.purge(NOW + 2_000, 0, 9)).isOne();
    other.store.close();
    JdbcTimerStore copy = target.open().store;

    assertThat(copy(old, copy)).isOne();

    assertThat(copy.get(key("old")).state()).isEqualTo(TimerState.COMPLETED);
    assertThat(copy.verify().texts()).isEmpty();
    assertThat(copy.purge(NOW + 2_000, 0, 9)).isOne();
    assertThat(copy.counts()).isEmpty();
  }

  @Test
  void anImportIsRefusedWhileANodeHasALease() throws SQLException {
    Fixture.Node node = source.start();
    node.commit(schedule("a", NOW));
    Fixture.Node other = target.start();
    JdbcTimerStore copy = target.open().store;

    assertThatThrownBy(() -> copy(node.store, copy))
        .isInstanceOf(StoreException.class)
        .hasMessageStartingWith("nodes use the database: node-1 (stop them, ")
        .extracting(e -> ((StoreException) e).kind())
        .isEqualTo(StoreException.Kind.REJECTED);
    assertThatThrownBy(() -> copy.importTimers(List.of())).isInstanceOf(StoreException.class);
    assertThat(copy.counts()).isEmpty();

    other.store.close();
    assertThat(copy(node.store, copy)).isOne();
  }

  @Test
  void anUnreadableTimerIsOmittedFromTheExportAndReported() throws SQLException {
    Fixture.Node node = source.start();
    node.store.commit(List.of(schedule("a", NOW), schedule("b", NOW), schedule("c", NOW)));
    source.execute("UPDATE timewheel_timer SET spec = payload WHERE id = 'b'");
    JdbcTimerStore copy = target.open().store;

    assertThatThrownBy(() -> copy(node.store, copy))
        .asInstanceOf(type(IncompleteExportException.class))
        .returns(2L, IncompleteExportException::timers)
        .returns(1L, IncompleteExportException::unread)
        .satisfies(e -> assertThat(e.texts()).singleElement().asString().contains("shop/b"));

    assertThat(copy.counts()).isEqualTo(Map.of("shop", Map.of(TimerState.SCHEDULED, 2L)));
    assertThat(copy.verify().texts()).isEmpty();
  }

  @Test
  void anExportIsOfOneMoment() {
    Fixture.Node node = source.start();
    node.store.commit(List.of(schedule("a", NOW), schedule("b", NOW)));
    InMemoryTimerStore copy = InMemoryTimerStore.create(node.store.traits());
    boolean[] changed = {false};

    node.store.copyTo(
        new TimerSink() {
          @Override
          public void begin(long lastVersion, Set<String> paused) {
            node.commit(new Change.Cancel(key("a"), 0, NOW)); // moves it to the history
            node.commit(scheduleForQueue("c", NOW));
            changed[0] = true;
          }

          @Override
          public void take(CopiedTimer timer) {
            copy.importTimers(List.of(timer));
          }

          @Override
          public void end() {}
        });

    assertThat(changed[0]).isTrue();
    assertThat(copy.counts()).isEqualTo(Map.of("shop", Map.of(TimerState.SCHEDULED, 2L)));
  }

  /**
   * Simulates a kill or a database failure: all earlier batches are complete, and no batch is
   * partial.
   */
  @Test
  void aCopyThatFailsBetweenTwoBatchesCanBeRepeated() {
    Fixture.Node node = source.start();
    node.store.commit(
        IntStream.range(0, 1_000).<Change>mapToObj(i -> schedule("t-" + i, NOW)).toList());
    node.commit(schedule("u", NOW));
    JdbcTimerStore copy = target.open().store;

    assertThatThrownBy(
            () ->
                node.store.copyTo(
                    copy,
                    read -> {
                      throw new IllegalStateException("killed after " + read);
                    }))
        .hasMessage("killed after 1000");

    assertThat(copy.counts()).isEqualTo(Map.of("shop", Map.of(TimerState.SCHEDULED, 1_000L)));
    assertThat(copy.hasUnfinishedImport()).isTrue();
    assertThat(copy.verify().texts())
        .singleElement()
        .asString()
        .startsWith("an import into the database has not ended, so timers are missing (copy");
    assertThatThrownBy(target::start)
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("an import into the database has not ended");
    assertThat(copy(node.store, copy)).isOne();
    assertThat(copy.hasUnfinishedImport()).isFalse();
    assertThat(copy.verify().texts()).isEmpty();
    assertThat(copy.get(key("u"))).isEqualTo(node.store.get(key("u")));
  }
}
