// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static io.timewheel.durable.jdbc.Fixture.success;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.internal.server.Records;
import io.timewheel.durable.jdbc.internal.server.Records.Finished;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.write.Novelty;
import io.timewheel.durable.jdbc.testing.BareDataSource;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.durable.spi.record.Transitions;
import io.timewheel.testing.Await;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Verifies the first round of a write batch: it is fast if its assumptions are true, and correct if
 * not.
 */
class ExpectedTest {
  final Fixture fixture = new Fixture(Server.of(this));

  /** The statements and commits of the node that reach the database. */
  final List<String> sent = new ArrayList<>();

  /** Receives each statement before the node prepares it. */
  Consumer<String> onPrepare = sql -> {};

  final Fixture.Node node = fixture.open(counting(), 4);

  @BeforeEach
  void start() {
    node.store.start(node);
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  Change.Finish successOf(Change.Begin begin, Outcome claimed) {
    Change.Finish plain = success(begin);
    return new Change.Finish(
        plain.key(),
        plain.token(),
        plain.epoch(),
        plain.end(),
        plain.nextAt(),
        plain.nextScheduledAt(),
        plain.error(),
        plain.trace(),
        claimed.record(),
        null,
        plain.now());
  }

  /** Claims a timer, runs a task, and then completes the attempt with success. */
  private Outcome endOf(String id, Runnable meanwhile) {
    Change.Begin begin = node.begin(id);
    Change.Finish end = successOf(begin, node.commit(begin));
    meanwhile.run();
    return node.commit(end);
  }

  private void assertThatTablesHold(long unfinished, long finished) throws SQLException {
    assertThat(fixture.number("SELECT count(*) FROM timewheel_timer")).isEqualTo(unfinished);
    assertThat(fixture.number("SELECT count(*) FROM timewheel_done")).isEqualTo(finished);
  }

  @Test
  void aTimerThatIsNotNewIsHandledAsStored() throws SQLException {
    Outcome first = node.commit(schedule("a", NOW));
    assertThat(node.commit(schedule("a", NOW)).answer()).isEqualTo(Answer.UNCHANGED);
    Outcome second = node.commit(schedule("a", NOW + 1));
    assertThat(second.answer()).isEqualTo(Answer.REPLACED);
    assertThat(second.version()).isGreaterThan(first.version());
    assertThat(node.store.counts()).isEqualTo(Map.of("shop", Map.of(TimerState.SCHEDULED, 1L)));
    assertThatTablesHold(1, 0);
  }

  @Test
  void aTimerThatHasFinishedIsInOneTable() throws SQLException {
    long version = node.commit(schedule("a", NOW)).version();
    assertThat(endOf("a", () -> {}).answer()).isEqualTo(Answer.APPLIED);
    assertThatTablesHold(0, 1);
    Change same = schedule("a", NOW, new byte[] {1}, true);
    assertThat(node.commit(same).answer()).isEqualTo(Answer.UNCHANGED);
    assertThatTablesHold(0, 1);
    Outcome again = node.commit(schedule("a", NOW + 1));
    assertThat(again.answer()).isEqualTo(Answer.CREATED);
    assertThat(again.version()).isGreaterThan(version);
    assertThatTablesHold(1, 0);
    assertThat(node.store.counts()).isEqualTo(Map.of("shop", Map.of(TimerState.SCHEDULED, 1L)));
  }

  @Test
  void newAndExistingTimersOfOneBatchAreHandledAsStored() throws SQLException {
    node.commit(schedule("done", NOW));
    endOf("done", () -> {});
    node.commit(schedule("old", NOW));
    List<Change> changes = new ArrayList<>();
    for (String id : List.of("new", "old", "done", "new", "twice")) {
      changes.add(schedule(id, NOW + 7));
    }
    changes.add(new Change.Cancel(key("twice"), 0, NOW));
    assertThat(node.store.commit(changes))
        .extracting(Outcome::answer)
        .containsExactly(
            Answer.CREATED,
            Answer.REPLACED,
            Answer.CREATED,
            Answer.UNCHANGED,
            Answer.CREATED,
            Answer.CANCELLED);
    assertThatTablesHold(3, 1);
    assertThat(node.store.counts())
        .isEqualTo(Map.of("shop", Map.of(TimerState.SCHEDULED, 3L, TimerState.CANCELLED, 1L)));
  }

  private static List<Change> list(String prefix, int size) {
    List<Change> changes = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      changes.add(schedule(prefix + i, NOW + 1));
    }
    return changes;
  }

