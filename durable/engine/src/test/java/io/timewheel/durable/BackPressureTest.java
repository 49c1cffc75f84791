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
    DurableTimer timer =
        DurableTimer.builder(store)
            .handler("h", firing -> {})
            .queueCapacity(CAPACITY, refuse)
            .start();
    store.faults(
        changes -> {
          longest.accumulateAndGet(timer.stats().queued(), Math::max);
          return FaultyStore.Fault.NONE;
        });
    return timer;
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
    DurableTimer timer = start(false);
    inThreads(id -> timer.scheduleAsync(spec(id)));
    timer.close();
    assertThat(longest.get()).isBetween(1, 2 * CAPACITY);
    assertThat(data.reopen().counts().get("ns"))
        .containsEntry(TimerState.SCHEDULED, (long) THREADS * EACH);
  }

  @Test
  void callersAreRefusedIfConfigured() throws InterruptedException {
    DurableTimer timer = start(true);
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
            timer
                .scheduleAsync(spec(id))
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
    timer.close();
    Threads.await(answered); // on other threads, for which a close does not wait
    assertThat(failed.get()).isZero();
    assertThat(refused.get()).isPositive();
    assertThat(accepted.get() + refused.get()).isEqualTo(THREADS * EACH);
    assertThat(data.reopen().counts().get("ns"))
        .containsEntry(TimerState.SCHEDULED, (long) accepted.get());
  }

  @Test
  void refusesWithTheLimitAndAcceptsMoreWhenThereIsRoom() throws InterruptedException {
    DurableTimer timer =
        DurableTimer.builder(store).handler("h", firing -> {}).queueCapacity(1, true).start();
    CountDownLatch gate = new CountDownLatch(1);
    store.faults(
        changes -> {
          Threads.await(gate);
          return FaultyStore.Fault.NONE;
        });
    timer.scheduleAsync(spec("committing"));
    Await.until(() -> timer.stats().queued() == 0);
    // In the same lane as the first key; otherwise the lane would be empty.
    TimerKey key = new TimerKey("ns", "committing");
    var waiting = timer.cancelAsync(key, 0).toCompletableFuture();
    assertThatThrownBy(() -> timer.cancel(key, 0))
        .isInstanceOfSatisfying(
            DurableTimerException.class, e -> assertThat(e.reason()).isEqualTo(Reason.BUSY))
        .hasMessageContaining("1 changes wait for the store (expected: fewer than 1)");
    CompletableFuture<?> refused = timer.cancelAsync(key, 0).toCompletableFuture();
    assertThatThrownBy(refused::join).cause().hasMessageContaining("1 changes wait");
    gate.countDown();
    waiting.join();
    timer.cancel(key, 0);
    timer.close();
  }

  @Test
  void repeatedChangesCountAsWaiting() {
    DurableTestkit kit = DurableTestkit.create();
    FaultyStore failing = new FaultyStore(InMemoryTimerStore.create());
    DurableTimer timer =
        kit.start(failing, builder -> builder.handler("h", f -> {}).queueCapacity(3, true));
    failing.faults(changes -> FaultyStore.Fault.LOST);
    for (int i = 0; i < 3; i++) {
      timer.scheduleAsync(spec("t" + i).requestId("r" + i));
    }
    kit.settle();
    assertThat(timer.stats().queued()).isEqualTo(3);
    var refused = timer.scheduleAsync(spec("t3").requestId("r3")).toCompletableFuture();
    kit.settle();
    assertThatThrownBy(refused::join).cause().hasMessageContaining("3 changes wait");
    failing.faults(changes -> FaultyStore.Fault.NONE);
    kit.advanceBy(Duration.ofSeconds(10));
    assertThat(timer.stats().queued()).isZero();
    assertThat(timer.counts().get("ns")).containsEntry(TimerState.SCHEDULED, 3L);
  }

  @Test
  void aBatchThatFindsRoomIsOneCommit() {
    FaultyStore counted = new FaultyStore(InMemoryTimerStore.create());
    DurableTimer timer = DurableTimer.builder(counted).handler("h", firing -> {}).start();
    List<Integer> sizes = new ArrayList<>();
    counted.faults(
        changes -> {
          sizes.add(changes.size());
          return FaultyStore.Fault.NONE;
        });

    List<TimerSpec> specs = IntStream.range(0, 500).mapToObj(i -> spec("t" + i)).toList();
    assertThat(timer.scheduleAll(specs)).allSatisfy(each -> assertThat(each.error()).isNull());

    timer.close();
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
    DurableTimer timer = DurableTimer.builder(counted).handler("h", firing -> {}).start();
    AtomicInteger largest = new AtomicInteger();
    counted.faults(
        changes -> {
          longest.accumulateAndGet(timer.stats().queued(), Math::max);
          largest.accumulateAndGet(changes.size(), Math::max);
          return FaultyStore.Fault.NONE;
        });

    assertThat(timer.scheduleAll(large(800))).allSatisfy(each -> assertThat(each.error()).isNull());

    assertThat(timer.counts().get("ns")).containsEntry(TimerState.SCHEDULED, 800L);
    timer.close();
    assertThat(largest.get()).isBetween(2, (4 << 20) / LARGE + 1);
    assertThat(longest.get()).isBetween(2, (16 << 20) / LARGE + 1);
  }

  @Test
  void largePayloadsThatAreRepeatedCountAsWaiting() {
    DurableTestkit kit = DurableTestkit.create();
    FaultyStore failing = new FaultyStore(InMemoryTimerStore.create());
    DurableTimer timer = kit.start(failing, builder -> builder.handler("h", f -> {}));
    failing.faults(changes -> FaultyStore.Fault.LOST);
    int most = (16 << 20) / LARGE + 1;
    for (TimerSpec spec : large(most)) {
      timer.scheduleAsync(spec.requestId("once"));
    }
    kit.settle();
    CompletableFuture<?> refused = timer.scheduleAsync(spec("more")).toCompletableFuture();
    assertThat(refused).isCompletedExceptionally();
    assertThatThrownBy(refused::join)
        .cause()
        .hasMessageContaining(
            most + " changes wait for the store (expected: fewer than 10000, of 16777216 bytes)");
    failing.faults(changes -> FaultyStore.Fault.NONE);
    kit.advanceBy(Duration.ofSeconds(10));
    assertThat(timer.stats().queued()).isZero();
    timer.scheduleAsync(spec("more"));
    kit.settle();
    assertThat(timer.counts().get("ns")).containsEntry(TimerState.SCHEDULED, most + 1L);
  }

  @Test
  void aBatchLargerThanTheQueueGoesInAsThereIsRoom() {
    DurableTimer timer = start(false);
    List<TimerSpec> specs = IntStream.range(0, EACH).mapToObj(i -> spec("t" + i)).toList();

    assertThat(timer.scheduleAll(specs)).allSatisfy(each -> assertThat(each.error()).isNull());

    timer.close();
    assertThat(data.reopen().counts().get("ns")).containsEntry(TimerState.SCHEDULED, (long) EACH);
  }

  @Test
  void theRestOfABatchLargerThanTheQueueIsRefusedWithItsKeys() {
    DurableTestkit kit = DurableTestkit.create();
    DurableTimer timer =
        kit.start(
            InMemoryTimerStore.create(),
            builder -> builder.handler("h", f -> {}).queueCapacity(3, true));
    List<TimerSpec> specs = IntStream.range(0, 5).mapToObj(i -> spec("t" + i)).toList();

    var results = timer.scheduleAll(specs);

    assertThat(results.subList(0, 3)).allSatisfy(each -> assertThat(each.error()).isNull());
    assertThat(results.get(3).error()).hasMessageStartingWith("ns/t3: 3 changes wait");
    assertThat(results.get(4).error()).hasMessageStartingWith("ns/t4: 3 changes wait");
  }
}
