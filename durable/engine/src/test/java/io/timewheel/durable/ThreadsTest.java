// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.testing.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Verifies a durable timer with default settings: with threads, on the clock of the machine. */
class ThreadsTest {

  @Test
  void firesTheTimersOfManyThreads() throws InterruptedException {
    int threads = 4;
    int each = 2_000;
    Set<String> fired = ConcurrentHashMap.newKeySet();
    CountDownLatch all = new CountDownLatch(threads * each);
    InMemoryTimerStore store = InMemoryTimerStore.create();
    DurableTimer scheduler =
        DurableTimer.builder(store)
            .handler(
                "h",
                firing -> {
                  if (fired.add(firing.id())) {
                    all.countDown();
                  }
                })
            .maxWindow(500)
            .start();
    List<Thread> callers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      String prefix = "t" + i + "-";
      Thread caller =
          new Thread(
              () -> {
                for (int n = 0; n < each; n++) {
                  scheduler
                      .async()
                      .schedule(
                          TimerSpec.of("ns", prefix + n)
                              .handler("h")
                              .after(Duration.ofMillis(n % 50)));
                }
              });
      caller.start();
      callers.add(caller);
    }
    for (Thread caller : callers) {
      caller.join();
    }
    all.await();
    scheduler.close();
    assertThat(scheduler.stats().fired()).isEqualTo(threads * (long) each);
    assertThat(store.reopen().counts().get("ns")).containsOnlyKeys(TimerState.COMPLETED);
  }

  @Test
  void interruptsAHandlerAtItsTimeout() throws InterruptedException {
    CountDownLatch interrupted = new CountDownLatch(1);
    InMemoryTimerStore store = InMemoryTimerStore.create();
    DurableTimer scheduler =
        DurableTimer.builder(store)
            .handler(
                "stuck",
                firing -> {
                  try {
                    new CountDownLatch(1).await();
                  } finally {
                    interrupted.countDown();
                  }
                },
                1,
                Duration.ofMillis(20))
            .start();
    scheduler.schedule(
        TimerSpec.of("ns", "a")
            .handler("stuck")
            .after(Duration.ZERO)
            .retry(new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1))));
    interrupted.await();
    scheduler.close(); // waits until its end is recorded
    assertThat(store.reopen().get(new TimerKey("ns", "a")).attempts().get(0).error())
        .contains("exceeded its time limit of PT0.02S");
  }

  @Test
  void handlersThatWaitForAnswersDoNotNeedTheirOwnThreadsForThem() throws InterruptedException {
    ExecutorService one = Executors.newSingleThreadExecutor();
    AtomicReference<DurableTimer> itself = new AtomicReference<>();
    CountDownLatch answered = new CountDownLatch(1);
    DurableTimer scheduler =
        DurableTimer.builder(InMemoryTimerStore.create())
            .handlerExecutor(one)
            .handler(
                "h",
                firing -> {
                  itself
                      .get()
                      .async()
                      .schedule(TimerSpec.of("ns", "b").handler("h").after(Duration.ofDays(1)))
                      .toCompletableFuture()
                      .join();
                  answered.countDown();
                })
            .build();
    itself.set(scheduler);
    scheduler.start();
    scheduler.schedule(TimerSpec.of("ns", "a").handler("h").after(Duration.ZERO));
    assertThat(answered.await(30, TimeUnit.SECONDS)).isTrue();
    scheduler.close();
    one.shutdown();
  }

  /**
   * The retry is delayed in its source of jitter, after the handler has returned, until the close
   * has checked for running attempts.
   */
  @Test
  void closeWaitsForTheEndOfAnAttemptWhoseHandlerHasReturned() throws InterruptedException {
    CountDownLatch ending = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    InMemoryTimerStore store = InMemoryTimerStore.create();
    DurableTimer scheduler =
        DurableTimer.builder(store)
            .handler(
                "fails",
                firing -> {
                  throw new IllegalStateException("no luck");
                })
            .random(
                () -> {
                  ending.countDown();
                  awaitUninterruptibly(released);
                  return 0;
                })
            .start();
    scheduler.schedule(
        TimerSpec.of("ns", "a")
            .handler("fails")
            .after(Duration.ZERO)
            .retry(new RetryPolicy(3, Duration.ofHours(1), Duration.ofHours(1))));
    ending.await();
    Thread closer = new Thread(() -> scheduler.close(Duration.ofDays(1)));
    closer.start();
    Await.until(
        () -> closer.getState() != Thread.State.NEW && closer.getState() != Thread.State.RUNNABLE);
    released.countDown();
    closer.join();
    assertThat(store.reopen().get(new TimerKey("ns", "a")).state()).isEqualTo(TimerState.RETRYING);
  }

  /**
   * A handler with one occupied slot, and a second claim that is committed while the thread that
   * processes outcomes is blocked.
   */
  private static final class HeldUp {
    final InMemoryTimerStore store = InMemoryTimerStore.create();
    final ExecutorService threads = Executors.newCachedThreadPool();
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch ended = new CountDownLatch(1);
    final CountDownLatch telling = new CountDownLatch(1);
    final CountDownLatch told = new CountDownLatch(1);
    final Set<String> fired = ConcurrentHashMap.newKeySet();
    volatile boolean holds;
    final DurableTimer scheduler =
        DurableTimer.builder(
                new ForwardingTimerStore(store) {
                  @Override
                  public List<Outcome> commit(List<Change> changes) {
                    List<Outcome> outcomes = super.commit(changes);
                    committed();
                    return outcomes;
                  }
                })
            .handlerExecutor(this::execute)
            .handler("h", this::handle, 1, null)
            .handler("other", firing -> {})
            .start();

    HeldUp() throws InterruptedException {
      schedule("first", "h");
      begun.await();
      holds = true;
      schedule("holds", "other");
      telling.await();
      schedule("second", "h");
      awaitState("second", TimerState.RUNNING);
    }

    private void execute(Runnable attempt) {
      if (holds) {
        telling.countDown();
        awaitUninterruptibly(told);
      }
      threads.execute(attempt);
    }

    private void handle(Firing firing) {
      fired.add(firing.id());
      begun.countDown();
      awaitUninterruptibly(ended);
    }

    private void schedule(String id, String handler) {
      scheduler.schedule(TimerSpec.of("ns", id).handler(handler).after(Duration.ZERO));
    }

    TimerState state(String id) {
      return store.get(new TimerKey("ns", id)).state();
    }

    private synchronized void committed() {
      notifyAll();
    }

    synchronized void awaitState(String id, TimerState state) throws InterruptedException {
      while (state(id) != state) {
        wait(); // for a commit
      }
    }

    void end() {
      ended.countDown();
      scheduler.close(Duration.ofDays(1));
      threads.shutdown();
    }
  }

  @Test
  void callersAreAnsweredWhileTheEngineProcessesItsClaims() throws InterruptedException {
    HeldUp held = new HeldUp(); // schedules in the meantime
    held.told.countDown();
    held.end();
    assertThat(held.store.reopen().get(new TimerKey("ns", "first")).state())
        .isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void runsNoClaimThatWasCancelledBeforeTheEngineProcessedIt() throws InterruptedException {
    HeldUp held = new HeldUp();
    assertThat(held.scheduler.timer("ns", "second").cancel().outcome())
        .isEqualTo(CancelResult.Outcome.RUNNING);
    held.told.countDown();
    held.awaitState("second", TimerState.CANCELLED);
    held.end();
    assertThat(held.fired).containsExactly("first");
  }

  @Test
  void givesBackAClaimThatTheEngineProcessesDuringAClose() throws InterruptedException {
    HeldUp held = new HeldUp();
    Thread closer = new Thread(() -> held.scheduler.close(Duration.ofDays(1)));
    closer.start();
    Await.until(() -> closer.getState() == Thread.State.TIMED_WAITING);
    held.told.countDown();
    held.awaitState("second", TimerState.SCHEDULED);
    TimerState state = held.state("second"); // while the first one has the only slot
    held.end();
    closer.join();
    assertThat(state).isEqualTo(TimerState.SCHEDULED);
    assertThat(held.store.reopen().get(new TimerKey("ns", "second")).attempt()).isZero();
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    while (latch.getCount() > 0) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        // A close interrupts after its shutdown timeout, which is a day here.
      }
    }
  }
}
