// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Ledger.spec;
import static io.timewheel.durable.jdbc.Ledger.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.LossySource.Fate;
import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.FireId;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.FinishingHandler;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Injects failures between an effect and its record, and verifies that the effect happens once. */
@Timeout(120)
@Tag("promise-66")
class TransactionHandlerTest {
  private Runnable onPause = () -> {};
  final Ledger ledger = new Ledger(Server.of(this), () -> onPause.run());

  @AfterEach
  void close() {
    ledger.close();
  }

  /** Returns the handler that the subclass tests. */
  FinishingHandler finishing(TransactionTimers timers, TransactionHandler handler) {
    return timers.handler(handler);
  }

  /** Starts a handler that writes an effect and then disturbs the first attempt. */
  DurableTimer start(TransactionHandler onFirstAttempt) {
    return ledger.start(
        timers ->
            finishing(
                timers,
                (firing, connection) -> {
                  write(firing, connection);
                  if (firing.attempt() == 1) {
                    onFirstAttempt.handle(firing, connection);
                  }
                }),
        4);
  }

  TimerInfo fire(TransactionHandler onFirstAttempt) {
    start(onFirstAttempt).schedule(spec("a"));
    return ledger.awaitDone("a");
  }

  @Test
  void commitsTheEffectWithItsRecord() {
    List<String> seen = new CopyOnWriteArrayList<>();
    fire((firing, connection) -> seen.addAll(ledger.effects()));
    assertThat(seen).as("by another session, before the commit").isEmpty();
    assertThat(ledger.effects()).containsExactly("a 1");
  }

  @Test
  void rollsBackWhenTheHandlerThrows() {
    TimerInfo info =
        fire(
            (firing, connection) -> {
              throw new IllegalStateException("no stock");
            });
    assertThat(ledger.effects()).containsExactly("a 2");
    assertThat(info.attempts().get(0).error()).contains("no stock");
  }

  @Test
  void rollsBackWhenAStatementOfTheHandlerFails() {
    TimerInfo info =
        fire(
            (firing, connection) -> {
              try (Statement statement = connection.createStatement()) {
                statement.execute("SELECT 1 / 0");
              }
            });
    assertThat(ledger.effects()).containsExactly("a 2");
    assertThat(info.attempts().get(0).error()).contains("division by zero");
  }

