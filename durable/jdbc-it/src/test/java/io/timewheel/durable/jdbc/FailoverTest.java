// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.ScheduleResult;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.internal.postgresql.PostgreSql;
import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.server.CommitProof;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.jdbc.testing.Standby;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.DurableTimerException.Reason;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Kills the primary and promotes its standby. Verifies that nodes continue without intervention.
 * Only this class verifies nodes after the promotion of a replica.
 */
@Tag("proof")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = OutageTest.LOG, mode = ResourceAccessMode.READ)
@Timeout(300)
@Tag("promise-63")
class FailoverTest {
  private static final RetryPolicy PATIENT =
      new RetryPolicy(1_000, Duration.ofMillis(10), Duration.ofMillis(100));

  private final DatabaseServer primary;
  private final Standby standby;
  private final Database database;
  private final HikariDataSource pool;
  private final List<AutoCloseable> opened = new ArrayList<>();

  /** The number of calls of the plain handler for each timer. */
  private final Map<String, Integer> fired = new ConcurrentHashMap<>();

  FailoverTest() {
    DatabaseServer unused = Server.of(this).server(); // otherwise the test is skipped
    primary = DatabaseServer.postgresql().sync(false).start();
    standby = Standby.of(primary);
    database = primary.createDatabase();
    pool = pool(8);
  }

  private HikariDataSource pool(int socketTimeoutSeconds) {
    HikariDataSource made =
        standby
            .onEither(database)
            .with("socketTimeout", socketTimeoutSeconds)
            .with("connectTimeout", socketTimeoutSeconds)
            .pool(16);
    made.setConnectionTimeout(2_000);
    opened.add(made);
    return made;
  }

  @AfterEach
  void close() throws Exception {
    for (int i = opened.size(); i-- > 0; ) {
      opened.get(i).close();
    }
    standby.close();
    primary.close();
  }

  private void failOver() {
    primary.crash();
    standby.promote();
  }

  private JdbcTimerStore open(DataSource source) {
    JdbcTimerStore store = JdbcTimerStore.postgresqlBuilder(source).shards(4).open();
    opened.add(store);
    return store;
  }

  private DurableTimer start(JdbcTimerStore store) {
    DurableTimer scheduler =
        DurableTimer.builder(store)
            .handler("plain", firing -> fired.merge(firing.id(), 1, Integer::sum))
            .finishingHandler("ledger", TransactionTimers.of(store).handler(Ledger::write), 4)
            .start();
    opened.add(scheduler);
    return scheduler;
  }

  private static TimerSpec spec(String id, Duration after, String handler) {
    return TimerSpec.of("shop", id).after(after).handler(handler).retry(PATIENT);
  }

  /** Reads a timer until it meets a condition. */
  private static TimerInfo await(
      DurableTimer scheduler, String id, Predicate<TimerInfo> condition) {
    while (true) {
      try {
        Optional<TimerInfo> info = scheduler.timer("shop", id).get();
        if (info.isPresent() && condition.test(info.get())) {
          return info.get();
        }
      } catch (DurableTimerException e) {
        assertThat(e.reason()).isEqualTo(Reason.STORE_UNAVAILABLE);
      }
    }
  }

  private static boolean isDone(TimerInfo info) {
    return info.state() == TimerState.COMPLETED;
  }

  /** Schedules a timer, repeatedly until the call succeeds. */
  private static ScheduleResult schedule(DurableTimer scheduler, TimerSpec spec) {
    while (true) {
      try {
        return scheduler.schedule(spec);
      } catch (DurableTimerException e) {
        assertThat(e.reason()).isIn(Reason.STORE_UNAVAILABLE, Reason.UNKNOWN);
      }
    }
  }

  // Nothing is lost

  /** Schedules one timer after another, and keeps the results. */
  private static final class Caller extends Thread {
    final Map<String, Long> versions = new ConcurrentHashMap<>();
    final Map<String, DurableTimerException> failures = new ConcurrentHashMap<>();
    final Semaphore acknowledged = new Semaphore(0);
    final String handler;
    final DurableTimer scheduler;
    volatile boolean stopped;

    Caller(DurableTimer scheduler, String handler) {
      this.scheduler = scheduler;
      this.handler = handler;
      setDaemon(true);
      start();
    }

