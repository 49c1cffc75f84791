// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static io.timewheel.durable.jdbc.Fixture.success;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.durable.jdbc.internal.rows.Formats;
import io.timewheel.durable.jdbc.internal.server.UserTransactions;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.testing.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Runs a release that knows only format 6 and the next release, concurrently and one after the
 * other.
 */
@Timeout(120)
@Tag("promise-64")
class UpgradeTest {
  private static final String SWITCH = "UPDATE timewheel_meta SET value = 7 WHERE name = 'format';";

  final Fixture fixture = Fixture.withoutTables(Server.of(this));

  @AfterEach
  void close() {
    fixture.close();
  }

  static Formats old() {
    return new Formats(6, 6);
  }

  static Formats next() {
    return new Formats(6, 7);
  }

  private int prepare() {
    return fixture.builder(next()).migrate(false);
  }

  private int finish() {
    return fixture.builder(next()).migrate(true);
  }

  private long meta(String name) throws SQLException {
    return fixture.number("SELECT value FROM timewheel_meta WHERE name = '" + name + "'");
  }

  private static void assertRefused(ThrowingCallable call) {
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(call)
        .withMessage("the tables have format 7 (expected: 6)")
        .returns(Kind.UNAVAILABLE, StoreException::kind);
  }

  // Both releases at once

  @Test
  void bothReleasesWorkOnPreparedTables() throws SQLException {
    Fixture.Node old = fixture.start(old());
    old.commit(schedule("before", NOW));
    Fixture.Node next = fixture.start(next());
    for (int round = 0; round < 2; round++) {
      old.ownership().balance();
      next.ownership().balance();
    }
    assertThat(List.of(old.epochs, next.epochs)).allSatisfy(own -> assertThat(own).hasSize(2));
    Map<String, Fixture.Node> makers = Map.of("old", old, "next", next);
    makers.forEach((id, maker) -> maker.commit(schedule(id, NOW)));
    for (String id : List.of("before", "old", "next")) {
      int shard = Shards.of(key(id), 4);
      Fixture.Node owner = old.epochs.containsKey(shard) ? old : next;
      Change.Begin begin = owner.begin(id);
      assertThat(owner.commit(begin).answer()).isEqualTo(Answer.APPLIED);
      assertThat(owner.commit(success(begin)).answer()).isEqualTo(Answer.APPLIED);
      for (Fixture.Node reader : makers.values()) {
        assertThat(reader.store.get(key(id)).state()).isEqualTo(TimerState.COMPLETED);
      }
    }
    assertThat(meta("prepared")).isEqualTo(7);
    assertThat(meta("format")).isEqualTo(6);
  }

  @Test
  void aNodeOfTheOldReleaseStartsOnPreparedTables() {
    fixture.start(old());
    assertThat(prepare()).isEqualTo(6);
    assertThat(fixture.start(old()).commit(schedule("a", NOW)).answer()).isEqualTo(Answer.CREATED);
  }

  @Test
  void theFormatIsSwitchedWhenNoNodeOfTheOldReleaseIsAlive() throws SQLException {
    Fixture.Node old = fixture.start(old());
    Fixture.Node next = fixture.start(next());
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(this::finish)
        .withMessage(
            "format 6 stays in use, because live nodes do not know format 7: " + old.store.nodeId())
        .returns(Kind.REJECTED, StoreException::kind);
    assertThat(meta("format")).isEqualTo(6);
    assertThat(old.commit(schedule("a", NOW)).answer()).isEqualTo(Answer.CREATED);
    old.store.close();
    assertThat(finish()).isEqualTo(7);
    assertThat(next.commit(schedule("b", NOW)).answer()).isEqualTo(Answer.CREATED);
    next.ownership().renew();
    next.ownership().balance();
    assertThat(next.epochs).hasSize(4);
    assertThat(finish()).as("again").isEqualTo(7);
  }

  // The old release after the switch

  @Test
  void aNodeThatStalledIsRefusedAndStops() throws SQLException {
    Fixture.Node old = fixture.start(old());
    old.commit(schedule("a", NOW));
    Change.Begin begin = old.begin("a");
    fixture.expireLeases();
    assertThat(finish()).isEqualTo(7);
    assertRefused(() -> old.commit(begin));
    assertRefused(() -> old.commit(schedule("b", NOW)));
    assertRefused(() -> old.store.pause("shop"));
    assertRefused(() -> old.store.purge(NOW, 10, 10));
    assertRefused(() -> old.ownership().renew());
    assertRefused(() -> old.store.get(key("a")));
    assertThat(old.epochs).hasSize(4);
    old.clock.advanceMillis(9_000);
    old.ownership().watch();
    assertThat(old.epochs).as("lost, because its node lease cannot be renewed").isEmpty();
    Fixture.Node next = fixture.start(next());
    assertThat(next.epochs).hasSize(4);
    assertThat(next.store.get(key("a")).state()).isEqualTo(TimerState.SCHEDULED);
    assertThat(next.store.get(key("b"))).isNull();
    assertThat(next.store.paused()).isEmpty();
  }

  @Test
  void aHandlerThatWasRunningCommitsNothing() throws SQLException {
    Fixture.Node old = fixture.start(old());
    UserTransactions statements = old.store.server().userTransactions();
    try (Connection connection = fixture.transaction();
        Statements to = new Statements(connection)) {
      String begun = statements.beginHandler(connection, 10_000, true);
      fixture.expireLeases();
      finish();
      assertRefused(
          () -> {
            boolean unused = statements.endHandler(to, begun, true).get();
          });
    }
  }

