// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static io.timewheel.durable.jdbc.Fixture.scheduleForQueue;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.LossySource.Fate;
import io.timewheel.durable.jdbc.internal.server.DirectInserts;
import io.timewheel.durable.jdbc.internal.server.Records;
import io.timewheel.durable.jdbc.internal.sql.Sql;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.HeldTimersException;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.durable.spi.record.Transitions;
import io.timewheel.testing.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;

/**
 * Tests schedules that the server executes as one transaction without BEGIN and COMMIT. Only this
 * class verifies the races of such a schedule with other writers.
 */
@Timeout(120)
class DirectWritesTest {
  private static final String IN_QUEUE =
      "SELECT sum(delta) FROM timewheel_count"
          + " WHERE namespace = concat('shop', chr(10), 'orders') AND state = 0";

  final Fixture fixture = new Fixture(Server.of(this));
  final LossySource source = new LossySource(fixture.pool);
  final Fixture.Node node = fixture.open(source, 4);
  final Fixture.Node other = fixture.open();

  @BeforeEach
  void liftIdleTimeout() {
    source.liftIdleTimeout = fixture.server.liftIdleTimeout();
  }

  @AfterEach
  void close() {
    assertThat(fixture.open().store.verify().texts()).isEmpty();
    fixture.close();
  }

  /** {@return the length of the longest list that is written directly, up to 1,000} */
  int longest() {
    return 1_000;
  }

  private List<Change> list(int size, long dueAt) {
    List<Change> changes = new ArrayList<>();
    for (int i = Math.min(size, longest()); i-- > 0; ) {
      changes.add(schedule("id-" + i, dueAt));
    }
    return changes;
  }

  List<Outcome> commit(int size, long dueAt) {
    return node.store.commit(list(size, dueAt));
  }

  void assertCreated(List<Outcome> outcomes) {
    for (Outcome outcome : outcomes) {
      TimerRecord record = outcome.record();
      assertThat(outcome.answer()).isEqualTo(Answer.CREATED);
      assertThat(record.version()).isEqualTo(outcome.version());
      assertThat(node.store.get(record.key())).isEqualTo(record);
    }
    assertThat(outcomes).extracting(Outcome::version).doesNotHaveDuplicates();
    assertThat(node.store.counts())
        .isEqualTo(Map.of("shop", Map.of(TimerState.SCHEDULED, (long) outcomes.size())));
  }

  void assertDirect(int writes) {
    assertThat(source.directWrites).isEqualTo(writes);
    assertThat(source.commits).isZero();
  }

  // New timers

