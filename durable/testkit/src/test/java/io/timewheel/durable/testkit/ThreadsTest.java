// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.RetryPolicy;
import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.TimerState;
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

/** A durable timer as it is by default: with threads, on the clock of the machine. */
class ThreadsTest {

  @Test
  void firesWhatManyThreadsSchedule() throws InterruptedException {
    int threads = 4;
    int each = 2_000;
    Set<String> fired = ConcurrentHashMap.newKeySet();
    CountDownLatch all = new CountDownLatch(threads * each);
    InMemoryTimerStore store = InMemoryTimerStore.create();
    DurableTimer timer =
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
                  timer.scheduleAsync(
                      TimerSpec.of("ns", prefix + n).handler("h").after(Duration.ofMillis(n % 50)));
                }
              });
      caller.start();
      callers.add(caller);
    }
    for (Thread caller : callers) {
      caller.join();
    }
    all.await();
    timer.close();
    assertThat(timer.stats().fired()).isEqualTo(threads * (long) each);
    assertThat(store.reopen().counts().get("ns")).containsOnlyKeys(TimerState.DONE);
  }

  @Test
  void interruptsAHandlerAtItsTimeLimit() throws InterruptedException {
    CountDownLatch interrupted = new CountDownLatch(1);
    InMemoryTimerStore store = InMemoryTimerStore.create();
    DurableTimer timer =
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
    timer.schedule(
        TimerSpec.of("ns", "a")
            .handler("stuck")
            .after(Duration.ZERO)
            .retry(new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1))));
    interrupted.await();
    timer.close(); // which waits for the record of its end
    assertThat(store.reopen().get(new TimerKey("ns", "a")).attempts().get(0).error())
        .contains("exceeded its time limit of PT0.02S");
  }

  @Test
  void handlersThatWaitForAnswersDoNotNeedTheirOwnThreadsForThem() throws InterruptedException {
    ExecutorService one = Executors.newSingleThreadExecutor();
    AtomicReference<DurableTimer> itself = new AtomicReference<>();
    CountDownLatch answered = new CountDownLatch(1);
    DurableTimer timer =
        DurableTimer.builder(InMemoryTimerStore.create())
            .handlerExecutor(one)
            .handler(
                "h",
                firing -> {
                  itself
                      .get()
                      .scheduleAsync(TimerSpec.of("ns", "b").handler("h").after(Duration.ofDays(1)))
                      .toCompletableFuture()
                      .join();
                  answered.countDown();
                })
            .build();
    itself.set(timer);
    timer.start();
    timer.schedule(TimerSpec.of("ns", "a").handler("h").after(Duration.ZERO));
    assertThat(answered.await(30, TimeUnit.SECONDS)).isTrue();
    timer.close();
    one.shutdown();
  }

  /**
   * The retry asks for its jitter after the handler has returned, and is held up there, until the
   * close has looked whether something runs.
   */
  @Test
  void closeWaitsForTheEndOfAnAttemptWhoseHandlerHasReturned() throws InterruptedException {
    CountDownLatch ending = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    InMemoryTimerStore store = InMemoryTimerStore.create();
    DurableTimer timer =
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
    timer.schedule(
        TimerSpec.of("ns", "a")
            .handler("fails")
            .after(Duration.ZERO)
            .retry(new RetryPolicy(3, Duration.ofHours(1), Duration.ofHours(1))));
    ending.await();
    Thread closer = new Thread(() -> timer.close(Duration.ofDays(1)));
    closer.start();
    while (closer.getState() == Thread.State.NEW || closer.getState() == Thread.State.RUNNABLE) {
      Thread.onSpinWait();
    }
    released.countDown();
    closer.join();
    assertThat(store.reopen().get(new TimerKey("ns", "a")).state()).isEqualTo(TimerState.RETRYING);
  }

  /** The first claim is committed, and its thread is held up in what follows from it. */
  @Test
  void callersAreAnsweredWhileTheEngineIsBusyWithItsClaims() throws InterruptedException {
    CountDownLatch told = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    CountDownLatch fired = new CountDownLatch(1);
    ExecutorService threads = Executors.newCachedThreadPool();
    InMemoryTimerStore store = InMemoryTimerStore.create();
    DurableTimer timer =
        DurableTimer.builder(store)
            .handlerExecutor(
                attempt -> {
                  told.countDown();
                  awaitUninterruptibly(released);
                  threads.execute(attempt);
                })
            .handler("h", firing -> fired.countDown())
            .start();
    timer.schedule(TimerSpec.of("ns", "a").handler("h").after(Duration.ZERO));
    told.await();
    timer.schedule(TimerSpec.of("ns", "b").handler("h").after(Duration.ofDays(1)));
    released.countDown();
    fired.await();
    timer.close(Duration.ofDays(1));
    threads.shutdown();
    assertThat(store.reopen().get(new TimerKey("ns", "a")).state()).isEqualTo(TimerState.DONE);
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    while (latch.getCount() > 0) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        // A close that has lost its patience interrupts; this test's has a day.
      }
    }
  }
}