    @Override
    public void run() {
      for (int i = 0; !stopped; i++) {
        String id = handler + i;
        try {
          Duration after = Duration.ofMillis(i % 30 * 100L);
          versions.put(id, scheduler.schedule(spec(id, after, handler)).version());
          acknowledged.release();
        } catch (DurableTimerException e) {
          failures.put(id, e);
        }
      }
    }

    void awaitAcknowledged(int more) {
      acknowledged.drainPermits();
      acknowledged.acquireUninterruptibly(more);
    }

    void end() throws InterruptedException {
      stopped = true;
      join();
    }
  }

  @Test
  void losesNoCommitAndContinuesWithoutIntervention() throws Exception {
    standby.waitedFor();
    database.execute("CREATE TABLE ledger (id text, attempt integer)");
    DurableTimer scheduler = start(open(pool));
    List<Caller> callers = List.of(new Caller(scheduler, "plain"), new Caller(scheduler, "ledger"));
    callers.forEach(caller -> caller.awaitAcknowledged(200));
    failOver();
    callers.forEach(caller -> caller.awaitAcknowledged(200));
    for (Caller caller : callers) {
      caller.end();
    }
    Set<Long> versions = ConcurrentHashMap.newKeySet();
    for (Caller caller : callers) {
      for (String id : caller.versions.keySet()) {
        assertThat(scheduler.timer("shop", id).get()).as(id).isPresent();
        await(scheduler, id, FailoverTest::isDone);
      }
      caller.versions.values().forEach(version -> assertThat(versions.add(version)).isTrue());
    }
    Map<String, Integer> effects = effects();
    assertThat(effects.values()).containsOnly(1);
    assertThat(effects).containsKeys(callers.get(1).versions.keySet().toArray(String[]::new));
    assertThat(fired).containsKeys(callers.get(0).versions.keySet().toArray(String[]::new));
    for (Caller caller : callers) {
      caller.failures.forEach(
          (id, failure) -> {
            assertThat(failure.reason()).isIn(Reason.STORE_UNAVAILABLE, Reason.UNKNOWN);
            if (failure.reason() == Reason.STORE_UNAVAILABLE) {
              assertThat(scheduler.timer("shop", id).get()).as("refused: " + failure).isEmpty();
            }
          });
    }
  }