  @Test
  void newAndExistingTimersOfALongListAreHandledAsStored() throws SQLException {
    long version = node.commit(schedule("done", NOW)).version();
    endOf("done", () -> {});
    node.commit(schedule("old", NOW));
    node.commit(schedule("same", NOW));
    List<Change> changes = list("new", Novelty.LEAST_TIMERS);
    changes.add(schedule("old", NOW + 1));
    changes.add(schedule("same", NOW));
    changes.add(schedule("done", NOW + 1));
    changes.add(new Change.Cancel(key("new7"), 0, NOW));
    List<Outcome> outcomes = node.store.commit(changes);
    assertThat(outcomes.subList(0, Novelty.LEAST_TIMERS))
        .allMatch(outcome -> outcome.answer() == Answer.CREATED && outcome.version() > version)
        .doesNotHaveDuplicates();
    assertThat(outcomes.subList(Novelty.LEAST_TIMERS, changes.size()))
        .extracting(Outcome::answer)
        .containsExactly(Answer.REPLACED, Answer.UNCHANGED, Answer.CREATED, Answer.CANCELLED);
    assertThatTablesHold(Novelty.LEAST_TIMERS + 2, 1);
    assertThat(node.store.counts().get("shop"))
        .isEqualTo(
            Map.of(TimerState.SCHEDULED, Novelty.LEAST_TIMERS + 2L, TimerState.CANCELLED, 1L));
  }

  @Test
  void aFinishedTimerOfALongListLeavesTheHistory() throws SQLException {
    node.commit(schedule("new7", NOW));
    endOf("new7", () -> {});
    assertThat(node.store.commit(list("new", Novelty.LEAST_TIMERS)))
        .allMatch(outcome -> outcome.answer() == Answer.CREATED);
    assertThatTablesHold(Novelty.LEAST_TIMERS, 0);
    assertThat(node.store.counts())
        .isEqualTo(Map.of("shop", Map.of(TimerState.SCHEDULED, (long) Novelty.LEAST_TIMERS)));
  }

  /** A wrong assumption costs twice as much, and the server logs an error. */
  @Test
  void aLongListIsAssumedNewUnlessOneWasNotWithinAMinute() {
    List<String> daring = new ArrayList<>();
    onPrepare =
        sql -> {
          if (sql.contains("INSERT INTO timewheel_timer ")
              && !sql.contains("ON CONFLICT")
              && !sql.contains("WITH f")) {
            daring.add(sql);
          }
        };
    int least = Novelty.LEAST_TIMERS;
    node.store.commit(mixed("a", least - 1));
    assertThat(daring).isEmpty();
    node.store.commit(mixed("b", least));
    assertThat(daring).hasSize(1);
    assertThat(node.store.commit(mixed("b", least + 1)))
        .extracting(Outcome::answer)
        .containsOnly(Answer.UNCHANGED, Answer.CREATED, Answer.NOT_FOUND);
    assertThat(daring).hasSize(2);
    node.clock.advanceMillis(59_999);
    node.store.commit(mixed("c", least));
    assertThat(daring).hasSize(2);
    node.clock.advanceMillis(1);
    node.store.commit(mixed("d", least));
    assertThat(daring).hasSize(3);
  }

  /** Returns a list with another change, so that it is written by a write batch. */
  private static List<Change> mixed(String prefix, int size) {
    List<Change> changes = list(prefix, size);
    changes.add(new Change.Cancel(key("none"), 0, NOW));
    return changes;
  }

  private static Change.Schedule limited(String id, long dueAt, String request) {
    Change.Schedule plain = schedule(id, dueAt);
    return new Change.Schedule(
        plain.key(),
        plain.definition(),
        dueAt,
        false,
        plain.condition(),
        0,
        false,
        request == null ? null : RequestId.of(request),
        2,
        NOW);
  }

  @Test
  void aChangeIsRefusedForALimitOnlyAfterALookup() throws SQLException {
    Outcome first = node.commit(limited("a", NOW, "request"));
    node.commit(limited("b", NOW, null));
    assertThat(node.commit(limited("c", NOW, null)).answer()).isEqualTo(Answer.OVER_LIMIT);
    assertThat(node.commit(limited("b", NOW + 1, null)).answer()).isEqualTo(Answer.REPLACED);
    Outcome repeated = node.commit(limited("a", NOW, "request"));
    assertThat(repeated.answer()).isEqualTo(Answer.CREATED);
    assertThat(repeated.version()).isEqualTo(first.version());
    node.commit(new Change.Cancel(key("b"), 0, NOW));
    assertThat(node.store.commit(List.of(limited("a", NOW + 2, null), limited("z", NOW, null))))
        .extracting(Outcome::answer)
        .containsExactly(Answer.REPLACED, Answer.CREATED);
    assertThatTablesHold(2, 1);
  }

