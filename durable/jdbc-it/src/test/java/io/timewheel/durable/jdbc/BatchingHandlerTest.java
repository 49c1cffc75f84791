// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Ledger.spec;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.LossySource.Fate;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.FinishingHandler;
import io.timewheel.testing.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Verifies that a handler of batches has each effect once if a firing or a commit fails. */
@Timeout(120)
@Tag("promise-66")
class BatchingHandlerTest {
  private static final int TIMERS = 60;

  private final Ledger ledger = new Ledger(Server.of(this));
  private final Queue<Integer> sizes = new ConcurrentLinkedQueue<>();
  private final CountDownLatch allWait = new CountDownLatch(1);

  @AfterEach
  void close() {
    ledger.close();
  }

  private interface Fault {
    void hit(List<TransactionFiring> firings, Connection connection) throws Exception;
  }

  /** Starts a scheduler in which two batches block, so that the third one is large. */
  private DurableTimer start(Fault fault) {
    FinishingHandler batching =
        ledger.timers.batchHandler(
            (firings, connection) -> {
              sizes.add(firings.size());
              allWait.await();
              for (TransactionFiring firing : firings) {
                Ledger.write(firing, connection);
              }
              fault.hit(firings, connection);
            },
            40);
    return ledger.start(timers -> batching, 2 * TIMERS);
  }

  private void fireAll(DurableTimer scheduler) {
    List<TimerSpec> specs = new ArrayList<>();
    for (int i = 0; i < TIMERS; i++) {
      specs.add(spec("id-%02d".formatted(i)));
    }
    scheduler.scheduleAll(specs);
    Await.until(() -> sizes.size() >= 2 && running(scheduler) >= TIMERS);
    allWait.countDown();
    for (int i = 0; i < TIMERS; i++) {
      ledger.await("id-%02d".formatted(i), info -> info.state() != TimerState.RUNNING);
    }
  }

  private static long running(DurableTimer scheduler) {
    return scheduler.counts().getOrDefault("shop", Map.of()).getOrDefault(TimerState.RUNNING, 0L);
  }

