// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.DurableTimerException.Reason;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.testkit.DurableTestkit;
import io.timewheel.durable.testkit.FaultyStore;
import io.timewheel.testing.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Verifies that a slow store causes no unbounded queue and no lost timer. */
@Tag("promise-47")
class BackPressureTest {
  private static final int THREADS = 8;
  private static final int EACH = 500;
  private static final int CAPACITY = 20;

  private final InMemoryTimerStore data =
      InMemoryTimerStore.create(
          new StoreTraits(1, 2, 7, Duration.ofMinutes(1), Duration.ZERO, Duration.ZERO));
  private final FaultyStore store = new FaultyStore(data);
  private final AtomicInteger longest = new AtomicInteger();

  private static TimerSpec spec(String id) {
    return TimerSpec.of("ns", id).handler("h").after(Duration.ofHours(1));
  }

  private DurableTimer start(boolean refuse) {
    DurableTimer scheduler =
        DurableTimer.builder(store)
            .handler("h", firing -> {})
            .queueCapacity(CAPACITY, refuse)
            .start();
    store.faults(
        changes -> {
          longest.accumulateAndGet(scheduler.stats().queued(), Math::max);
          return FaultyStore.Fault.NONE;
        });
    return scheduler;
  }

  private static void inThreads(Consumer<String> work) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      String prefix = "t" + i + "-";
      Thread thread =
          new Thread(
              () -> {
                for (int n = 0; n < EACH; n++) {
                  work.accept(prefix + n);
                }
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  @Test
  void callersWaitForRoom() throws InterruptedException {
    DurableTimer scheduler = start(false);
    inThreads(id -> scheduler.async().schedule(spec(id)));
    scheduler.close();
    assertThat(longest.get()).isBetween(1, 2 * CAPACITY);
    assertThat(data.reopen().counts().get("ns"))
        .containsEntry(TimerState.SCHEDULED, (long) THREADS * EACH);
  }

  @Test
  void callersAreRefusedIfConfigured() throws InterruptedException {
    DurableTimer scheduler = start(true);
    CountDownLatch full = new CountDownLatch(1);
    store.faults(
        changes -> {
          Threads.await(full);
          return FaultyStore.Fault.NONE;
        });
    AtomicInteger accepted = new AtomicInteger();
    AtomicInteger refused = new AtomicInteger();
    AtomicInteger failed = new AtomicInteger();
    CountDownLatch answered = new CountDownLatch(THREADS * EACH);
    inThreads(
        id ->
            scheduler
                .async()
                .schedule(spec(id))
                .whenComplete(
                    (result, e) -> {
                      if (e == null) {
                        accepted.incrementAndGet();
                      } else if (e instanceof DurableTimerException busy
                          && busy.reason() == Reason.BUSY) {
                        refused.incrementAndGet();
                        full.countDown();
                      } else {
                        failed.incrementAndGet();
                      }
                      answered.countDown();
                    }));
    scheduler.close();
    Threads.await(answered); // on other threads, for which a close does not wait
    assertThat(failed.get()).isZero();
    assertThat(refused.get()).isPositive();
    assertThat(accepted.get() + refused.get()).isEqualTo(THREADS * EACH);
    assertThat(data.reopen().counts().get("ns"))
        .containsEntry(TimerState.SCHEDULED, (long) accepted.get());
  }

  @Test
  void refusesWithTheLimitAndAcceptsMoreWhenThereIsRoom() throws InterruptedException {
    DurableTimer scheduler =
        DurableTimer.builder(store).handler("h", firing -> {}).queueCapacity(1, true).start();
    CountDownLatch gate = new CountDownLatch(1);
    store.faults(
        changes -> {
          Threads.await(gate);
          return FaultyStore.Fault.NONE;
        });
    scheduler.async().schedule(spec("committing"));
    Await.until(() -> scheduler.stats().queued() == 0);
    // In the same lane as the first key; otherwise the lane would be empty.
    TimerKey key = new TimerKey("ns", "committing");
    var waiting = scheduler.async().timer(key).cancel().toCompletableFuture();
    assertThatThrownBy(() -> scheduler.timer(key).cancel())
        .isInstanceOfSatisfying(
            DurableTimerException.class, e -> assertThat(e.reason()).isEqualTo(Reason.BUSY))
        .hasMessageContaining("1 changes wait for the store (expected: fewer than 1)");
    CompletableFuture<?> refused = scheduler.async().timer(key).cancel().toCompletableFuture();
    assertThatThrownBy(refused::join).cause().hasMessageContaining("1 changes wait");
    gate.countDown();
    waiting.join();
    scheduler.timer(key).cancel();
    scheduler.close();
  }

  @Test
  void repeatedChangesCountAsWaiting() {
    DurableTestkit kit = DurableTestkit.create();
    FaultyStore failing = new FaultyStore(InMemoryTimerStore.create());
    DurableTimer scheduler =
        kit.start(failing, builder -> builder.handler("h", f -> {}).queueCapacity(3, true));
    failing.faults(changes -> FaultyStore.Fault.LOST);
    for (int i = 0; i < 3; i++) {
      scheduler.async().schedule(spec("t" + i).requestId("r" + i));
    }
    kit.settle();
    assertThat(scheduler.stats().queued()).isEqualTo(3);
    var refused = scheduler.async().schedule(spec("t3").requestId("r3")).toCompletableFuture();
    kit.settle();
    assertThatThrownBy(refused::join).cause().hasMessageContaining("3 changes wait");
    failing.faults(changes -> FaultyStore.Fault.NONE);
    kit.advanceBy(Duration.ofSeconds(10));
    assertThat(scheduler.stats().queued()).isZero();
    assertThat(scheduler.counts().get("ns")).containsEntry(TimerState.SCHEDULED, 3L);
  }

  @Test
  void aBatchThatFindsRoomIsOneCommit() {
    FaultyStore counted = new FaultyStore(InMemoryTimerStore.create());
    DurableTimer scheduler = DurableTimer.builder(counted).handler("h", firing -> {}).start();
    List<Integer> sizes = new ArrayList<>();
    counted.faults(
        changes -> {
          sizes.add(changes.size());
          return FaultyStore.Fault.NONE;
        });

    List<TimerSpec> specs = IntStream.range(0, 500).mapToObj(i -> spec("t" + i)).toList();
    assertThat(scheduler.scheduleAll(specs)).allSatisfy(each -> assertThat(each.error()).isNull());

    scheduler.close();
    assertThat(sizes).containsExactly(500);
  }

  private static final int LARGE = 60_000;

  private static List<TimerSpec> large(int count) {
    return IntStream.range(0, count).mapToObj(i -> spec("t" + i).payload(new byte[LARGE])).toList();
  }

  @Test
  void largePayloadsAreBoundedByTheirBytes() {
    InMemoryTimerStore inMemory = InMemoryTimerStore.create();
    FaultyStore counted = new FaultyStore(inMemory);
    DurableTimer scheduler = DurableTimer.builder(counted).handler("h", firing -> {}).start();
    AtomicInteger largest = new AtomicInteger();
    counted.faults(
        changes -> {
          longest.accumulateAndGet(scheduler.stats().queued(), Math::max);
          largest.accumulateAndGet(changes.size(), Math::max);
          return FaultyStore.Fault.NONE;
        });

    assertThat(scheduler.scheduleAll(large(800)))
        .allSatisfy(each -> assertThat(each.error()).isNull());

    assertThat(scheduler.counts().get("ns")).containsEntry(TimerState.SCHEDULED, 800L);
    scheduler.close();
    assertThat(largest.get()).isBetween(2, (4 << 20) / LARGE + 1);
    assertThat(longest.get()).isBetween(2, (16 << 20) / LARGE + 1);
  }

  @Test
  void largePayloadsThatAreRepeatedCountAsWaiting() {
    DurableTestkit kit = DurableTestkit.create();
    FaultyStore failing = new FaultyStore(InMemoryTimerStore.create());
    DurableTimer scheduler = kit.start(failing, builder -> builder.handler("h", f -> {}));
    failing.faults(changes -> FaultyStore.Fault.LOST);
    int most = (16 << 20) / LARGE + 1;
    for (TimerSpec spec : large(most)) {
      scheduler.async().schedule(spec.requestId("once"));
    }
    kit.settle();
    CompletableFuture<?> refused = scheduler.async().schedule(spec("more")).toCompletableFuture();
    assertThat(refused).isCompletedExceptionally();
    assertThatThrownBy(refused::join)
        .cause()
        .hasMessageContaining(
            most + " changes wait for the store (expected: fewer than 10000, of 16777216 bytes)");
    failing.faults(changes -> FaultyStore.Fault.NONE);
    kit.advanceBy(Duration.ofSeconds(10));
    assertThat(scheduler.stats().queued()).isZero();
    scheduler.async().schedule(spec("more"));
    kit.settle();
    assertThat(scheduler.counts().get("ns")).containsEntry(TimerState.SCHEDULED, most + 1L);
  }

  @Test
  void aBatchLargerThanTheQueueGoesInAsThereIsRoom() {
    DurableTimer scheduler = start(false);
    List<TimerSpec> specs = IntStream.range(0, EACH).mapToObj(i -> spec("t" + i)).toList();

    assertThat(scheduler.scheduleAll(specs)).allSatisfy(each -> assertThat(each.error()).isNull());

    scheduler.close();
    assertThat(data.reopen().counts().get("ns")).containsEntry(TimerState.SCHEDULED, (long) EACH);
  }

  @Test
  void theRestOfABatchLargerThanTheQueueIsRefusedWithItsKeys() {
    DurableTestkit kit = DurableTestkit.create();
    DurableTimer scheduler =
        kit.start(
            InMemoryTimerStore.create(),
            builder -> builder.handler("h", f -> {}).queueCapacity(3, true));
    List<TimerSpec> specs = IntStream.range(0, 5).mapToObj(i -> spec("t" + i)).toList();

    var results = scheduler.scheduleAll(specs);

    assertThat(results.subList(0, 3)).allSatisfy(each -> assertThat(each.error()).isNull());
    assertThat(results.get(3).error()).hasMessageStartingWith("ns/t3: 3 changes wait");
    assertThat(results.get(4).error()).hasMessageStartingWith("ns/t4: 3 changes wait");
  }
}