  @Test
  void otherChangesAreIndependentOfAStaleCompletion() throws SQLException {
    node.commit(schedule("a", NOW));
    Change.Begin begin = node.begin("a");
    Outcome claimed = node.commit(begin);
    node.commit(successOf(begin, claimed));
    Change.Begin stale =
        new Change.Begin(
            begin.key(),
            begin.version(),
            begin.revision(),
            begin.epoch() + 1,
            begin.token(),
            begin.scheduledAt(),
            NOW);
    assertThat(node.store.commit(List.of(successOf(stale, claimed), schedule("a", NOW))))
        .extracting(Outcome::answer)
        .containsExactly(Answer.STALE_OWNER, Answer.CREATED);
    assertThatTablesHold(1, 0);
  }

  @Test
  void theLastEndOfASingleTimerIsOneStatement() throws SQLException {
    node.commit(schedule("a", NOW));
    Change.Begin begin = node.begin("a");
    Change.Finish end = successOf(begin, node.commit(begin));
    List<String> prepared = new ArrayList<>();
    onPrepare = prepared::add;
    assertThat(node.commit(end).answer()).isEqualTo(Answer.APPLIED);
    assertThat(prepared).hasSize(1);
    assertThat(prepared.get(0).split(";\n")).hasSize(3); // isolation, limits, and the end
    assertThatTablesHold(0, 1);
    assertThat(node.store.counts()).isEqualTo(Map.of("shop", Map.of(TimerState.COMPLETED, 1L)));
  }

  @Test
  void anEndThatWaitsForATakeOverIsStale() throws Exception {
    node.commit(schedule("a", NOW));
    Change.Begin begin = node.begin("a");
    Change.Finish end = successOf(begin, node.commit(begin));
    try (Connection taker = fixture.transaction();
        PreparedStatement takes =
            taker.prepareStatement("UPDATE timewheel_shard SET epoch = epoch + 1")) {
      takes.executeUpdate();
      CompletableFuture<Outcome> outcome = CompletableFuture.supplyAsync(() -> node.commit(end));
      Await.until(() -> fixture.number(waiting()) != 0 || outcome.isDone());
      taker.commit();
      assertThat(outcome.join().answer()).isEqualTo(Answer.STALE_OWNER);
    }
    assertThatTablesHold(1, 0);
  }

  /** {@return a query for the number of statements that wait for a lock} */
  String waiting() {
    return "SELECT count(*) FROM pg_locks WHERE NOT granted";
  }

  @Test
  void aTimerThatIsJustFinishingIsFoundInTheHistory() throws Exception {
    finishDuringInsert(false);
  }

  @Test
  void aTimerOfALongListThatIsJustFinishingIsFoundInTheHistory() throws Exception {
    finishDuringInsert(true);
  }

  private Records records() {
    return node.store.server().records();
  }

