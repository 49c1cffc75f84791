// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.StepExecutor;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Verifies that claims of consumers share the store with each other and with other timers. */
class ReadyClaimsTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final StoreTraits SHARED =
      new StoreTraits(
          1, 1, 4_000, Duration.ofMinutes(1), Duration.ZERO, Duration.ofMillis(500), LONG);

  private final Stand stand = new Stand();
  private final Watched store = new Watched(InMemoryTimerStore.create());

  /** Records the calls of the engine, and runs code of the test before each lease. */
  private static final class Watched extends ForwardingTimerStore {
    final List<String> calls = new ArrayList<>();
    final List<List<LeaseRequest>> leases = new ArrayList<>();
    Consumer<List<LeaseRequest>> beforeLease = requests -> {};
    Runnable afterLease = () -> {};
    StoreListener engine;

    Watched(InMemoryTimerStore below) {
      super(below);
    }

    @Override
    public void start(StoreListener listener) {
      engine = listener;
      super.start(listener);
    }

    @Override
    public List<TimerRecord> lease(
        List<LeaseRequest> requests, int limit, long nowMillis, Supplier<ClaimToken> tokens) {
      calls.add("lease");
      leases.add(requests);
      beforeLease.accept(requests);
      List<TimerRecord> leased = super.lease(requests, limit, nowMillis, tokens);
      afterLease.run();
      return leased;
    }

    @Override
    public List<DueTimer> due(int shard, long until, DuePosition after, int limit) {
      calls.add("due");
      return super.due(shard, until, after, limit);
    }

    @Override
    public TimerRecord get(TimerKey key) {
      calls.add("get");
      return super.get(key);
    }
  }

  private static CompletableFuture<List<QueueFiring>> claim(
      DurableTimer scheduler, String queue, Duration wait) {
    return scheduler.async().queue("shop", queue).claim(1, LEASE, wait).toCompletableFuture();
  }

  private static List<CompletableFuture<List<QueueFiring>>> claims(
      DurableTimer scheduler, String queue, int count, Duration wait) {
    List<CompletableFuture<List<QueueFiring>>> claims = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      claims.add(claim(scheduler, queue, wait));
    }
    return claims;
  }

  private void makeReady(DurableTimer scheduler, String queue, int count) {
    List<TimerSpec> specs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      specs.add(TimerSpec.of("shop", queue + "-" + i).queue(queue).after(Duration.ZERO));
    }
    scheduler.scheduleAll(specs);
    stand.settle();
  }

  private static List<String> ids(Collection<CompletableFuture<List<QueueFiring>>> claims) {
    return claims.stream()
        .map(claim -> claim.getNow(List.of()))
        .map(firings -> firings.isEmpty() ? "" : firings.get(0).firing().id())
        .toList();
  }

  // Pauses

  @Test
  void handsOverNoTimerOfAQueueOrNamespaceThatWasPausedAfterItsClaim() {
    DurableTimer scheduler = stand.start(store, builder -> {});
    for (String scope : List.of(Scopes.queue("shop", "a"), "shop", "")) {
      makeReady(scheduler, "a", 1);
      store.afterLease = () -> store.pause(scope);
      CompletableFuture<List<QueueFiring>> claim = claim(scheduler, "a", LONG);
      stand.settle();
      assertThat(claim).as(scope).isCompletedWithValue(List.of());
      assertThat(scheduler.timer("shop", "a-0").get().orElseThrow().state())
          .isEqualTo(TimerState.READY);
      assertThat(scheduler.timer("shop", "a-0").get().orElseThrow().attempt())
          .as("uncounted")
          .isZero();
      store.afterLease = () -> {};
      CompletableFuture<List<QueueFiring>> waiting = claim(scheduler, "a", LONG);
      stand.settle();
      assertThat(waiting).isNotDone();
      store.resume(scope);
      scheduler.queue("shop", "other").resume(); // makes the claims check again
      stand.settle();
      QueueFiring firing = waiting.getNow(List.of()).get(0);
      var unused =
          scheduler
              .async()
              .changeLease(LeaseChange.ack(firing.firing().fireId(), firing.leaseToken()));
      stand.settle();
    }
  }

  @Test
  void aPausedQueueIsListedAndItsClaimsWait() {
    DurableTimer scheduler = stand.start(store, builder -> {});
    makeReady(scheduler, "a", 3);
    CompletableFuture<List<QueueFiring>> first = claim(scheduler, "a", LONG);
    stand.settle();
    assertThat(first).isDone();
    assertThat(scheduler.queue("shop", "a").pause()).as("claimed").isOne();
    assertThat(scheduler.queue("shop", "idle").pause()).isZero();
    var unused = claim(scheduler, "a", LONG);
    var unusedEnd = claim(scheduler, "waited", LONG);
    stand.settle();
    assertThat(scheduler.paused()).as("namespaces").isEmpty();
    Instant readySince = scheduler.now();
    assertThat(scheduler.queues("shop", null, 10))
        .containsExactly(
            new QueueInfo("shop", "a", 2, Optional.of(readySince), 1, 1, true),
            new QueueInfo("shop", "idle", 0, Optional.empty(), 0, 0, true),
            new QueueInfo("shop", "waited", 0, Optional.empty(), 0, 1, false));
    assertThat(scheduler.queues(null, new TimerKey("shop", "a"), 1))
        .extracting(QueueInfo::name)
        .containsExactly("idle");
    assertThat(scheduler.queues("elsewhere", null, 10)).isEmpty();
    scheduler.queue("shop", "a").resume();
    stand.settle();
    assertThat(scheduler.queues("shop", null, 1))
        .containsExactly(new QueueInfo("shop", "a", 1, Optional.of(readySince), 2, 0, false));
  }

  // Limits

  @Test
  void asksForTheLimitOfAQueueOnceForEachLease() {
    List<String> asked = new ArrayList<>();
    DurableTimer scheduler =
        stand.start(
            store,
            builder ->
                builder.queueLimits(
                    queue -> {
                      if (asked.contains(queue.id())) {
                        throw new IllegalStateException("on purpose");
                      }
                      asked.add(queue.id());
                      return null;
                    }));
    makeReady(scheduler, "b", 1);
    CompletableFuture<List<QueueFiring>> empty = claim(scheduler, "a", LONG);
    CompletableFuture<List<QueueFiring>> claim = claim(scheduler, "b", LONG);
    stand.settle();
    assertThat(ids(List.of(empty, claim))).as("the leased timer").containsExactly("", "b-0");
    assertThat(asked).containsExactly("a", "b");
  }

  // Bounds

  @Test
  void claimsForAllWaitingQueuesInOneCall() {
    Watched shared = new Watched(InMemoryTimerStore.create(SHARED));
    DurableTimer scheduler = stand.start(shared, builder -> {});
    for (int i = 0; i < 1_000; i++) {
      var unused = claim(scheduler, "q" + i, LONG);
    }
    stand.settle();
    assertThat(shared.leases).hasSize(1);
    stand.advance(Duration.ofMillis(1_500));
    assertThat(shared.leases).as("one call for each sweep").hasSize(4);
    assertThat(shared.leases)
        .allSatisfy(
            requests ->
                assertThat(requests)
                    .extracting(LeaseRequest::queue)
                    .hasSize(1_000)
                    .doesNotHaveDuplicates());
  }

  @Test
  void queuesOneTaskForAnyNumberOfClaimsAndNotifications() {
    List<Runnable> tasks = new ArrayList<>();
    StepExecutor counting =
        new StepExecutor() {
          @Override
          public void execute(Runnable task) {
            tasks.add(task);
          }

          @Override
          public boolean runOne() {
            boolean any = !tasks.isEmpty();
            if (any) {
              tasks.remove(0).run();
            }
            return any;
          }
        };
    DurableTimer scheduler = stand.start(store, builder -> builder.storeExecutor(counting));
    while (counting.runOne()) {
      // Until no work is left.
    }
    List<CompletableFuture<List<QueueFiring>>> claims = claims(scheduler, "q", 100, LONG);
    assertThat(tasks).hasSize(1);
    for (int i = 0; i < 10_000; i++) {
      store.engine.ready("shop", "q");
      store.engine.ready("shop", "queue of others");
    }
    assertThat(tasks).hasSize(1);
    while (counting.runOne()) {
      // Until no work is left.
    }
    assertThat(store.leases).hasSize(1);
    assertThat(claims).noneMatch(CompletableFuture::isDone);
  }

  @Test
  void makesNoCallForQueuesWithoutClaims() {
    DurableTimer scheduler = stand.start(store, builder -> {});
    claim(scheduler, "q", LONG).cancel(false);
    makeReady(scheduler, "q", 1);
    assertThat(store.leases).isEmpty();
  }

  // Other work

  @Test
  void loadsDueTimersBetweenTwoStepsOfABusyQueue() {
    DurableTimer scheduler = stand.start(store, builder -> {});
    makeReady(scheduler, "q", 2_000);
    store.calls.clear();
    store.beforeLease =
        requests -> {
          if (store.leases.size() == 1) {
            store.engine.added(0, stand.now().toEpochMilli());
          }
        };
    List<CompletableFuture<List<QueueFiring>>> claims = claims(scheduler, "q", 2_000, LONG);
    stand.settle();
    assertThat(claims).allMatch(CompletableFuture::isDone);
    assertThat(store.leases).hasSizeGreaterThan(4);
    assertThat(store.calls).startsWith("lease", "due", "lease", "lease");
  }

  @Test
  void endsAnExpiredLeaseWhileConsumersAreBusy() {
    DurableTimer scheduler = stand.start(store, builder -> {});
    makeReady(scheduler, "expired", 1);
    var held =
        scheduler.async().queue("shop", "expired").claim(1, Duration.ofSeconds(1), Duration.ZERO);
    stand.settle();
    assertThat(held.toCompletableFuture().join()).hasSize(1);
    makeReady(scheduler, "q", 2_000);
    store.calls.clear();
    int before = store.leases.size();
    store.beforeLease =
        requests -> {
          if (store.leases.size() == before + 1) {
            stand.manual.advanceBy(Duration.ofSeconds(2));
          }
        };
    List<CompletableFuture<List<QueueFiring>>> claims = claims(scheduler, "q", 2_000, LONG);
    stand.settle();
    assertThat(claims).allMatch(CompletableFuture::isDone);
    assertThat(store.calls).startsWith("lease", "get", "lease", "lease");
    assertThat(scheduler.timer("shop", "expired-0").get().orElseThrow().attempts())
        .extracting(Attempt::end)
        .containsExactly(Attempt.End.LOST);
  }

  /** With threads: a store that does not answer a claim delays only claims. */
  @Test
  @Timeout(120)
  void loadsDueTimersWhileTheStoreDoesNotAnswerAClaim() {
    InMemoryTimerStore data = InMemoryTimerStore.create(SHARED);
    Watched owner = new Watched(data);
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch answered = new CountDownLatch(1);
    owner.beforeLease =
        requests -> {
          asked.countDown();
          await(answered);
        };
    CompletableFuture<String> fired = new CompletableFuture<>();
    try (DurableTimer scheduler =
            DurableTimer.builder(owner)
                .handler("h", firing -> fired.complete(firing.id()))
                .start();
        DurableTimer other = DurableTimer.builder(data.join()).build()) {
      try {
        var unused = claim(scheduler, "q", LONG);
        await(asked);
        other.schedule(TimerSpec.of("shop", "a").handler("h").after(Duration.ZERO));
        assertThat(fired).succeedsWithin(Duration.ofMinutes(1)).isEqualTo("a");
      } finally {
        answered.countDown(); // otherwise the close waits for it
      }
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  // Turns

  @Test
  void queuesTakeTurns() {
    DurableTimer scheduler = stand.start(store, builder -> {});
    makeReady(scheduler, "large", 2_000);
    makeReady(scheduler, "small", 1);
    List<CompletableFuture<List<QueueFiring>>> large = claims(scheduler, "large", 2_000, LONG);
    var small = claim(scheduler, "small", LONG);
    stand.settle();
    assertThat(queues(0)).containsExactly("large", "small");
    assertThat(queues(1)).containsExactly("small", "large");
    assertThat(queues(2)).as("small has nothing left").containsExactly("large");
    assertThat(ids(List.of(small))).containsExactly("small-0");
    assertThat(large).allMatch(CompletableFuture::isDone);
    assertThat(store.leases).hasSizeGreaterThan(4);
  }

  private List<String> queues(int step) {
    return store.leases.get(step).stream().map(LeaseRequest::queue).toList();
  }

  @Test
  void claimsWithoutAWaitGetAllThatIsReady() {
    DurableTimer scheduler = stand.start(store, builder -> {});
    makeReady(scheduler, "q", 1_000);
    List<CompletableFuture<List<QueueFiring>>> claims =
        claims(scheduler, "q", 1_001, Duration.ZERO);
    stand.settle();
    assertThat(ids(claims.subList(0, 1_000))).doesNotContain("").doesNotHaveDuplicates();
    assertThat(claims.get(1_000)).isCompletedWithValue(List.of());
  }

  @Test
  void anEmptyQueueEndsTheClaimsWithoutAWaitAndNoOthers() {
    DurableTimer scheduler = stand.start(store, builder -> {});
    var waits = claim(scheduler, "q", LONG);
    var without = claim(scheduler, "q", Duration.ZERO);
    stand.settle();
    assertThat(without).isCompletedWithValue(List.of());
    assertThat(waits).isNotDone();
  }

  // Failures

  @Test
  void anUnreadableRecordDelaysOnlyItsQueue() {
    DurableTimer scheduler = stand.start(store, builder -> {});
    store.beforeLease =
        requests -> {
          if (requests.stream().anyMatch(request -> request.queue().equals("damaged"))) {
            throw new StoreException(StoreException.Kind.REJECTED, "cannot be read", null);
          }
        };
    for (String queue : List.of("a", "b", "damaged", "c", "d")) {
      makeReady(scheduler, queue, 1);
    }
    List<CompletableFuture<List<QueueFiring>>> claims = new ArrayList<>();
    for (String queue : List.of("a", "b", "damaged", "c", "d")) {
      claims.add(claim(scheduler, queue, LONG));
    }
    stand.settle();
    assertThat(claims.remove(2))
        .isCompletedExceptionally()
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(DurableTimerException.class)
        .withMessageContaining("cannot be read");
    assertThat(ids(claims)).containsExactly("a-0", "b-0", "c-0", "d-0");
  }

  @Test
  void waitingClaimsAreServedOnceTheStoreAnswersAgain() {
    DurableTimer scheduler = stand.start(store, builder -> {});
    makeReady(scheduler, "q", 2);
    store.beforeLease =
        requests -> {
          throw new StoreException(StoreException.Kind.TRANSIENT, "no connection", null);
        };
    List<CompletableFuture<List<QueueFiring>>> claims = claims(scheduler, "q", 2, LONG);
    var withoutWait = claim(scheduler, "q", Duration.ZERO);
    stand.settle();
    assertThat(claims).noneMatch(CompletableFuture::isDone);
    assertThat(withoutWait).isCompletedExceptionally();
    assertThat(store.leases).hasSize(1);
    store.beforeLease = requests -> {};
    stand.advance(Duration.ofSeconds(1));
    assertThat(ids(claims)).containsExactly("q-0", "q-1");
  }

  @Test
  void anUnavailableStoreFailsTheFirstClaimOfAQueue() {
    DurableTimer scheduler = stand.start(store, builder -> {});
    store.beforeLease =
        requests -> {
          throw new StoreException(StoreException.Kind.UNAVAILABLE, "the disk is full", null);
        };
    List<CompletableFuture<List<QueueFiring>>> claims = claims(scheduler, "q", 2, LONG);
    stand.settle();
    assertThat(claims.get(0)).isCompletedExceptionally();
    assertThat(claims.get(1)).isNotDone();
  }

  @Test
  void aClaimThatGivesUpLeavesItsTimerToTheNextClaim() {
    DurableTimer scheduler = stand.start(store, builder -> {});
    makeReady(scheduler, "q", 1);
    var givesUp = claim(scheduler, "q", LONG);
    var next = claim(scheduler, "q", Duration.ZERO);
    store.beforeLease = requests -> givesUp.cancel(false);
    stand.settle();
    assertThat(ids(List.of(next))).containsExactly("q-0");
  }

  @Test
  void timersOfClaimsThatGiveUpAreGivenBack() {
    DurableTimer scheduler = stand.start(store, builder -> {});
    makeReady(scheduler, "q", 2);
    List<CompletableFuture<List<QueueFiring>>> claims = claims(scheduler, "q", 2, LONG);
    store.beforeLease = requests -> claims.forEach(claim -> claim.cancel(false));
    stand.settle();
    store.beforeLease = requests -> {};
    List<CompletableFuture<List<QueueFiring>>> later = claims(scheduler, "q", 2, LONG);
    stand.settle();
    assertThat(ids(later)).containsExactlyInAnyOrder("q-0", "q-1");
  }

  @Test
  void waitingClaimsAreServedAfterAPause() {
    DurableTimer scheduler = stand.start(store, builder -> {});
    makeReady(scheduler, "q", 1);
    scheduler.namespace("shop").pause();
    var claim = claim(scheduler, "q", LONG);
    stand.settle();
    assertThat(claim).isNotDone();
    scheduler.namespace("shop").resume();
    stand.settle();
    assertThat(ids(List.of(claim))).containsExactly("q-0");
  }
}
