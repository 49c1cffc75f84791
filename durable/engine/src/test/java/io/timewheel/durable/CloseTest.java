// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.DurableTimerException.Reason;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.durable.testkit.DurableTestkit;
import io.timewheel.durable.testkit.FaultyStore;
import io.timewheel.testing.Await;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Verifies the close of a durable timer: no accepted change is lost, and no thread waits forever.
 */
@Tag("promise-48")
class CloseTest {
  private static final Duration LONG = Duration.ofDays(1);

  private final InMemoryTimerStore data = InMemoryTimerStore.create();
  private final FaultyStore store = new FaultyStore(data);
  private final CountDownLatch gate = new CountDownLatch(1);

  private static TimerSpec spec(String id) {
    return TimerSpec.of("ns", id).handler("h").after(Duration.ofHours(1));
  }

  private void holdCommits() {
    store.faults(
        changes -> {
          Threads.await(gate);
          return FaultyStore.Fault.NONE;
        });
  }

  private TimerRecord left(String id) {
    return data.reopen().get(new TimerKey("ns", id));
  }

  @Test
  void commitsAcceptedChanges() throws InterruptedException {
    DurableTimer scheduler = DurableTimer.builder(store).handler("h", firing -> {}).start();
    holdCommits();
    List<CompletableFuture<ScheduleResult>> accepted = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      accepted.add(scheduler.async().schedule(spec("t" + i)).toCompletableFuture());
    }
    Thread closer = Threads.startAndAwaitWaiting(() -> scheduler.close(LONG));
    gate.countDown();
    closer.join();
    assertThat(accepted)
        .allSatisfy(
            result ->
                assertThat(result.join().outcome()).isEqualTo(ScheduleResult.Outcome.CREATED));
    assertThat(data.reopen().counts().get("ns")).containsEntry(TimerState.SCHEDULED, 100L);
  }

  /** An attempt that ends during the close gives its permit back. */
  @Test
  void permitsAreGivenBackDuringTheClose() throws InterruptedException {
    SharedLimit one = new SharedLimit(0, 1);
    DurableTimer scheduler = DurableTimer.builder(store).handler("h", firing -> {}).start();
    assertThat(scheduler.acquire("limit", one, "first", LONG)).isZero();
    holdCommits();
    var accepted = scheduler.async().schedule(spec("accepted"));
    Thread closer = Threads.startAndAwaitWaiting(() -> scheduler.close(LONG));

    scheduler.release("limit", "first");

    assertThat(data.acquire("limit", one, "second", TimerRecord.NEVER, 0)).isZero();
    gate.countDown();
    closer.join();
    assertThat(accepted.toCompletableFuture().join().outcome())
        .isEqualTo(ScheduleResult.Outcome.CREATED);
  }

  @Test
  void failsACallThatWaitsForRoom() throws InterruptedException {
    DurableTimer scheduler =
        DurableTimer.builder(store).handler("h", firing -> {}).queueCapacity(1, false).start();
    holdCommits();
    var first = scheduler.async().schedule(spec("first")).toCompletableFuture();
    Await.until(() -> scheduler.stats().queued() == 0); // until its commit is running
    var second = scheduler.async().schedule(spec("second")).toCompletableFuture();
    AtomicReference<Throwable> answer = new AtomicReference<>();
    Thread blocked =
        Threads.startAndAwaitWaiting(
            () -> {
              try {
                scheduler.schedule(spec("third"));
              } catch (RuntimeException e) {
                answer.set(e);
              }
            });
    Thread closer = Threads.startAndAwaitWaiting(() -> scheduler.close(LONG));
    blocked.join(); // before the store answers
    gate.countDown();
    closer.join();
    assertThat(answer.get())
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the durable timer is closed");
    assertThat(first.join().outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
    assertThat(second.join().outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
    assertThat(left("third")).isNull();
  }

  @Test
  void returnsAfterItsShutdownTimeoutIfTheStoreHangs() throws InterruptedException {
    DurableTimer scheduler = DurableTimer.builder(store).handler("h", firing -> {}).start();
    holdCommits();
    var committing = scheduler.async().schedule(spec("committing")).toCompletableFuture();
    Await.until(() -> scheduler.stats().queued() == 0);
    var waiting = scheduler.async().schedule(spec("waiting")).toCompletableFuture();
    scheduler.close(Duration.ofMillis(20));
    assertThatThrownBy(waiting::join)
        .cause()
        .isInstanceOfSatisfying(
            DurableTimerException.class,
            e -> assertThat(e.reason()).isEqualTo(Reason.STORE_UNAVAILABLE));
    assertThat(committing).isNotDone();
    gate.countDown();
    assertThatThrownBy(committing::join).hasMessageContaining("the session is closed");
  }

  /** Applications may close their beans in the wrong order. */
  @Test
  void failsCallsIfTheStoreIsClosedDuringACommit() throws InterruptedException {
    DurableTimer scheduler = DurableTimer.builder(store).handler("h", firing -> {}).start();
    holdCommits();
    var committing = scheduler.async().schedule(spec("committing")).toCompletableFuture();
    Await.until(() -> scheduler.stats().queued() == 0);
    var waiting = scheduler.async().schedule(spec("waiting")).toCompletableFuture();
    store.close();
    gate.countDown();
    for (var refused : List.of(committing, waiting)) {
      assertThatThrownBy(refused::join)
          .cause()
          .isInstanceOfSatisfying(
              DurableTimerException.class,
              e -> assertThat(e.reason()).isEqualTo(Reason.STORE_UNAVAILABLE))
          .hasMessageContaining("the session is closed");
    }
    assertThat(scheduler.stats().storeAvailable()).isFalse();
    scheduler.close(LONG); // which has no attempts to wait for
    assertThat(left("committing")).isNull();
  }

  @Test
  void leavesABlockingAttemptToTheNextStart() throws InterruptedException {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    CountDownLatch held = new CountDownLatch(1);
    DurableTimer scheduler =
        DurableTimer.builder(store)
            .clock(kit::now)
            .handler(
                "h",
                firing -> {
                  running.countDown();
                  try {
                    held.await();
                  } catch (InterruptedException e) {
                    interrupted.countDown();
                    Threads.await(gate); // it ignores interrupts
                  }
                },
                1,
                null)
            .start();
    scheduler.schedule(spec("runs").after(Duration.ZERO));
    running.await();
    for (int i = 0; i < 10; i++) {
      scheduler.schedule(spec("waits" + i).after(Duration.ZERO));
    }
    Await.until(() -> scheduler.stats().waiting() >= 9); // one more is claimed, ahead of its slot
    scheduler.close(Duration.ofMillis(20));
    interrupted.await();
    Map<TimerState, Long> left = data.reopen().counts().get("ns");
    assertThat(left.get(TimerState.RUNNING))
        .isBetween(1L, 2L); // 20 ms may be too short for the other
    assertThat(left.get(TimerState.RUNNING) + left.get(TimerState.SCHEDULED)).isEqualTo(11);
    gate.countDown();

    List<String> fired = new ArrayList<>();
    DurableTimer next =
        kit.start(data.reopen(), builder -> builder.handler("h", f -> fired.add(f.id()), 1, null));
    kit.settle();
    assertThat(fired).hasSize(11).doesNotHaveDuplicates();
    assertThat(next.timer("ns", "runs").get().orElseThrow().attempts())
        .extracting(Attempt::end)
        .containsExactly(Attempt.End.LOST, Attempt.End.SUCCEEDED);
  }

  @Test
  void givesBackAttemptsThatHaveNotBegun() throws InterruptedException {
    CountDownLatch running = new CountDownLatch(1);
    DurableTimer scheduler =
        DurableTimer.builder(store)
            .handler(
                "h",
                firing -> {
                  running.countDown();
                  Threads.await(gate);
                },
                1,
                null)
            .start();
    scheduler.schedule(spec("runs").after(Duration.ZERO));
    running.await();
    scheduler.schedule(spec("claimed").after(Duration.ZERO));
    Await.until(
        () -> scheduler.timer("ns", "claimed").get().orElseThrow().state() == TimerState.RUNNING);
    Thread closer = Threads.startAndAwaitWaiting(() -> scheduler.close(LONG));
    gate.countDown();
    closer.join();
    assertThat(left("runs").state()).isEqualTo(TimerState.COMPLETED);
    assertThat(left("claimed").state()).isEqualTo(TimerState.SCHEDULED);
    assertThat(left("claimed").attempt()).isZero();
    assertThat(left("claimed").attempts())
        .extracting(Attempt::end)
        .containsExactly(Attempt.End.GIVEN_BACK);
  }

  @Test
  void refusesToBeCalledByAHandler() throws InterruptedException {
    AtomicReference<DurableTimer> itself = new AtomicReference<>();
    AtomicReference<Throwable> answer = new AtomicReference<>();
    CountDownLatch answered = new CountDownLatch(1);
    DurableTimer scheduler =
        DurableTimer.builder(store)
            .handler(
                "h",
                firing -> {
                  try {
                    itself.get().close();
                  } catch (IllegalStateException e) {
                    answer.set(e);
                  }
                  answered.countDown();
                })
            .start();
    itself.set(scheduler);
    scheduler.schedule(spec("a").after(Duration.ZERO));
    answered.await();
    assertThat(answer.get()).hasMessageContaining("close() was called by a handler");
    scheduler.close(LONG);
    assertThat(left("a").state()).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void aHandlerThatEndsMeanwhileCanScheduleItsSuccessor() throws InterruptedException {
    CountDownLatch running = new CountDownLatch(1);
    DurableTimer[] self = new DurableTimer[1];
    self[0] =
        DurableTimer.builder(store)
            .handler(
                "h",
                firing -> {
                  running.countDown();
                  Threads.await(gate);
                  self[0].schedule(spec("next"));
                  assertThat(self[0].timer("ns", "next").get()).isPresent();
                  self[0].timers(List.of(new TimerKey("ns", "other"))).cancel();
                })
            .build();
    self[0].schedule(spec("other"));
    self[0].schedule(spec("a").after(Duration.ZERO));
    self[0].start();
    Threads.await(running);
    Thread closer = Threads.startAndAwaitWaiting(() -> self[0].close(LONG));
    assertThatThrownBy(() -> self[0].schedule(spec("refused")))
        .isInstanceOf(IllegalStateException.class);
    gate.countDown();
    closer.join();
    assertThat(left("a").state()).isEqualTo(TimerState.COMPLETED);
    assertThat(left("next").state()).isEqualTo(TimerState.SCHEDULED);
    assertThat(left("other").state()).isEqualTo(TimerState.CANCELLED);
  }

  @Test
  void aSecondCloseWaitsForTheFirst() throws InterruptedException {
    CountDownLatch running = new CountDownLatch(1);
    DurableTimer scheduler =
        DurableTimer.builder(store)
            .handler(
                "h",
                firing -> {
                  running.countDown();
                  Threads.await(gate);
                })
            .start();
    scheduler.schedule(spec("a").after(Duration.ZERO));
    running.await();
    Thread first = Threads.startAndAwaitWaiting(() -> scheduler.close(LONG));
    Thread second = Threads.startAndAwaitWaiting(() -> scheduler.close(LONG));
    scheduler.close(Duration.ZERO); // does not wait
    assertThat(second.isAlive()).isTrue();
    gate.countDown();
    second.join();
    assertThat(left("a").state()).isEqualTo(TimerState.COMPLETED);
    first.join();
    scheduler.close();
  }

  @Test
  void keepsTheInterruptOfTheThreadThatCloses() {
    DurableTimer scheduler = DurableTimer.builder(store).handler("h", firing -> {}).start();
    Thread.currentThread().interrupt();
    scheduler.close();
    assertThat(Thread.interrupted()).isTrue();
  }

  // Without threads

  private final DurableTestkit kit = DurableTestkit.create();

  @Test
  void leavesUnrecordedEndsToTheNextStart() {
    List<Integer> attempts = new ArrayList<>();
    DurableTimer scheduler =
        kit.start(
            store,
            builder ->
                builder.handler(
                    "h",
                    firing -> {
                      attempts.add(firing.attempt());
                      store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
                    }));
    scheduler.schedule(spec("a").after(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofSeconds(1));
    assertThat(scheduler.stats().ownQueued()).isEqualTo(1);
    assertThat(scheduler.stats().storeAvailable()).isFalse();
    scheduler.close();

    DurableTimer next =
        kit.start(data.reopen(), builder -> builder.handler("h", f -> attempts.add(f.attempt())));
    assertThat(attempts).containsExactly(1, 2);
    assertThat(next.timer("ns", "a").get().orElseThrow().attempts())
        .extracting(Attempt::end)
        .containsExactly(Attempt.End.LOST, Attempt.End.SUCCEEDED);
  }

  @Test
  void failsACallWhoseOutcomeIsUnknown() {
    DurableTimer scheduler = kit.start(store, builder -> builder.handler("h", firing -> {}));
    store.faults(changes -> FaultyStore.Fault.DONE_BUT_FAILED);
    var result = scheduler.async().schedule(spec("a").requestId("r")).toCompletableFuture();
    kit.settle(); // it waits for its retry
    assertThat(scheduler.stats().queued()).isEqualTo(1);
    assertThat(result).isNotDone();
    scheduler.close();
    kit.settle();
    assertThatThrownBy(result::join)
        .cause()
        .isInstanceOfSatisfying(
            DurableTimerException.class, e -> assertThat(e.reason()).isEqualTo(Reason.UNKNOWN));
  }

  @Test
  void failsACallWhoseCommitFailsTogetherWithAChangeOfTheEngine() {
    Stand stand = new Stand();
    DurableTimer scheduler = stand.start(store, builder -> builder.handler("h", firing -> {}));
    scheduler.schedule(spec("due").after(Duration.ofSeconds(1)));
    stand.manual.advanceBy(Duration.ofSeconds(1)); // the claim waits for its commit
    var result = scheduler.async().schedule(spec("a").requestId("r")).toCompletableFuture();
    store.faults(
        changes -> {
          assertThat(changes).hasSize(2);
          scheduler.close(Duration.ZERO);
          return FaultyStore.Fault.LOST;
        });
    stand.settle();
    assertThat(result).isDone();
    assertThatThrownBy(result::join)
        .cause()
        .isInstanceOfSatisfying(
            DurableTimerException.class, e -> assertThat(e.reason()).isEqualTo(Reason.UNKNOWN));
  }

  @Test
  void recordsEndsThatWaitForTheirCommit() {
    DurableTimer scheduler = kit.start(store, builder -> builder.handler("h", firing -> {}));
    var result = scheduler.async().schedule(spec("a")).toCompletableFuture();
    scheduler.close();
    kit.settle();
    assertThat(result.join().outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
    assertThat(left("a").state()).isEqualTo(TimerState.SCHEDULED);
  }

  /** Otherwise the owner of the shard would start another attempt while this one runs. */
  @Test
  void extendsTheLeasesOfAttemptsThatItWaitsFor() throws Exception {
    ManualTimer wheel = ManualTimer.create();
    InstantSource clock = () -> DurableTestkit.START.plus(wheel.elapsed());
    InMemoryTimerStore shared =
        InMemoryTimerStore.create(
            new StoreTraits(
                1,
                1,
                10_000,
                Duration.ofMinutes(1),
                Duration.ofMillis(100),
                Duration.ofMillis(500),
                Duration.ofSeconds(10)));
    Semaphore extensions = new Semaphore(0);
    CountDownLatch started = new CountDownLatch(1);
    CompletableFuture<Void> end = new CompletableFuture<>();
    ExecutorService storeWork = Executors.newSingleThreadExecutor();
    InMemoryTimerStore session = shared.join();
    DurableTimer owner = DurableTimer.builder(session).timer(wheel).clock(clock).start();
    DurableTimer node =
        DurableTimer.builder(
                new ForwardingTimerStore(shared.join()) {
                  @Override
                  public List<Outcome> commit(List<Change> changes) {
                    List<Outcome> outcomes = super.commit(changes);
                    extensions.release(
                        (int) changes.stream().filter(Change.Extend.class::isInstance).count());
                    return outcomes;
                  }
                })
            .timer(wheel)
            .clock(clock)
            .storeExecutor(storeWork)
            .asyncHandler(
                "elsewhere",
                firing -> {
                  started.countDown();
                  return end;
                },
                1,
                null)
            .start();
    session.takeShard(0);
    owner.schedule(TimerSpec.of("ns", "a").handler("elsewhere").after(Duration.ZERO));
    started.await();
    Thread closer = Threads.startAndAwaitWaiting(() -> node.close(LONG));
    for (int i = 0; i < 4; i++) {
      wheel.advanceBy(Duration.ofSeconds(4));
      assertThat(extensions.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
      storeWork.submit(() -> {}).get(); // after the commit,
      storeWork.submit(() -> {}).get(); // and after its outcome
    }
    end.complete(null);
    closer.join();
    assertThat(owner.timer("ns", "a").get().orElseThrow().state()).isEqualTo(TimerState.COMPLETED);
    assertThat(owner.timer("ns", "a").get().orElseThrow().attempts()).hasSize(1);
    owner.close();
    storeWork.shutdown();
  }
}