  @Test
  void anErrorThatTheHandlerHidesRollsBackToo() {
    fire(
        (firing, connection) -> {
          try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT 1 / 0");
          } catch (SQLException e) {
            assertThat(e.getMessage()).contains("division by zero");
          }
        });
    assertThat(ledger.effects()).containsExactly("a 2");
  }

  @Test
  void isKilledBetweenEffectAndRecord() {
    fire((firing, connection) -> ledger.kill(connection));
    assertThat(ledger.effects()).containsExactly("a 2");
  }

  // COMMIT

  private TimerInfo fireWithFate(Fate fate) {
    return fire(
        (firing, connection) -> {
          ledger.source.only = Thread.currentThread();
          ledger.source.fates.add(fate);
        });
  }

  @Test
  void theAnswerToCommitIsLost() {
    assertThat(fireWithFate(Fate.ANSWER_LOST).attempts()).hasSize(1);
    assertThat(ledger.effects()).containsExactly("a 1");
  }

  @Test
  void commitIsLost() {
    assertThat(fireWithFate(Fate.COMMIT_LOST).attempts()).hasSize(2);
    assertThat(ledger.effects()).containsExactly("a 2");
  }

  @Test
  void theOutcomeIsUnknownWhileTheCommitIsInProgress() {
    AtomicInteger looks = new AtomicInteger();
    CountDownLatch given = new CountDownLatch(1);
    onPause =
        () -> {
          if (looks.incrementAndGet() == 40) {
            given.countDown();
          }
        };
    start(
            (firing, connection) -> {
              ledger.source.only = Thread.currentThread();
              ledger.source.fates.add(Fate.COMMIT_DELAYED);
            })
        .schedule(spec("a"));
    await(given);
    // The engine counts the attempt as failed, but cannot record that while the timer is locked.
    end(true);
    TimerInfo info = ledger.awaitDone("a");
    assertThat(info.attempts()).hasSize(1).first().returns(Attempt.End.SUCCEEDED, Attempt::end);
    assertThat(ledger.effects()).containsExactly("a 1");
  }

  private void end(boolean commit) {
    try (Connection delayed = ledger.source.delayed) {
      ledger.source.delayed = null;
      if (commit) {
        delayed.commit();
      } else {
        delayed.rollback();
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  // Owners

  @Test
  void theEffectOfAStaleOwnerIsRolledBack() {
    TimerInfo info =
        fire(
            (firing, connection) ->
                ledger.execute("UPDATE timewheel_shard SET owner = NULL, epoch = epoch + 1"));
    assertThat(info.attempts().get(0).end()).isEqualTo(Attempt.End.LOST);
    assertThat(ledger.effects()).containsExactly("a 2");
  }

  @Test
  void aTakeOverDoesNotWaitForTheHandler() {
    CountDownLatch takenOver = new CountDownLatch(1);
    start((firing, connection) -> await(takenOver)).schedule(spec("a"));
    ledger.await("a", info -> info.state() == TimerState.RUNNING);
    ledger.execute("UPDATE timewheel_shard SET owner = NULL, epoch = epoch + 1");
    ledger.await("a", info -> info.attempt() == 2);
    takenOver.countDown();
    ledger.awaitDone("a");
    assertThat(ledger.effects()).containsExactly("a 2");
  }

  // Concurrency

  @Test
  void attemptsUpToTheLimitRunTogether() throws InterruptedException {
    List<String> ids = List.of("a", "b", "c", "d", "e", "f", "g", "h");
    CountDownLatch allRun = new CountDownLatch(ids.size());
    ledger
        .start(
            timers ->
                finishing(
                    timers,
                    (firing, connection) -> {
                      allRun.countDown();
                      allRun.await();
                      write(firing, connection);
                    }),
            ids.size())
        .scheduleAll(ids.stream().map(Ledger::spec).toList());
    allRun.await();
    ids.forEach(ledger::awaitDone);
    assertThat(ledger.effects()).isEqualTo(ids.stream().map(id -> id + " 1").toList());
  }

  // Changes during the attempt

  @Test
  void aCancelIsAnsweredWhileTheHandlerRuns() {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch cancelled = new CountDownLatch(1);
    DurableTimer scheduler =
        start(
            (firing, connection) -> {
              begun.countDown();
              await(cancelled);
            });
    scheduler.schedule(spec("a"));
    await(begun);
    assertThat(scheduler.timer("shop", "a").cancel().outcome())
        .isEqualTo(CancelResult.Outcome.RUNNING);
    cancelled.countDown();
    ledger.awaitDone("a");
    assertThat(ledger.effects()).containsExactly("a 1");
  }

  @Test
  void aTimerThatIsReplacedMeanwhileFiresOnceForEachVersion() {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch replaced = new CountDownLatch(1);
    AtomicInteger calls = new AtomicInteger();
    DurableTimer scheduler =
        start(
            (firing, connection) -> {
              if (calls.incrementAndGet() == 1) {
                begun.countDown();
                await(replaced);
              } else {
                effectsOnce(1); // otherwise the first version would be outdated
              }
            });
    scheduler.schedule(spec("a"));
    await(begun);
    scheduler.schedule(spec("a"));
    replaced.countDown();
    ledger.awaitDone("a");
    assertThat(effectsOnce(2)).containsExactly("a 1", "a 1");
  }

  private List<String> effectsOnce(int size) {
    List<String> effects;
    do {
      effects = ledger.effects();
    } while (effects.size() < size);
    return effects;
  }

  @Test
  void schedulesTheNextTimerInTheSameTransaction() {
    ledger
        .start(
            timers ->
                finishing(
                    timers,
                    (firing, connection) -> {
                      write(firing, connection);
                      if (firing.id().equals("a")) {
                        timers.in(connection).schedule(spec("b"));
                        if (firing.attempt() == 1) {
                          throw new IllegalStateException("and takes it back");
                        }
                      }
                    }),
            4)
        .schedule(spec("a"));
    ledger.awaitDone("a");
    ledger.awaitDone("b");
    assertThat(ledger.effects()).containsExactly("a 2", "b 1");
  }

  @Test
  void reschedulesItsRunWithTheEffect() {
    AtomicInteger calls = new AtomicInteger();
    ledger
        .start(
            timers ->
                finishing(
                    timers,
                    (firing, connection) -> {
                      write(firing, connection);
                      if (calls.incrementAndGet() == 1) {
                        firing.reschedule(Instant.EPOCH);
                      }
                    }),
            4)
        .schedule(spec("a"));
    assertThat(ledger.awaitDone("a").attempts()).hasSize(2);
    assertThat(ledger.effects()).containsExactly("a 1", "a 1");
  }

  @Test
  void aRunThatIsRescheduledToATimeOfItsScheduleHasItsOwnFireId() {
    Duration period = Duration.ofSeconds(1);
    List<FireId> runs = new CopyOnWriteArrayList<>();
    ledger
        .start(
            timers ->
                finishing(
                    timers,
                    (firing, connection) -> {
                      if (runs.isEmpty()) {
                        Instant next = firing.scheduledAt().plus(period);
                        firing.reschedule(next.minusNanos(1)); // rounded up
                      }
                      runs.add(firing.fireId());
                    }),
            4)
        .schedule(TimerSpec.of("shop", "a").every(period).at(Instant.now()).handler("orders"));
    ledger.await("a", info -> runs.size() >= 3);
    assertThat(runs.subList(0, 3)).doesNotHaveDuplicates();
    assertThat(runs.get(1).scheduledAtMillis())
        .isEqualTo(runs.get(0).scheduledAtMillis() + period.toMillis() + 1);
  }

  // The connection

  @Test
  void theConnectionRefusesToEndTheTransaction() throws Exception {
    CompletableFuture<Connection> kept = new CompletableFuture<>();
    fire(
        (firing, connection) -> {
          for (Refused refused : REFUSED) {
            assertThatExceptionOfType(SQLException.class)
                .isThrownBy(() -> refused.on(connection))
                .withMessageContaining("ends with the handler");
          }
          connection.rollback(connection.setSavepoint());
          assertThat(connection.isClosed()).isFalse();
          assertThat(List.of(connection)).contains(connection);
          kept.complete(connection);
        });
    Connection connection = kept.get();
    assertThat(connection.isClosed()).isTrue();
    assertThatExceptionOfType(SQLException.class)
        .isThrownBy(connection::createStatement)
        .withMessageContaining("the handler has returned");
    assertThat(ledger.effects()).containsExactly("a 1");
  }

  private interface Refused {
    void on(Connection connection) throws SQLException;
  }

  private static final List<Refused> REFUSED =
      List.of(
          Connection::commit,
          Connection::rollback,
          Connection::close,
          connection -> connection.abort(Runnable::run),
          connection -> connection.setAutoCommit(true),
          connection -> connection.setReadOnly(true),
          connection -> connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE));

  @Test
  void detectsAHandlerThatCommits() {
    TimerInfo info =
        fire(
            (firing, connection) -> {
              try (Statement statement = connection.createStatement()) {
                statement.execute("COMMIT");
              }
            });
    assertThat(info.attempts().get(0).error()).contains("has ended the transaction");
    assertThat(ledger.effects()).as("its committed effects remain").containsExactly("a 1", "a 2");
  }

  @Test
  void theServerLimitsTheIdleTimeOfAHandler() throws SQLException {
    fire(
        (firing, connection) -> {
          try (Statement statement = connection.createStatement();
              var rows = statement.executeQuery("SHOW idle_in_transaction_session_timeout")) {
            rows.next();
            assertThat(rows.getString(1)).isEqualTo("10s");
          }
        });
    assertThat(ledger.effects()).containsExactly("a 1");
  }
}