  @BeforeEach
  void countFromHere() {
    source.commits = 0;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 1_000})
  void insertsNewTimersWithOneMessage(int size) {
    assertCreated(commit(size, NOW));
    assertDirect(1);
  }

  @Test
  void countsTheTimersOfAQueue() throws SQLException {
    node.commit(scheduleForQueue("one", NOW));
    node.store.commit(List.of(scheduleForQueue("two", NOW), scheduleForQueue("three", NOW)));
    assertDirect(2);
    assertThat(fixture.number(IN_QUEUE)).isEqualTo(3);
  }

  @Test
  void leavesAnExistingTimerToAWriteBatch() {
    long version = other.commit(schedule("a", NOW)).version();
    Outcome outcome = node.commit(schedule("a", NOW + 1));
    assertThat(outcome.answer()).isEqualTo(Answer.REPLACED);
    assertThat(outcome.version()).isGreaterThan(version);
    assertThat(node.store.counts()).isEqualTo(Map.of("shop", Map.of(TimerState.SCHEDULED, 1L)));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void leavesATimerThatIsInTheHistoryToAWriteBatch(int size) throws SQLException {
    other.commit(scheduleForQueue("id-0", NOW));
    other.commit(new Change.Cancel(key("id-0"), 0, NOW));
    assertCreated(commit(size, NOW));
    assertThat(fixture.number("SELECT count(*) FROM timewheel_done")).isZero();
  }

  @Test
  void removesATimerOfAQueueThatIsInTheHistoryFromItsCounter() throws SQLException {
    other.commit(schedule("a", NOW));
    other.commit(new Change.Cancel(key("a"), 0, NOW));
    node.commit(scheduleForQueue("a", NOW));
    assertThat(fixture.number(IN_QUEUE)).isOne();
  }

  /** Otherwise each replacement of a timer would cost an additional round trip. */
  @Test
  void triesNoDirectWriteForAWhileAfterExistingTimers() {
    other.commit(schedule("a", NOW));
    for (int i = 1; i <= 100; i++) {
      node.commit(schedule("a", NOW + i));
    }
    assertThat(source.directWrites).isEqualTo(7); // after 1, 2, 4, 8, 16, 32 and 64 calls
    for (int i = 0; i < 64; i++) {
      node.commit(schedule("new" + i, NOW));
    }
    assertThat(source.directWrites).isGreaterThan(30);
  }

  /** A list with an existing timer costs twice as much, and the server logs an error. */
  @Test
  void triesNoDirectWriteOfAListForAMinuteAfterAnExistingTimer() {
    other.commit(schedule("id-50", NOW + 1));
    assertThat(commit(1_000, NOW))
        .extracting(Outcome::answer)
        .containsOnly(Answer.CREATED, Answer.REPLACED);
    assertThat(source.directWrites).isOne();
    node.clock.advanceMillis(59_999);
    commit(1_000, NOW + 2);
    assertThat(source.directWrites).isOne();
    node.clock.advanceMillis(1);
    commit(1_000, NOW + 3);
    assertThat(source.directWrites).isEqualTo(2);
    assertThat(node.store.counts())
        .isEqualTo(Map.of("shop", Map.of(TimerState.SCHEDULED, (long) longest())));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void findsATimerInEachPartOfTheHistory(int part) throws SQLException {
    fixture.execute("UPDATE timewheel_history SET part = " + part);
    other.commit(scheduleForQueue("id-0", NOW));
    other.commit(new Change.Cancel(key("id-0"), 0, NOW));
    assertCreated(commit(100, NOW));
    assertThat(fixture.number("SELECT count(*) FROM timewheel_done")).isZero();
    assertThat(source.directWrites).isOne();
  }

  @Test
  void leavesAListWithARepeatedKeyToAWriteBatch() {
    assertThat(
            node.store.commit(List.of(schedule("a", NOW), schedule("b", NOW), schedule("a", NOW))))
        .extracting(Outcome::answer)
        .containsExactly(Answer.CREATED, Answer.CREATED, Answer.UNCHANGED);
    assertThat(source.directWrites).isZero();
  }

  @Test
  void doesNotWaitTwiceForATimerThatIsHeld() throws SQLException {
    try (Connection holder = fixture.transaction();
        Statement statement = holder.createStatement()) {
      insertAsOther(statement, "a");
      assertThatExceptionOfType(HeldTimersException.class)
          .isThrownBy(() -> node.commit(schedule("a", NOW)));
      assertThatExceptionOfType(HeldTimersException.class)
          .isThrownBy(() -> node.commit(schedule("a", NOW)));
      assertThat(source.directWrites).isOne();
      holder.rollback();
    }
    assertThat(node.commit(schedule("a", NOW)).answer()).isEqualTo(Answer.CREATED);
  }

  @Test
  void aHeldTimerOfALongListDisplacesNoOtherHeldTimer() throws SQLException {
    try (Connection holder = fixture.transaction();
        Statement statement = holder.createStatement()) {
      insertAsOther(statement, "a");
      insertAsOther(statement, "id-5");
      for (List<Change> call :
          List.of(List.<Change>of(schedule("a", NOW)), list(1_000, NOW), list(1_000, NOW))) {
        assertThatExceptionOfType(HeldTimersException.class)
            .isThrownBy(() -> node.store.commit(call))
            .satisfies(e -> assertThat(e.heldKeys()).hasSize(1));
      }
      assertThat(source.directWrites).isEqualTo(2);
      assertThatExceptionOfType(HeldTimersException.class)
          .isThrownBy(() -> node.commit(schedule("a", NOW)));
      assertThat(source.directWrites).isEqualTo(2);
      holder.rollback();
    }
    assertCreated(commit(1_000, NOW));
  }

  /** PostgreSQL locks the tables of a statement before it executes any part of it. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void waitsBrieflyForALockOnATable(int size) throws SQLException {
    commit(size, NOW); // so that the connection has prepared the statements
    try (Connection holder = lockTimers()) {
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> node.store.commit(otherList(size)))
          .withMessageContaining("lock timeout")
          .returns(StoreException.Kind.TRANSIENT, StoreException::kind);
      assertThat(source.directWrites).isEqualTo(2);
      holder.rollback();
    }
    assertThat(node.store.commit(otherList(size)))
        .extracting(Outcome::answer)
        .containsOnly(Answer.CREATED);
  }

  private static List<Change> otherList(int size) {
    return IntStream.range(0, size).<Change>mapToObj(i -> schedule("other-" + i, NOW)).toList();
  }

  /** Locks the timers for a minute, if the test does not end the transaction before. */
  private Connection lockTimers() throws SQLException {
    Connection holder = fixture.transaction();
    try (Statement statement = holder.createStatement()) {
      statement.execute("SET LOCAL idle_in_transaction_session_timeout = '1min'");
      statement.execute("LOCK TABLE timewheel_timer IN ACCESS EXCLUSIVE MODE");
    }
    return holder;
  }

  private static void insertAsOther(Statement statement, String id) throws SQLException {
    statement.execute(
        "INSERT INTO timewheel_timer (version, due_at, created_at, changed_at, revision, shard,"
            + " attempt, state, flags, namespace, id, handler, spec, payload) VALUES"
            + " (1, 0, 0, 0, 0, 0, 0, 0, 0, 'shop', '"
            + id
            + "', 'orders', '', '')");
  }

  @Test
  void findsATimerInTheHistoryThatWasFinishingWhileItWaited() throws Exception {
    other.commit(schedule("a", NOW));
    TimerRecord record = node.store.get(key("a"));
    try (Connection watcher = fixture.pool.getConnection(); // before the short wait begins
        Connection finisher = fixture.transaction();
        var ends = new Statements(finisher)) {
      node.store.server().transactions().begin(finisher);
      Sql.execute(finisher, fixture.server.liftIdleTimeout());
      TimerRecord cancelled =
          Transitions.apply(record, new Change.Cancel(record.key(), 0, NOW), null).record();
      boolean[] unused =
          node.store
              .server()
              .records()
              .finish(ends, List.of(new Records.Step(record, cancelled)))
              .get();
      StateCounts counts = new StateCounts();
      counts.add(record, -1);
      counts.add(cancelled, 1);
      node.store.server().shared().count(ends, counts);
      ends.send();
      CompletableFuture<Outcome> commit =
          CompletableFuture.supplyAsync(
              () -> {
                while (true) {
                  try {
                    return node.commit(schedule("a", NOW + 1));
                  } catch (HeldTimersException e) {
                    LockSupport.parkNanos(1_000_000);
                  }
                }
              });
      while (Sql.number(watcher, "SELECT count(*) FROM pg_locks WHERE NOT granted") == 0) {
        assertThat(commit).isNotDone();
      }
      finisher.commit();
      assertThat(commit.join().answer()).isEqualTo(Answer.CREATED);
    }
    assertThat(fixture.number("SELECT count(*) FROM timewheel_done")).isZero();
  }

  // One transaction

  /**
   * After five executions, the driver prepares a statement on the server, and then sends it
   * differently.
   */
  @Test
  void sendsItsStatementsAsOneTransactionHoweverOften() throws SQLException {
    DirectInserts inserts = node.store.server().directInserts();
    try (HikariDataSource one = fixture.database.pool(1);
        Connection connection = one.getConnection()) {
      for (int i = 0; i < 20; i++) {
        for (int size : new int[] {1, 1_000}) {
          List<TimerRecord> records =
              other.store.commit(list(size, NOW)).stream()
                  .map(outcome -> outcome.record().copy().version(0).build())
                  .sorted(Comparator.comparing(TimerRecord::key))
                  .toList();
          fixture.execute("DELETE FROM timewheel_timer");
          var answer = inserts.insert(connection, records, i, 4, to -> {});
          assertThat(answer.oneTransaction()).isTrue();
          assertThat(answer.inserted()).isTrue();
          fixture.execute("DELETE FROM timewheel_timer");
        }
      }
    }
    fixture.execute("TRUNCATE timewheel_count");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "preferQueryMode=simple",
        "preferQueryMode=simple&options=-c%20lock_timeout=100ms",
        "options=-c%20default_transaction_isolation=serializable"
      })
  void writesNothingDirectlyWhereStatementsHaveTransactionsOfTheirOwn(String parameter)
      throws SQLException {
    String[] setting = parameter.split("=", 2);
    try (HikariDataSource pool = fixture.database.with(setting[0], setting[1]).pool(4)) {
      LossySource counted = new LossySource(pool);
      Fixture.Node session = fixture.open(counted, 4);
      assertThat(session.commit(schedule("a", NOW)).answer()).isEqualTo(Answer.CREATED);
      assertThat(counted.directWrites).isZero();
      session.store.close();
    }
  }

  @Test
  void writesNothingDirectlyOnceTheIsolationHasChanged() throws SQLException {
    try (HikariDataSource pool = fixture.database.pool(1)) {
      LossySource counted = new LossySource(pool);
      Fixture.Node session = fixture.open(counted, 4);
      try (Connection connection = pool.getConnection();
          Statement statement = connection.createStatement()) {
        statement.execute("SET default_transaction_isolation = 'repeatable read'");
      }
      assertThat(session.commit(schedule("a", NOW)).answer()).isEqualTo(Answer.CREATED);
      assertThat(session.commit(schedule("b", NOW)).answer()).isEqualTo(Answer.CREATED);
      assertThat(counted.directWrites).isOne();
      session.store.close();
    }
  }

  @Test
  void writesNothingInAnUnknownFormat() throws SQLException {
    fixture.execute("UPDATE timewheel_meta SET value = 9 WHERE name = 'format'");
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> node.commit(schedule("a", NOW)))
        .withMessage("the tables have format 9 (expected: 6)")
        .returns(StoreException.Kind.UNAVAILABLE, StoreException::kind);
    assertDirect(1);
    assertThat(fixture.number("SELECT count(*) FROM timewheel_timer")).isZero();
    fixture.execute("UPDATE timewheel_meta SET value = 6 WHERE name = 'format'");
    node.commit(schedule("a", NOW));
  }

  // Lost answers

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 1_000})
  void returnsTheCommittedOutcomeAfterALostAnswer(int size) {
    source.fates.add(Fate.ANSWER_LOST);
    assertCreated(commit(size, NOW));
    assertDirect(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 1_000})
  void repeatsAnInsertThatDidNotReachTheServer(int size) {
    source.fates.add(Fate.COMMIT_LOST);
    source.fates.add(Fate.COMMIT_LOST);
    assertCreated(commit(size, NOW));
    assertDirect(3);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void returnsTheOutcomeOfARepeatedInsertThatWasLostToo(int size) {
    source.fates.add(Fate.COMMIT_LOST);
    source.fates.add(Fate.ANSWER_LOST);
    assertCreated(commit(size, NOW));
    assertDirect(2);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void waitsForAnInsertThatIsInProgress(int size) {
    int[] looks = {0};
    source.fates.add(Fate.COMMIT_DELAYED);
    node.onPause =
        () -> {
          if (++looks[0] == 3) {
            endDelayed(true);
          }
        };
    assertCreated(commit(size, NOW));
    assertThat(looks[0]).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void repeatsAnInsertThatWasInProgressAndThenAborted(int size) {
    int[] looks = {0};
    source.fates.add(Fate.COMMIT_DELAYED);
    node.onPause =
        () -> {
          if (++looks[0] == 3) {
            endDelayed(false);
          }
        };
    assertCreated(commit(size, NOW));
  }

  /** The repeated insert may be committed in its own session, although the first one has ended. */
  @Test
  void waitsForARepeatedInsertInAnotherSession() {
    source.fates.add(Fate.COMMIT_LOST);
    source.fates.add(Fate.COMMIT_DELAYED);
    Connection[] first = new Connection[1];
    source.onRollback =
        () -> {
          source.onConnection = () -> first[0] = takeOnce();
          source.onRollback =
              () -> {
                source.onRollback = () -> {};
                end(first[0]);
              };
        };
    int[] looks = {0};
    node.onPause =
        () -> {
          if (++looks[0] == 3) {
            endDelayed(true);
          }
        };
    assertCreated(List.of(node.commit(schedule("a", NOW))));
    assertThat(looks[0]).isEqualTo(3);
  }

  /** Takes the connection that this thread gave back last, so that the next call gets another. */
  private Connection takeOnce() {
    source.onConnection = () -> {};
    try {
      return fixture.pool.getConnection();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Ends a session, and waits until the server has ended it. */
  private void end(Connection connection) {
    try {
      int pid = connection.unwrap(PGConnection.class).getBackendPID();
      fixture.pool.evictConnection(connection);
      Await.until(
          () -> fixture.number("SELECT count(*) FROM pg_stat_activity WHERE pid = " + pid) <= 0);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  void endDelayed(boolean commit) {
    end(source.delayed, commit);
  }

  static void end(Connection delayed, boolean commit) {
    try {
      if (commit) {
        delayed.commit();
      } else {
        delayed.rollback();
      }
      delayed.close();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Then it cannot determine whether the session that sent the write has ended. */
  @ParameterizedTest
  @ValueSource(strings = {"ANSWER_LOST", "COMMIT_LOST"})
  void settlesALostAnswerAlthoughItMayNotReadTheSessions(Fate fate) throws SQLException {
    Database database = fixture.server.server().createDatabase();
    Database administration = fixture.server.server().administration();
    new Database(database.url(), administration.user(), administration.password())
        .execute("REVOKE SELECT ON pg_stat_activity FROM PUBLIC");
    try (HikariDataSource pool = database.pool(2)) {
      LossySource lossy = new LossySource(pool);
      Fixture.Node session = fixture.open(lossy, 4);
      for (String id : List.of("a", "b")) {
        lossy.fates.add(fate);
        assertThat(session.commit(schedule(id, NOW)).answer()).isEqualTo(Answer.CREATED);
      }
      session.store.close();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void aLookupWaitsBrieflyForALockOnATable(int size) {
    Connection[] holder = {null};
    int[] pauses = {0};
    node.onPause =
        () -> {
          if (++pauses[0] == 8) {
            end(holder[0], false);
          }
        };
    afterwards(
        Fate.ANSWER_LOST,
        () -> {
          try {
            holder[0] = lockTimers();
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
        });
    assertCreated(commit(size, NOW));
    assertThat(pauses[0]).isEqualTo(8);
  }

  /** A read-only database allows no insert that would exclude the first one, and needs none. */
  @Test
  void reportsNoChangeIfItsSessionHasEndedAndTheDatabaseIsReadOnly() throws Exception {
    try (HikariDataSource one = fixture.database.pool(1)) {
      LossySource lossy = new LossySource(one);
      Fixture.Node session = fixture.open(lossy, 4);
      lossy.fates.add(Fate.COMMIT_LOST);
      lossy.onRollback =
          () -> {
            lossy.onRollback = () -> {};
            try {
              setReadOnly(true);
              one.getHikariPoolMXBean().softEvictConnections();
            } catch (SQLException e) {
              throw new IllegalStateException(e);
            }
          };
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> session.commit(schedule("a", NOW)))
          .withMessageContaining("read-only")
          .returns(StoreException.Kind.UNAVAILABLE, StoreException::kind);
      setReadOnly(false);
    }
  }

  private void setReadOnly(boolean readOnly) throws SQLException {
    String name = fixture.database.url().replaceFirst(".*/", "").replaceFirst("[?].*", "");
    fixture.execute("ALTER DATABASE " + name + " SET default_transaction_read_only = " + readOnly);
  }

  @Test
  void isUnknownWhileTheInsertStaysInProgress() {
    source.fates.add(Fate.COMMIT_DELAYED);
    assertUnknown(schedule("a", NOW));
    endDelayed(true);
  }

  void assertUnknown(Change change) {
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> node.commit(change))
        .returns(StoreException.Kind.UNKNOWN, StoreException::kind);
  }

  /** Makes another node commit a change after the server has ended the write. */
  void afterwards(Fate fate, Runnable work) {
    source.fates.add(fate);
    source.onRollback =
        () -> {
          source.onRollback = () -> {};
          work.run();
        };
  }

  @Test
  void returnsTheCommittedOutcomeAlthoughTheTimerHasFinished() {
    afterwards(Fate.ANSWER_LOST, () -> other.commit(new Change.Cancel(key("a"), 0, NOW)));
    Outcome outcome = node.commit(schedule("a", NOW));
    assertThat(outcome.answer()).isEqualTo(Answer.CREATED);
    assertThat(outcome.version()).isEqualTo(node.store.get(key("a")).version());
    assertThat(node.store.get(key("a")).state()).isEqualTo(TimerState.CANCELLED);
  }

  /** The session cannot determine whether the other node has replaced or created the timer. */
  @ParameterizedTest
  @ValueSource(strings = {"ANSWER_LOST", "COMMIT_LOST"})
  void isUnknownIfTheTimerWasReplacedMeanwhile(Fate fate) {
    other.commit(schedule("b", NOW));
    node.commit(schedule("c", NOW)); // so that it knows a version
    afterwards(fate, () -> other.commit(schedule("a", NOW + 1)));
    assertUnknown(schedule("a", NOW));
    assertThat(node.store.get(key("a")).dueAt()).isEqualTo(NOW + 1);
  }

  @Test
  void doesNotMistakeTheKeptAnswerOfARequestForAVersion() {
    node.commit(new Change.Keep(key("a"), RequestId.of("r"), Long.MAX_VALUE, NOW));
    afterwards(Fate.ANSWER_LOST, () -> other.commit(schedule("a", NOW + 1)));
    assertUnknown(schedule("a", NOW));
    assertThat(node.store.get(key("a")).dueAt()).isEqualTo(NOW + 1);
  }

  @Test
  void isUnknownIfTheTimerWasMovedMeanwhile() {
    afterwards(Fate.ANSWER_LOST, () -> other.commit(new Change.Move(key("a"), 0, NOW + 5, NOW)));
    assertUnknown(schedule("a", NOW));
  }

  /** The first eight timers of a list, in the order of their keys, have its token. */
  static List<Change> moves(int size) {
    return Stream.of("0", "1", "10", "100", "101", "102", "103", "104")
        .limit(size)
        .<Change>map(id -> new Change.Move(key("id-" + id), 0, NOW + 5, NOW))
        .toList();
  }

  @Test
  void returnsTheCommittedOutcomeOfAListWhileOneOfItsFirstTimersIsUnchanged() {
    afterwards(
        Fate.ANSWER_LOST,
        () -> {
          other.store.commit(moves(7));
          other.commit(schedule("id-105", NOW + 1)); // the ninth
        });
    List<Outcome> outcomes = commit(1_000, NOW);
    assertThat(outcomes)
        .allMatch(outcome -> outcome.answer() == Answer.CREATED)
        .extracting(outcome -> outcome.record().key())
        .isEqualTo(list(1_000, NOW).stream().map(Change::key).toList());
    List<Outcome> unchanged =
        outcomes.stream()
            .filter(outcome -> outcome.record().equals(node.store.get(outcome.record().key())))
            .toList();
    assertThat(unchanged).hasSize(992);
    assertThat(outcomes).extracting(Outcome::version).doesNotHaveDuplicates();
  }

  @Test
  void isUnknownIfTheFirstTimersOfAListWereMovedMeanwhile() {
    afterwards(Fate.ANSWER_LOST, () -> other.store.commit(moves(8)));
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> commit(1_000, NOW))
        .returns(StoreException.Kind.UNKNOWN, StoreException::kind);
  }

  @Test
  void replacesATimerWhoseVersionItKnew() {
    node.commit(schedule("a", NOW));
    node.commit(schedule("b", NOW));
    source.fates.add(Fate.ANSWER_LOST);
    assertThat(node.commit(schedule("a", NOW + 1)).answer()).isEqualTo(Answer.REPLACED);
    source.fates.add(Fate.ANSWER_LOST);
    node.store.commit(List.of(schedule("b", NOW + 1), schedule("d", NOW)));
    assertThat(node.store.get(key("b")).dueAt()).isEqualTo(NOW + 1);
  }

  @Test
  void isUnknownIfTheHistoryIsPurgedUpToNow() throws SQLException {
    source.fates.add(Fate.COMMIT_LOST);
    fixture.execute("UPDATE timewheel_history SET forgotten_at = " + NOW);
    assertUnknown(schedule("a", NOW));
  }

  @Test
  void anInsertThatArrivesLateChangesNothing() throws SQLException {
    List<TimerRecord> made = List.of(other.commit(schedule("late", NOW)).record());
    try (Connection connection = fixture.pool.getConnection()) {
      connection.setAutoCommit(true);
      DirectInserts inserts = node.store.server().directInserts();
      assertThat(inserts.insert(connection, made, 7, 4, to -> {}).inserted()).isFalse();
      other.commit(new Change.Cancel(key("late"), 0, NOW));
      assertThatExceptionOfType(SQLException.class)
          .isThrownBy(() -> inserts.insert(connection, made, 7, 4, to -> {}))
          .matches(inserts::isNotNew)
          .withMessageContaining("no error: the timer is in the history");
    }
    assertThat(node.store.get(key("late")).state()).isEqualTo(TimerState.CANCELLED);
    assertThat(node.store.counts()).isEqualTo(Map.of("shop", Map.of(TimerState.CANCELLED, 1L)));
  }
}