  private static List<String> once() {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < TIMERS; i++) {
      all.add("id-%02d 1".formatted(i));
    }
    return all;
  }

  @Test
  void handlesWaitingFiringsInOneTransaction() {
    fireAll(start((firings, connection) -> {}));
    assertThat(ledger.effects()).isEqualTo(once());
    assertThat(sizes).anyMatch(size -> size > 1).allMatch(size -> size <= 40);
  }

  @Test
  void allNamesOfAHandlerShareTwoTransactions() {
    AtomicInteger transactions = new AtomicInteger();
    FinishingHandler batching =
        ledger.timers.batchHandler(
            (firings, connection) -> {
              transactions.incrementAndGet();
              allWait.await();
            },
            40);
    List<String> names = List.of("a", "b", "c", "d");
    Queue<Thread> threads = new ConcurrentLinkedQueue<>();
    ExecutorService executor =
        Executors.newCachedThreadPool(
            task -> {
              Thread thread = new Thread(task);
              threads.add(thread);
              return thread;
            });
    DurableTimer scheduler = ledger.start(names, batching, executor);
    scheduler.scheduleAll(names.stream().map(name -> spec(name).handler(name)).toList());
    Await.until(
        () -> threads.stream().filter(BatchingHandlerTest::waitsInACall).count() >= names.size());
    assertThat(transactions).hasValue(FinishingHandler.MAX_CALLS);
    allWait.countDown();
    names.forEach(name -> ledger.await(name, info -> info.state() == TimerState.COMPLETED));
    executor.shutdown();
  }

  @Test
  void aCloseEndsTheWaitForStalledTransactionsOfOtherNames() throws InterruptedException {
    Semaphore stalled = new Semaphore(0);
    Queue<Thread> inHandler = new ConcurrentLinkedQueue<>();
    FinishingHandler batching =
        ledger.timers.batchHandler(
            (firings, connection) -> {
              inHandler.add(Thread.currentThread());
              stalled.acquireUninterruptibly();
            },
            40);
    List<String> names = List.of("a", "b", "c");
    Queue<Thread> threads = new ConcurrentLinkedQueue<>();
    DurableTimer scheduler =
        ledger.start(
            names,
            batching,
            task -> {
              Thread thread = new Thread(task);
              threads.add(thread);
              thread.start();
            });
    scheduler.scheduleAll(names.stream().map(name -> spec(name).handler(name)).toList());
    Await.until(
        () ->
            inHandler.size() >= FinishingHandler.MAX_CALLS
                && threads.stream().filter(BatchingHandlerTest::waitsInACall).count()
                    >= names.size());
    scheduler.close(Duration.ZERO);
    for (Thread thread : threads) {
      if (!inHandler.contains(thread)) {
        thread.join();
      }
    }
    assertThat(inHandler).hasSize(FinishingHandler.MAX_CALLS);
    stalled.release(FinishingHandler.MAX_CALLS);
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static boolean waitsInACall(Thread thread) {
    return thread.getState() == Thread.State.WAITING
        && Arrays.stream(thread.getStackTrace())
            .anyMatch(frame -> frame.getClassName().endsWith(".BatchingHandler"));
  }

  @Test
  void handlesTheOtherFiringsWhenOneFails() {
    DurableTimer scheduler =
        start(
            (firings, connection) -> {
              if (firings.stream().anyMatch(firing -> firing.id().equals("id-30"))) {
                throw new IllegalStateException("poison");
              }
            });
    fireAll(scheduler);
    ledger.await("id-30", info -> info.state() == TimerState.FAILED);
    List<String> others = once();
    others.remove("id-30 1");
    assertThat(ledger.effects()).isEqualTo(others);
    assertThat(scheduler.timer("shop", "id-30").get().orElseThrow().attempts())
        .hasSize(3)
        .allSatisfy(attempt -> assertThat(attempt.error()).contains("poison"));
  }

  @Test
  void handlesTheOtherFiringsWhenOneIsStale() {
    AtomicBoolean first = new AtomicBoolean(true);
    fireAll(
        start(
            (firings, connection) -> {
              if (firings.size() > 1 && first.getAndSet(false)) {
                ledger.execute(
                    "UPDATE timewheel_shard SET owner = NULL, epoch = epoch + 1 WHERE shard = 0");
              }
            }));
    for (int i = 0; i < TIMERS; i++) {
      ledger.awaitDone("id-%02d".formatted(i));
    }
    assertThat(ledger.effects().stream().map(effect -> effect.substring(0, 5)))
        .doesNotHaveDuplicates()
        .hasSize(TIMERS);
  }

  @Test
  void runsABatchAgainWhoseCommitIsLost() {
    AtomicBoolean first = new AtomicBoolean(true);
    fireAll(
        start(
            (firings, connection) -> {
              if (firings.size() > 1 && first.getAndSet(false)) {
                lose(Fate.COMMIT_LOST);
              }
            }));
    assertThat(ledger.effects()).isEqualTo(once());
  }

  @Test
  void doesNotRunABatchAgainWhoseAnswerIsLost() {
    AtomicBoolean first = new AtomicBoolean(true);
    fireAll(
        start(
            (firings, connection) -> {
              if (firings.size() > 1 && first.getAndSet(false)) {
                lose(Fate.ANSWER_LOST);
              }
            }));
    assertThat(ledger.effects()).isEqualTo(once());
  }

  private void lose(Fate fate) throws SQLException {
    ledger.source.only = Thread.currentThread();
    ledger.source.fates.add(fate);
  }

  @Test
  void refusesBadSizes() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ledger.timers.batchHandler((firings, connection) -> {}, 0))
        .withMessage("maxBatch: 0 (expected: 1 to 1000)");
  }
}