  private Map<String, Integer> effects() throws SQLException {
    Map<String, Integer> effects = new HashMap<>();
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery("SELECT id, count(*)::integer FROM ledger GROUP BY id")) {
      while (rows.next()) {
        effects.put(rows.getString(1), rows.getInt(2));
      }
    }
    return effects;
  }

  // A lost answer to COMMIT

  /** Fails over after the first unanswered commit, and then lets other transactions commit. */
  private LossySource failingOver() {
    LossySource source = new LossySource(pool);
    source.onRollback =
        () -> {
          if (primary.isRunning()) {
            failOver();
            commitOthers();
          }
        };
    return source;
  }

  /** Commits transactions that reuse the numbers of the lost ones. */
  private void commitOthers() {
    try (Connection connection = standby.server().administration().connect();
        Statement statement = connection.createStatement()) {
      for (int i = 0; i < 100; i++) {
        statement.execute("SELECT pg_current_xact_id()");
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns a direct write, and a change that needs a write batch. */
  static List<Change> writes() {
    return List.of(Fixture.schedule("a", NOW), TransactionsTest.keyed("a"));
  }

  @ParameterizedTest
  @MethodSource("writes")
  void doesNotMistakeAnotherCommitForALostOne(Change write) {
    LossySource source = failingOver();
    JdbcTimerStore store = open(source);
    standby.cutOff();
    source.fates.add(LossySource.Fate.ANSWER_LOST);
    Outcome outcome = store.commit(List.of(write)).get(0);
    assertThat(outcome.answer()).isEqualTo(Answer.CREATED);
    assertThat(store.get(key("a"))).isNotNull();
    assertThat(store.figures().lostAnswersAborted()).isOne();
  }

  @ParameterizedTest
  @MethodSource("writes")
  void findsACommitThatTheStandbyHas(Change write) {
    standby.waitedFor();
    LossySource source = failingOver();
    JdbcTimerStore store = open(source);
    source.commits = 0;
    source.fates.add(LossySource.Fate.ANSWER_LOST);
    Outcome outcome = store.commit(List.of(write)).get(0);
    assertThat(outcome.answer()).isEqualTo(Answer.CREATED);
    assertThat(store.get(key("a")).version()).isEqualTo(outcome.version());
    assertThat(store.figures().lostAnswersCommitted()).isOne();
    assertThat(source.commits + source.directWrites).isOne();
  }

  /** The restart erases the position up to which the promoted server recovered. */
  @Test
  void reportsUnknownForACommitBeforeAPromotionAndARestart() {
    LossySource source = failingOverAndRestarting();
    JdbcTimerStore store = open(source);
    standby.cutOff();
    source.fates.add(LossySource.Fate.ANSWER_LOST);
    assertThatThrownBy(() -> store.commit(List.of(TransactionsTest.keyed("a"))))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.UNKNOWN));
    assertThat(store.get(key("a"))).isNull();
  }

  private LossySource failingOverAndRestarting() {
    LossySource source = new LossySource(pool);
    source.onRollback =
        () -> {
          if (primary.isRunning()) {
            failOver();
            commitOthers();
            standby.server().stop();
            standby.server().start();
          }
        };
    return source;
  }

  /** The row contains the token of a direct write, or the write was lost. */
  @Test
  void repeatsADirectWriteThatWasLostBeforeAPromotionAndARestart() {
    LossySource source = failingOverAndRestarting();
    JdbcTimerStore store = open(source);
    standby.cutOff();
    source.fates.add(LossySource.Fate.ANSWER_LOST);
    Outcome outcome = store.commit(List.of(Fixture.schedule("a", NOW))).get(0);
    assertThat(outcome.answer()).isEqualTo(Answer.CREATED);
    assertThat(store.get(key("a")).version()).isEqualTo(outcome.version());
    assertThat(store.figures().lostAnswersAborted()).isOne();
  }

  @Test
  void ignoresAStandbyThatMayBeBehind() throws SQLException {
    open(pool);
    standby.cutOff();
    CommitProof commits = PostgreSql.parts(Formats.ofThisRelease()).commits();
    String id;
    try (Connection connection = database.connect()) {
      connection.setAutoCommit(false);
      connection.createStatement().execute("INSERT INTO timewheel_count VALUES ('', 0, 0)");
      id = commits.transactionId(connection);
      connection.commit();
      assertThat(commits.isCommitted(connection, id)).isTrue();
    }
    try (Connection connection = database.through(standby.server().port()).connect()) {
      assertThat(commits.isCommitted(connection, id)).isNull();
    }
  }

  @Test
  void reportsNoSuccessForACommitThatOnlyTheRestartedPrimaryHas() throws Exception {
    standby.waitedFor();
    open(pool); // creates the tables first, which may take long
    JdbcTimerStore store = open(pool(1));
    standby.server().crash();
    CompletableFuture<List<Outcome>> commit =
        CompletableFuture.supplyAsync(() -> store.commit(List.of(Fixture.schedule("a", NOW))));
    String waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    try (Connection connection = primary.administration().connect();
        PreparedStatement statement = connection.prepareStatement(waits)) {
      boolean waiting = false;
      while (!waiting) {
        try (ResultSet rows = statement.executeQuery()) {
          rows.next();
          waiting = rows.getInt(1) > 0;
        }
      }
    }
    primary.crash();
    primary.start();
    assertThatThrownBy(commit::join)
        .cause()
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.UNKNOWN));
  }

  // Commits that a standby lacks

  @Test
  void continuesWithTheDataOfTheStandby() throws Exception {
    JdbcTimerStore store = open(pool);
    standby.waitedFor(); // so it has the claim of the begun attempt
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    DurableTimer scheduler =
        DurableTimer.builder(store)
            .handler(
                "plain",
                firing -> {
                  fired.merge(firing.id(), 1, Integer::sum);
                  begun.countDown();
                  end.await();
                })
            .start();
    opened.add(scheduler);
    String node = store.nodeId();
    scheduler.schedule(spec("again", Duration.ZERO, "plain"));
    begun.await();
    standby.notWaitedFor();
    standby.cutOff();
    end.countDown();
    await(scheduler, "again", FailoverTest::isDone);
    scheduler.schedule(spec("lost", Duration.ofDays(1), "plain"));
    failOver();
    await(scheduler, "again", info -> isDone(info) && fired.get("again") > 1);
    assertThat(scheduler.timer("shop", "lost").get()).isEmpty();
    assertThat(schedule(scheduler, spec("lost", Duration.ofDays(1), "plain")).outcome())
        .isEqualTo(ScheduleResult.Outcome.CREATED);
    assertThat(store.nodeId()).isNotEqualTo(node);
    assertThat(scheduler.counts().get("shop"))
        .containsEntry(TimerState.SCHEDULED, 1L)
        .doesNotContainKey(TimerState.RUNNING);
  }

  private Fixture.Node open() {
    Fixture.Node node = new Fixture.Node(JdbcTimerStore.postgresqlBuilder(pool).shards(4));
    opened.add(node.store);
    return node;
  }

  private void execute(String sql) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /**
   * Two nodes take the same shards on different servers, and the second gets the same node number.
   */
  @Test
  void refusesAnOwnerWhoseTakeOverTheStandbyLacks() throws SQLException {
    Fixture.Node former = open();
    standby.waitedFor();
    former.store.start(former);
    former.commit(Fixture.schedule("a", NOW));
    standby.notWaitedFor();
    standby.cutOff();
    execute("UPDATE timewheel_node SET lease_until = 0");
    Fixture.Node lost = open();
    lost.store.start(lost);
    long number = lost.ownership().incarnation();
    Change.Begin claim = lost.begin("a");
    assertThat(lost.commit(claim).answer()).isEqualTo(Answer.APPLIED);
    failOver();
    execute("UPDATE timewheel_node SET lease_until = 0");
    execute("SELECT setval('timewheel_incarnation', " + number + ", false)");
    Fixture.Node heir = open();
    heir.store.start(heir);
    assertThat(heir.ownership().incarnation()).isEqualTo(number);
    assertThat(heir.epochs).hasSize(4);
    Change.Begin own = heir.begin("a");
    assertThat(heir.commit(own).answer()).isEqualTo(Answer.APPLIED);
    assertThat(lost.commit(claim).answer()).isEqualTo(Answer.STALE_OWNER);
    assertThat(lost.commit(Fixture.success(claim)).answer()).isEqualTo(Answer.STALE_OWNER);
    assertThat(heir.store.get(key("a")).state()).isEqualTo(TimerState.RUNNING);
    lost.ownership().renew();
    assertThat(lost.epochs).isEmpty();
    assertThat(lost.ownership().incarnation()).isNotEqualTo(number);
    String shards = "SELECT count(*) FROM timewheel_shard WHERE owner = " + number;
    assertThat(standby.onEither(database).number(shards)).isEqualTo(4);
    assertThat(heir.commit(Fixture.success(own)).answer()).isEqualTo(Answer.APPLIED);
  }

  @Test
  void releasesItsShardsOnAnotherServerAndTakesThemAgain() {
    Fixture.Node node = new Fixture.Node(JdbcTimerStore.postgresqlBuilder(pool).shards(4));
    opened.add(node.store);
    standby.waitedFor();
    node.store.start(node);
    Map<Integer, Long> former = Map.copyOf(node.epochs);
    failOver();
    node.ownership().renew();
    node.ownership().balance();
    assertThat(node.epochs).hasSize(4);
    former.forEach((shard, epoch) -> assertThat(node.epochs.get(shard)).isGreaterThan(epoch));
  }

  @Test
  void reportsUnknownWhileTheStandbyIsDownAndContinuesWhenItIsBack() {
    standby.waitedFor();
    open(pool); // creates the tables first, which may take long
    DurableTimer scheduler = start(open(pool(2)));
    standby.server().crash();
    assertThat(
            catchThrowableOfType(
                DurableTimerException.class,
                () -> scheduler.schedule(spec("waits", Duration.ZERO, "plain"))))
        .returns(Reason.UNKNOWN, DurableTimerException::reason);
    standby.server().start();
    await(scheduler, "waits", FailoverTest::isDone);
    schedule(scheduler, spec("after", Duration.ZERO, "plain"));
    await(scheduler, "after", FailoverTest::isDone);
  }
}
