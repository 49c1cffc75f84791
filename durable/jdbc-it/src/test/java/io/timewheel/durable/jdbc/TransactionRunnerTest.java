// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Ledger.spec;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.spi.FinishingHandler;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs the same tests in transactions that a runner begins and ends. */
@Tag("promise-66")
class TransactionRunnerTest extends TransactionHandlerTest {
  private DurableTimer scheduler;

  /** Returns a typical runner. */
  static TransactionRunner runner(DataSource source) {
    return work -> {
      try (Connection connection = source.getConnection()) {
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        try {
          work.handle(connection);
          work.finish();
        } catch (Throwable e) {
          try {
            connection.rollback();
          } catch (SQLException second) {
            e.addSuppressed(second);
          }
          throw e;
        }
        connection.commit();
      }
    };
  }

  @Override
  FinishingHandler finishing(TransactionTimers timers, TransactionHandler handler) {
    return timers.handler(handler, runner(ledger.source));
  }

  /** Fires a timer whose first attempt uses another runner than the next. */
  private TimerInfo fireBy(TransactionRunner first) {
    AtomicBoolean isFirst = new AtomicBoolean();
    TransactionRunner runner = runner(ledger.source);
    FinishingHandler handler =
        ledger.timers.handler(
            Ledger::write, work -> (isFirst.getAndSet(false) ? first : runner).run(work));
    isFirst.set(true);
    scheduler = ledger.start(timers -> handler, 4);
    scheduler.schedule(spec("a"));
    return ledger.awaitDone("a");
  }

  @Test
  void aFailureAfterTheCommitUndoesNothing() {
    TransactionRunner runner = runner(ledger.source);
    TimerInfo info =
        fireBy(
            work -> {
              runner.run(work);
              throw new IllegalStateException("the mail about it");
            });
    assertThat(info.attempts()).hasSize(1);
    assertThat(ledger.effects()).containsExactly("a 1");
    scheduler.close(); // the attempt has been counted by then
    assertThat(scheduler.stats().succeeded()).isOne();
    assertThat(scheduler.stats().failed()).isZero();
  }

  @Test
  void aFailureBeforeTheCommitFailsTheAttempt() {
    TimerInfo info =
        fireBy(
            work -> {
              try (Connection connection = ledger.pool.getConnection()) {
                connection.setAutoCommit(false);
                work.handle(connection);
                work.finish();
                connection.rollback();
                throw new IllegalStateException("a listener");
              }
            });
    assertThat(info.attempts().get(0).error()).contains("a listener");
    assertThat(ledger.effects()).containsExactly("a 2");
  }

  @Test
  void aRunnerThatDoesNotFinishFailsTheAttempt() {
    TimerInfo info =
        fireBy(
            work -> {
              try (Connection connection = ledger.pool.getConnection()) {
                connection.setAutoCommit(false);
                work.handle(connection);
              }
            });
    assertThat(info.attempts().get(0).error()).contains("has not finished the work");
    assertThat(ledger.effects()).containsExactly("a 2");
  }

  @Test
  void refusesARunnerThatLeadsElsewhere() {
    Database elsewhere = EmptySchema.create();
    assertThatIllegalStateException()
        .isThrownBy(() -> ledger.timers.handler(Ledger::write, runner(elsewhere.dataSource())))
        .withMessageContaining("no tables of timers");
    JdbcTimerStore.postgresql(elsewhere.dataSource()).close();
    assertThatIllegalStateException()
        .isThrownBy(() -> ledger.timers.handler(Ledger::write, runner(elsewhere.dataSource())))
        .withMessageContaining("leads to other tables of timers");
  }

  @Test
  void anAttemptInAnotherDatabaseFails() throws SQLException {
    Database elsewhere = EmptySchema.create();
    JdbcTimerStore.postgresql(elsewhere.dataSource()).close();
    elsewhere.execute("CREATE TABLE ledger (id text, attempt integer)");
    TimerInfo info = fireBy(runner(elsewhere.dataSource()));
    assertThat(info.attempts().get(0).error()).contains("leads to other tables of timers");
    assertThat(ledger.effects()).containsExactly("a 2");
  }

  @Test
  void refusesARunnerWithoutTransactions() {
    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                ledger.timers.handler(
                    Ledger::write,
                    work -> {
                      try (Connection connection = ledger.pool.getConnection()) {
                        work.handle(connection);
                        work.finish();
                      }
                    }))
        .withMessageContaining("auto-commit mode");
  }
}
