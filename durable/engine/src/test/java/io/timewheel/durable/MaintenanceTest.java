// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class MaintenanceTest {
  @Test
  void doesNotScanTheStoreWithoutTimersToRelease() {
    DurableTestkit kit = DurableTestkit.create();
    AtomicInteger pages = new AtomicInteger();
    ForwardingTimerStore store =
        new ForwardingTimerStore(InMemoryTimerStore.create()) {
          @Override
          public List<DueTimer> releasable(
              int shard, HandlerNames handlers, Set<String> namespaces, DueTimer after, int limit) {
            pages.incrementAndGet();
            return super.releasable(shard, handlers, namespaces, after, limit);
          }
        };
    DurableTimer scheduler = kit.start(store, builder -> builder.handler("h", firing -> {}));
    scheduler.schedule(TimerSpec.of("ns", "later").handler("h").after(Duration.ofHours(1)));

    kit.advanceBy(Duration.ofMinutes(10));

    assertThat(pages).hasValue(0);
  }

  @Test
  void doesNotScanTheStoreRepeatedlyForBlockedOrPausedTimers() {
    DurableTestkit kit = DurableTestkit.create();
    AtomicInteger pages = new AtomicInteger();
    ForwardingTimerStore store =
        new ForwardingTimerStore(InMemoryTimerStore.create()) {
          @Override
          public List<DueTimer> releasable(
              int shard, HandlerNames handlers, Set<String> namespaces, DueTimer after, int limit) {
            pages.incrementAndGet();
            return super.releasable(shard, handlers, namespaces, after, limit);
          }
        };
    DurableTimer scheduler = kit.start(store, builder -> builder.handler("h", firing -> {}));
    scheduler.schedule(TimerSpec.of("ns", "blocked").handler("unknown").after(Duration.ZERO));
    scheduler.schedule(TimerSpec.of("ns", "paused").handler("h").after(Duration.ofHours(1)));
    scheduler.timer("ns", "paused").pause();
    kit.advanceBy(Duration.ofMinutes(50));
    assertThat(pages).hasValue(0);
  }

  @Test
  void purgesAnswersAlthoughTimersCannotBePurged() {
    DurableTestkit kit = DurableTestkit.create();
    AtomicInteger purges = new AtomicInteger();
    ForwardingTimerStore store =
        new ForwardingTimerStore(InMemoryTimerStore.create()) {
          @Override
          public int purge(long finishedBefore, long keep, int limit) {
            throw new StoreException(StoreException.Kind.UNAVAILABLE, "a damaged block", null);
          }

          @Override
          public int purgeAnswers(long answeredBefore, int limit) {
            purges.incrementAndGet();
            return super.purgeAnswers(answeredBefore, limit);
          }
        };
    kit.start(store, builder -> {});
    kit.advanceBy(Duration.ofMinutes(5));
    assertThat(purges).hasPositiveValue();
  }

  @Test
  void aSlowReadDelaysNoOtherWork() throws InterruptedException {
    InMemoryTimerStore data = InMemoryTimerStore.create();
    DurableTestkit kit = DurableTestkit.create();
    DurableTimer before = kit.start(data, builder -> {});
    before.schedule(TimerSpec.of("ns", "blocked").handler("unknown").after(Duration.ZERO));
    before.schedule(TimerSpec.of("ns", "a").handler("h").at(Instant.now().plusMillis(100)));
    kit.kill(before);
    CountDownLatch gate = new CountDownLatch(1);
    CountDownLatch fired = new CountDownLatch(1);
    ForwardingTimerStore slow =
        new ForwardingTimerStore(data.reopen()) {
          @Override
          public List<DueTimer> releasable(
              int shard, HandlerNames handlers, Set<String> namespaces, DueTimer after, int limit) {
            Threads.await(gate);
            return super.releasable(shard, handlers, namespaces, after, limit);
          }
        };
    DurableTimer scheduler =
        DurableTimer.builder(slow).handler("h", firing -> fired.countDown()).start();
    fired.await(); // although blocked timers are being read
    gate.countDown();
    scheduler.close();
  }

  @Test
  void releasesTimersIfFinishedOnesAreRetainedForever() {
    DurableTestkit kit = DurableTestkit.create();
    List<String> fired = new ArrayList<>();
    DurableTimer scheduler =
        kit.start(
            InMemoryTimerStore.create(),
            builder ->
                builder
                    .handler("h", firing -> fired.add(firing.id()))
                    .retain(ChronoUnit.FOREVER.getDuration(), Long.MAX_VALUE));
    scheduler.namespace("ns").pause();
    scheduler.schedule(TimerSpec.of("ns", "a").handler("h").after(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofSeconds(5));
    scheduler.namespace("ns").resume();
    kit.settle();
    assertThat(fired).containsExactly("a");
  }

  @Test
  void releasesTimersIfTheStoreCannotPurge() {
    DurableTestkit kit = DurableTestkit.create();
    List<String> fired = new ArrayList<>();
    ForwardingTimerStore store =
        new ForwardingTimerStore(InMemoryTimerStore.create()) {
          @Override
          public int purge(long finishedBefore, long keep, int limit) {
            throw new StoreException(StoreException.Kind.REJECTED, "a bad record", null);
          }
        };
    DurableTimer scheduler =
        kit.start(store, builder -> builder.handler("h", firing -> fired.add(firing.id())));
    scheduler.namespace("ns").pause();
    scheduler.schedule(TimerSpec.of("ns", "a").handler("h").after(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofSeconds(5));
    scheduler.namespace("ns").resume();
    kit.settle();
    assertThat(fired).containsExactly("a");
  }
}
