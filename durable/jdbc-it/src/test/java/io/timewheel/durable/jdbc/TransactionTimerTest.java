// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.timewheel.durable.BatchResult;
import io.timewheel.durable.ScheduleResult;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.internal.postgresql.PostgreSql;
import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.server.NotificationTransport;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.DurableTimerException.Reason;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Verifies that timers in a user's transaction exist if it commits, and leave it usable. */
@Timeout(120)
@Tag("promise-65")
class TransactionTimerTest {
  final Fixture fixture = new Fixture(Server.of(this));
  final Fixture.Node node = fixture.start();
  final TransactionTimers timers = TransactionTimers.of(node.store);
  Connection connection;
  TransactionTimer timer;

  @BeforeEach
  void begin() throws SQLException {
    connection = fixture.transaction();
    timer = timers.in(connection);
  }

  @AfterEach
  void close() throws SQLException {
    connection.close();
    fixture.close();
  }

  static TimerSpec spec(String id) {
    return TimerSpec.of("shop", id).after(Duration.ofMinutes(30)).handler("orders");
  }

  static TimerSpec at(String id, long dueMillis) {
    return TimerSpec.of("shop", id).at(Instant.ofEpochMilli(dueMillis)).handler("orders");
  }

  TimerState state(String id) {
    TimerRecord record = node.store.get(key(id));
    return record == null ? null : record.state();
  }