  @Test
  void aNodeOfTheOldReleaseDoesNotStart() {
    fixture.open(next());
    assertRefused(() -> fixture.open(old()));
    assertRefused(() -> fixture.builder(old()).migrate(true));
    assertRefused(() -> fixture.builder(old()).migration(true));
  }

  // The moment of the switch

  @Test
  void theTransactionsThatReadTheOldFormatCommitBeforeTheSwitch() throws SQLException {
    TransactionTimers timers = TransactionTimers.of(fixture.open(old()).store); // no node lease
    prepare();
    try (Connection connection = fixture.transaction()) {
      timers.in(connection).schedule(TransactionTimerTest.spec("a"));
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(this::finish)
          .withMessageStartingWith("an earlier transaction is still open; try again: ")
          .returns(Kind.TRANSIENT, StoreException::kind);
      assertThat(meta("format")).isEqualTo(6);
      connection.commit();
      assertThat(finish()).isEqualTo(7);
      assertThatExceptionOfType(DurableTimerException.class)
          .isThrownBy(() -> timers.in(connection).schedule(TransactionTimerTest.spec("b")))
          .withMessageContaining("the tables have format 7 (expected: 6)");
      connection.commit();
    }
    Fixture.Node next = fixture.open(next());
    assertThat(next.store.get(key("a"))).isNotNull();
    assertThat(next.store.get(key("b"))).isNull();
  }

  @Test
  void aWriteBatchHoldsItsFormatUntilItCommits() throws SQLException {
    Fixture.Node old = fixture.open(old());
    prepare();
    try (Connection connection = fixture.transaction()) {
      old.store.server().transactions().begin(connection);
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(this::finish)
          .withMessageStartingWith("an earlier transaction is still open; try again: ");
      connection.commit();
      old.store.server().transactions().end(connection);
    }
    assertThat(finish()).isEqualTo(7);
  }

  @Test
  void aTransactionThatWaitsForTheSwitchReadsTheNewFormat() throws SQLException {
    Fixture.Node old = fixture.start(old());
    for (int i = 0; i < 20; i++) { // after some executions, its statements are prepared
      old.commit(schedule("a", NOW + i));
    }
    prepare();
    List<String> alone = old.store.server().schema().exclusively(SWITCH);
    int step = alone.indexOf(SWITCH);
    try (Connection switcher = fixture.transaction()) {
      execute(switcher, alone.subList(0, step));
      CompletableFuture<Outcome> commit =
          CompletableFuture.supplyAsync(() -> old.commit(schedule("b", NOW)));
      Await.until(() -> fixture.number(waiting()) != 0 || commit.isDone());
      assertThat(commit).isNotDone();
      execute(switcher, alone.subList(step, alone.size()));
      switcher.commit();
      assertThatExceptionOfType(CompletionException.class)
          .isThrownBy(commit::join)
          .withMessageContaining("the tables have format 7 (expected: 6)");
    }
    assertThat(fixture.open(next()).store.get(key("b"))).isNull();
  }

  private static void execute(Connection connection, List<String> statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  /** {@return a query for the number of sessions that wait to read the format} */
  String waiting() {
    return "SELECT count(*) FROM pg_locks WHERE NOT granted"
        + " AND relation = to_regclass('timewheel_meta')";
  }

  // How tables are prepared

  @Test
  void completesAnInterruptedPreparation() throws SQLException {
    fixture.open(old());
    String script = fixture.builder(next()).migration(false);
    fixture.database.execute(script.substring(0, script.indexOf("CREATE TABLE")));
    assertThat(meta("prepared")).isEqualTo(6);
    assertThat(fixture.start(next()).commit(schedule("a", NOW)).answer()).isEqualTo(Answer.CREATED);
    assertThat(meta("prepared")).isEqualTo(7);
    assertThat(fixture.number("SELECT count(*) FROM timewheel_probe")).isZero();
  }

  @Test
  void manyNodesPrepareAndSwitchConcurrently() throws SQLException {
    fixture.open(old());
    assertThat(four(this::prepare)).containsOnly(6);
    assertThat(four(this::finish)).containsOnly(7);
    assertThat(meta("prepared")).isEqualTo(7);
  }

  private static List<Integer> four(IntSupplier work) {
    return IntStream.range(0, 4).parallel().map(n -> work.getAsInt()).boxed().toList();
  }

  @Test
  void printsTheStatementsItWouldExecute() throws SQLException {
    Fixture.Node old = fixture.start(old());
    JdbcTimerStoreBuilder administrator = fixture.builder(next());
    String preparation = administrator.migration(false);
    fixture.execute(preparation);
    assertThat(meta("prepared")).isEqualTo(7);
    assertThat(meta("format")).isEqualTo(6);
    assertThat(administrator.migration(false)).isEmpty();
    String end = administrator.migration(true);
    fixture.execute(end);
    assertThat(meta("format")).as("while an old node is alive").isEqualTo(6);
    old.store.close();
    fixture.execute(end);
    assertThat(meta("format")).isEqualTo(7);
    assertThat(administrator.migration(true)).isEmpty();
  }

  @Test
  void createsNewTablesInTheNewFormat() throws SQLException {
    fixture.execute(fixture.builder(next()).migration(false));
    assertThat(meta("format")).isEqualTo(7);
    assertThat(fixture.start(next()).commit(schedule("a", NOW)).answer()).isEqualTo(Answer.CREATED);
  }

  @Test
  void refusesAFormatThatIsNoLongerSupported() {
    fixture.open(old());
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> fixture.open(new Formats(7, 8)))
        .withMessage("the tables have format 6 (expected: 7 to 8)");
  }
}