  /**
   * Finishes a timer during its insert. The history is read after the insert, which waits for the
   * transaction that finishes the timer.
   */
  private void finishDuringInsert(boolean daring) throws Exception {
    node.commit(schedule("a", NOW));
    TimerRecord record = node.store.get(key("a"));
    try (Connection finisher = fixture.transaction();
        Connection scheduler = fixture.transaction();
        Statements ends = new Statements(finisher);
        Statements to = new Statements(scheduler)) {
      boolean[] gone =
          records().finish(ends, List.of(new Records.Step(record, cancelled(record)))).get();
      assertThat(gone).containsExactly(true);
      CompletableFuture<Map<?, Finished>> found =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  Statements.Answer<boolean[]> unused =
                      records().insert(to, List.of(record), node.store.traits().shards(), daring);
                  return records().finished(to, List.of(record.key())).get();
                } catch (SQLException e) {
                  throw new IllegalStateException(e);
                }
              });
      while (fixture.number(waiting()) == 0) {
        assertThat(found).isNotDone();
      }
      finisher.commit();
      assertThat(found.join()).hasSize(1);
    }
  }

  /** A lookup that skips locked rows finds the timer in neither table until it is finished. */
  @Test
  void aTimerThatFinishesBetweenTwoLookupsIsFoundInTheHistory() throws SQLException {
    node.commit(schedule("a", NOW));
    node.commit(schedule("b", NOW));
    Change.Begin other = node.begin("b");
    TimerRecord record = node.store.get(key("a"));
    try (Connection finisher = fixture.transaction();
        Statements ends = new Statements(finisher)) {
      boolean[] unused =
          records().finish(ends, List.of(new Records.Step(record, cancelled(record)))).get();
      onPrepare =
          sql -> {
            if (sql.startsWith("SELECT t.namespace, t.id FROM timewheel_timer")) {
              commit(finisher);
            }
          };
      assertThat(node.store.commit(List.of(other, schedule("a", NOW + 1))))
          .extracting(Outcome::answer)
          .containsExactly(Answer.APPLIED, Answer.CREATED);
    }
    assertThatTablesHold(2, 0);
  }

  /** Makes another node schedule a finished timer again before the second lookup. */
  private void leaveTheHistoryBetweenTwoLookups(String id) {
    node.commit(schedule(id, NOW));
    endOf(id, () -> {});
    Fixture.Node other = fixture.open();
    onPrepare =
        sql -> {
          if (sql.contains(" FROM timewheel_done ") && sql.startsWith("SELECT")) {
            onPrepare = later -> {};
            assertThat(other.commit(schedule(id, NOW + 1)).answer()).isEqualTo(Answer.CREATED);
          }
        };
  }

  @Test
  void aTimerThatLeavesTheHistoryBetweenTwoLookupsIsFound() throws SQLException {
    leaveTheHistoryBetweenTwoLookups("a");
    assertThat(node.commit(new Change.Cancel(key("a"), 0, NOW)).answer())
        .isEqualTo(Answer.CANCELLED);
    assertThatTablesHold(0, 1);
  }

  @Test
  void aTimerThatLeavesTheHistoryBetweenTwoLookupsIsFoundByOneOfMany() throws SQLException {
    leaveTheHistoryBetweenTwoLookups("a");
    List<Change> both = List.of(new Change.Cancel(key("a"), 0, NOW), schedule("b", NOW));
    assertThat(node.store.commit(both))
        .extracting(Outcome::answer)
        .containsExactly(Answer.CANCELLED, Answer.CREATED);
    assertThatTablesHold(1, 1);
  }

  private static TimerRecord cancelled(TimerRecord record) {
    Change.Cancel cancel = new Change.Cancel(record.key(), 0, NOW);
    return Transitions.apply(record, cancel, null).record();
  }

  private static void commit(Connection connection) {
    try {
      connection.commit();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aClaimIsWrittenWithoutARead() throws SQLException {
    node.commit(schedule("a", NOW));
    assertThat(endOf("a", () -> {}).record().state()).isEqualTo(TimerState.COMPLETED);
    assertThat(node.store.get(key("a")).state()).isEqualTo(TimerState.COMPLETED);
    assertThat(node.store.counts()).isEqualTo(Map.of("shop", Map.of(TimerState.COMPLETED, 1L)));
    assertThatTablesHold(0, 1);
  }

  @Test
  void aClaimThatHasChangedSinceIsReadAgain() {
    node.commit(schedule("a", NOW));
    Outcome end =
        endOf(
            "a",
            () ->
                assertThat(node.commit(new Change.Cancel(key("a"), 0, NOW)).answer())
                    .isEqualTo(Answer.RUNNING));
    assertThat(end.answer()).isEqualTo(Answer.APPLIED);
    assertThat(end.record().cancelRequested()).isTrue();
  }

  @Test
  void aClaimThatHasEndedIsNotEndedTwice() throws SQLException {
    node.commit(schedule("a", NOW));
    Change.Begin begin = node.begin("a");
    Change.Finish end = successOf(begin, node.commit(begin));
    assertThat(node.commit(end).answer()).isEqualTo(Answer.APPLIED);
    assertThat(node.commit(end).answer()).isEqualTo(Answer.APPLIED);
    assertThatTablesHold(0, 1);
    node.commit(schedule("a", NOW + 5));
    assertThat(node.commit(end).answer()).isEqualTo(Answer.APPLIED);
    assertThat(node.store.get(key("a")).state()).isEqualTo(TimerState.SCHEDULED);
    assertThatTablesHold(1, 0);
  }

  @Test
  void theExpectedCaseCostsAtMostTwoRoundTripsAndACommit() {
    sent.clear();
    node.commit(schedule("a", NOW));
    assertThat(sent).containsExactly("execute");
    sent.clear();
    node.store.commit(list("list", 10));
    assertThat(sent).containsExactly("execute");
    sent.clear();
    node.commit(limited("keyed", NOW, "request"));
    assertThat(sent).endsWith("execute", "execute", "commit");
    Change.Begin begin = node.begin("a");
    sent.clear();
    Outcome claimed = node.commit(begin);
    assertThat(sent).containsExactly("execute", "execute", "commit");
    sent.clear();
    node.commit(successOf(begin, claimed));
    assertThat(sent).containsExactly("execute", "commit");
  }

  private BareDataSource counting() {
    return new BareDataSource() {
      @Override
      public Connection getConnection() throws SQLException {
        return proxy(Connection.class, fixture.pool.getConnection());
      }
    };
  }

  private <T> T proxy(Class<T> type, T real) {
    return type.cast(
        Proxy.newProxyInstance(
            ExpectedTest.class.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              if (method.getName().equals("prepareStatement")) {
                onPrepare.accept((String) arguments[0]);
              }
              if (method.getName().startsWith("execute") || method.getName().equals("commit")) {
                sent.add(method.getName());
              }
              try {
                Object result = method.invoke(real, arguments);
                return result instanceof PreparedStatement statement
                    ? proxy(PreparedStatement.class, statement)
                    : result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