  void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private String text(Connection where, String sql) throws SQLException {
    try (Statement statement = where.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }

  // Atomicity

  @Test
  void aScheduledTimerExistsAfterTheCommit() throws SQLException {
    fixture.execute("CREATE TABLE orders (id text)");
    execute("INSERT INTO orders VALUES ('a')");
    ScheduleResult made = timer.schedule(spec("a"));
    assertThat(made.outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
    assertThat(state("a")).isNull();
    connection.commit();
    assertThat(state("a")).isEqualTo(TimerState.SCHEDULED);
    assertThat(node.store.get(key("a")).version()).isEqualTo(made.version());
    assertThat(fixture.number("SELECT count(*) FROM orders")).isOne();
    assertThat(fixture.number("SELECT sum(delta) FROM timewheel_count")).isOne();
  }

  @Test
  void aScheduledTimerIsRolledBackWithTheTransaction() throws SQLException {
    timer.schedule(spec("a"));
    connection.rollback();
    connection.commit();
    assertThat(state("a")).isNull();
    assertThat(node.store.counts()).isEmpty();
    assertThat(connection.isClosed()).isFalse();
    assertThat(connection.getAutoCommit()).isFalse();
  }

  @Test
  void aCancelTakesEffectIfTheTransactionCommits() throws SQLException {
    node.commit(Fixture.schedule("a", NOW));
    assertThat(timer.cancel("shop", "a").outcome()).isEqualTo(CancelResult.Outcome.CANCELLED);
    connection.rollback();
    assertThat(state("a")).isEqualTo(TimerState.SCHEDULED);
    assertThat(timer.cancel("shop", "a").outcome()).isEqualTo(CancelResult.Outcome.CANCELLED);
    connection.commit();
    assertThat(state("a")).isEqualTo(TimerState.CANCELLED);
  }

  @Test
  void aTransactionReadsItsOwnChanges() throws SQLException {
    timer.schedule(spec("a"));
    timer.cancel("shop", "a");
    assertThat(timer.schedule(spec("a")).outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
    assertThat(timer.schedule(spec("a")).outcome()).isEqualTo(ScheduleResult.Outcome.REPLACED);
    connection.commit();
    assertThat(state("a")).isEqualTo(TimerState.SCHEDULED);
    assertThat(fixture.number("SELECT count(*) FROM timewheel_done")).isZero();
  }

  @Test
  void cancelsAndReplacesReadyTimersWithTheirIndexAndCounts() throws SQLException {
    node.makeReady(3);
    timer.cancel("shop", "id-000");
    timer.schedule(spec("id-001"));
    connection.commit();
    assertThat(fixture.number("SELECT count(*) FROM timewheel_ready")).isOne();
    assertThat(node.store.counts().get("shop"))
        .isEqualTo(
            Map.of(TimerState.READY, 1L, TimerState.SCHEDULED, 1L, TimerState.CANCELLED, 1L));
  }

  /** Makes 'b' disappear after each insert. */
  void loseB() throws SQLException {
    fixture.execute(
        "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'");
    fixture.execute(
        "CREATE TRIGGER lose BEFORE INSERT ON timewheel_timer FOR EACH ROW WHEN (NEW.id = 'b')"
            + " EXECUTE FUNCTION lose()");
  }

  @Test
  void aCallThatFailsHalfwayChangesNothing() throws SQLException {
    loseB();
    List<TimerSpec> specs = new ArrayList<>(); // more than fits into one commit
    specs.add(spec("b"));
    for (int i = 0; i < 250; i++) {
      specs.add(spec("a" + i));
    }
    assertThatExceptionOfType(DurableTimerException.class)
        .isThrownBy(() -> timer.scheduleAll(specs))
        .withMessageContaining("b is changed by many at once");
    try {
      connection.commit();
    } catch (SQLException e) {
      assertThat(e.getMessage()).contains("cannot be committed");
    }
    assertThat(state("a0")).isNull();
    assertThat(node.store.counts()).isEmpty();
  }

  @Test
  void rollsBackToASavepointOfTheUser() throws SQLException {
    timer.schedule(spec("a"));
    Savepoint savepoint = connection.setSavepoint();
    timer.schedule(spec("b"));
    connection.rollback(savepoint);
    connection.commit();
    assertThat(state("a")).isEqualTo(TimerState.SCHEDULED);
    assertThat(state("b")).isNull();
  }

  // Results

  private static void assertRefused(Reason reason, Runnable call) {
    assertThatExceptionOfType(DurableTimerException.class)
        .isThrownBy(call::run)
        .returns(reason, DurableTimerException::reason);
  }

  @Test
  void returnsTheSameResultsAsTheSchedulerAndContinues() throws SQLException {
    timers.in(connection).schedule(at("a", NOW));
    connection.commit();
    assertThat(timer.schedule(at("a", NOW)).outcome()).isEqualTo(ScheduleResult.Outcome.UNCHANGED);
    long version = timer.schedule(at("a", NOW + 1)).version();
    assertRefused(Reason.EXISTS, () -> timer.schedule(at("a", NOW).onlyIfAbsent()));
    assertRefused(
        Reason.VERSION_DIFFERS, () -> timer.schedule(at("a", NOW).onlyIfVersion(version + 1)));
    assertRefused(Reason.VERSION_DIFFERS, () -> timer.cancel(key("a"), version + 1));
    assertThat(timer.schedule(at("a", NOW + 2).onlyIfVersion(version)).outcome())
        .isEqualTo(ScheduleResult.Outcome.REPLACED);
    assertThat(timer.cancel("shop", "other").outcome()).isEqualTo(CancelResult.Outcome.NOT_FOUND);
    connection.commit();
    assertThat(node.store.get(key("a")).dueAt()).isEqualTo(NOW + 2);
  }

  @Test
  void repeatsTheAnswerToARequest() throws SQLException {
    ScheduleResult first = timer.schedule(spec("a").requestId("r"));
    connection.commit();
    ScheduleResult again = timer.schedule(spec("a").requestId("r"));
    assertThat(again.outcome()).isEqualTo(first.outcome());
    assertThat(again.version()).isEqualTo(first.version());
  }

  @Test
  void appliesTheNamespaceLimitAndTheCodec() throws SQLException {
    TransactionTimer limited =
        TransactionTimers.of(
                node.store, settings -> settings.maxPendingPerNamespace(1).codec(new TextCodec()))
            .in(connection);
    limited.schedule(spec("a").payload((Object) "text"));
    assertRefused(Reason.OVER_LIMIT, () -> limited.schedule(spec("b")));
    connection.commit();
    assertThat(node.store.get(key("a")).definition().payload()).asString().isEqualTo("text");
  }

  @Test
  void refusesBadArguments() {
    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> timer.schedule(TimerSpec.of("shop", "a").handler("orders")))
        .withMessageContaining("no time");
    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> timer.cancel(key("a"), -1))
        .withMessageContaining("version: -1");
    assertThatExceptionOfType(NullPointerException.class)
        .isThrownBy(() -> timers.in(null))
        .withMessage("connection");
  }

  @Test
  void returnsResultsInOrderAndIndependentOfEachOther() throws SQLException {
    List<TimerSpec> specs = new ArrayList<>();
    for (int i = 0; i < 450; i++) {
      specs.add(spec("id-%03d".formatted(i)));
    }
    specs.set(17, TimerSpec.of("shop", "bad").handler("orders"));
    specs.add(spec("id-000").onlyIfAbsent());
    Collections.reverse(specs);
    List<BatchResult<ScheduleResult>> results = timer.scheduleAll(specs);
    assertThat(results).extracting(BatchResult::key).isEqualTo(keys(specs));
    assertThat(results.get(0).orThrow().outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
    assertThat(results.get(450 - 17).error()).hasMessageContaining("no time");
    connection.commit();
    assertThat(node.store.counts().get("shop")).containsEntry(TimerState.SCHEDULED, 449L);
    assertThat(timer.cancelAll(keys(specs.subList(0, 3))))
        .extracting(result -> result.orThrow().outcome())
        .containsOnly(CancelResult.Outcome.CANCELLED);
  }

  private static List<TimerKey> keys(List<TimerSpec> specs) {
    return specs.stream().map(TimerSpec::key).toList();
  }

  // Unsuitable connections

  @Test
  void refusesAnAutoCommitConnection() throws SQLException {
    connection.setAutoCommit(true);
    assertThatIllegalStateException()
        .isThrownBy(() -> timer.schedule(spec("a")))
        .withMessage("connection: in auto-commit mode (expected: in a transaction)");
    assertThat(state("a")).isNull();
  }

  @Test
  void refusesATransactionThatHasFailed() throws SQLException {
    assertThatExceptionOfType(SQLException.class).isThrownBy(() -> execute("SELECT 1 / 0"));
    assertThatIllegalStateException()
        .isThrownBy(() -> timer.schedule(spec("a")))
        .withMessageContaining("its transaction has failed already");
    connection.rollback();
    timer.schedule(spec("a"));
  }

  @Test
  void refusesAReadOnlyTransaction() throws SQLException {
    execute("SET TRANSACTION READ ONLY");
    assertThatIllegalStateException()
        .isThrownBy(() -> timer.cancel("shop", "a"))
        .withMessageContaining("its transaction is read-only");
    connection.commit();
  }

  @Test
  void refusesATransactionThatDoesNotReadLaterCommits() throws SQLException {
    connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    assertThatIllegalStateException()
        .isThrownBy(() -> timer.schedule(spec("a")))
        .withMessageContaining("expected: isolation READ COMMITTED");
  }

  @Test
  void refusesOtherTables() throws SQLException {
    try (Fixture other = Fixture.withoutTables(Server.of(this));
        Connection elsewhere = other.database.connect()) {
      elsewhere.setAutoCommit(false);
      assertThatIllegalStateException()
          .isThrownBy(() -> timers.in(elsewhere).schedule(spec("a")))
          .withMessageContaining("no tables of timers");
      elsewhere.rollback();
      other.open();
      assertThatIllegalStateException()
          .isThrownBy(() -> timers.in(elsewhere).schedule(spec("a")))
          .withMessageContaining("leads to other tables of timers");
    }
  }

  // The transaction of the user

  @Test
  void restoresTheSettingsOfTheTransaction() throws SQLException {
    String all =
        "SELECT string_agg(name || '=' || setting, ',' ORDER BY name) FROM pg_settings"
            + " WHERE name NOT LIKE 'transaction%'";
    execute("SET LOCAL lock_timeout = '7s'");
    execute("SET LOCAL enable_hashjoin = off");
    String before = text(connection, all);
    timer.schedule(at("a", NOW));
    assertRefused(Reason.EXISTS, () -> timer.schedule(at("a", NOW + 1).onlyIfAbsent()));
    assertThat(text(connection, all)).isEqualTo(before);
    connection.rollback();
    assertThat(text(connection, "SHOW enable_hashjoin")).isEqualTo("on");
  }

  @Test
  void reportsTheLossOfTheTransactionWhenTheDatabaseFails() throws SQLException {
    node.commit(Fixture.schedule("a", NOW));
    try (Connection holder = fixture.transaction()) {
      timers.in(holder).cancel("shop", "a");
      execute("SET LOCAL lock_timeout = '20ms'");
      assertThatExceptionOfType(DurableTimerException.class)
          .isThrownBy(() -> timer.scheduleAll(List.of(spec("0"), at("a", NOW + 1), spec("z"))))
          .withMessageContaining("lock timeout")
          .withMessageEndingWith("(55P03); the transaction can only be rolled back")
          .returns(Reason.STORE_UNAVAILABLE, DurableTimerException::reason);
      assertThatIllegalStateException()
          .isThrownBy(() -> timer.schedule(spec("b")))
          .withMessageContaining("has failed already");
      holder.rollback();
    }
    connection.rollback();
    assertThat(timer.schedule(at("a", NOW + 1)).outcome())
        .isEqualTo(ScheduleResult.Outcome.REPLACED);
  }

  // Notifications of other nodes

  @Test
  void notifiesOfNearTimersWhenItCommits() throws SQLException {
    NotificationTransport transport = PostgreSql.parts(Formats.ofThisRelease()).notifications();
    try (Connection listener = fixture.pool.getConnection()) {
      transport.listen(listener, transport.channel(listener));
      timer.schedule(spec("far"));
      timer.schedule(TimerSpec.of("shop", "rolled back").after(Duration.ZERO).handler("orders"));
      connection.rollback();
      timer.schedule(TimerSpec.of("shop", "near").after(Duration.ZERO).handler("orders"));
      assertThat(transport.receive(listener, 1)).isEmpty();
      connection.commit();
      List<String> notifications;
      do {
        notifications = transport.receive(listener, 1_000);
      } while (notifications.isEmpty());
      // Notifications are sent for its own shards too, because the session does not learn the
      // outcome of the transaction.
      int shard = Shards.of(key("near"), 4);
      assertThat(node.ownership().owned()).contains(shard);
      assertThat(notifications).hasSize(1).first().asString().startsWith("A\t" + shard + "\t");
    }
  }

  @Test
  void aTimerThatIsCommittedLongAfterItsTimeIsFoundByTheNextSweep() throws SQLException {
    int shard = Shards.of(key("late"), 4);
    timer.schedule(TimerSpec.of("shop", "late").after(Duration.ZERO).handler("orders"));
    node.clock.advanceMillis(300_000);
    assertThat(due(shard)).as("a full sweep; later ones begin a minute ago").isEmpty();
    connection.commit();
    assertThat(due(shard)).as("the sweep skips the front of the index").isEmpty();
    node.clock.advanceMillis(30_000);
    assertThat(due(shard)).extracting(DueTimer::key).containsExactly(key("late"));
  }

  @Test
  void aTimerThatIsCommittedWithinAMinuteIsFoundAtOnce() throws SQLException {
    int shard = Shards.of(key("late"), 4);
    timer.schedule(TimerSpec.of("shop", "late").after(Duration.ZERO).handler("orders"));
    node.clock.advanceMillis(59_000);
    assertThat(due(shard)).isEmpty();
    connection.commit();
    assertThat(due(shard)).extracting(DueTimer::key).containsExactly(key("late"));
  }

  private List<DueTimer> due(int shard) {
    long now = node.clock.millis() + node.store.clockOffsetMillis();
    return node.store.due(shard, now + 5_000, null, 1_000);
  }
}
