// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.AsyncHandler;
import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.HandlerSlots;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Tests nodes that share one store and have different handlers. Only this class verifies, on a
 * store in memory, claims of nodes that do not own the timer.
 */
class HandlerClusterTest {
  private static final int SHARDS = 6;
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final Duration SWEEP = Duration.ofMillis(500);

  private final DurableTestkit kit = DurableTestkit.create();
  private final InMemoryTimerStore data =
      InMemoryTimerStore.create(
          new StoreTraits(
              SHARDS, 1, 10_000, Duration.ofMinutes(1), Duration.ofMillis(100), SWEEP, LEASE));
  private final DurableTimer client = kit.start(DurableTimer.client(data.join()), builder -> {});
  private final Map<String, InMemoryTimerStore> sessions = new HashMap<>();

  /** For each firing: node, id, attempt, and the time since the start. */
  private final List<String> fired = new ArrayList<>();

  /** The lag of each timer. */
  private final Map<String, Duration> late = new HashMap<>();

  private DurableTimer start(String node, Consumer<DurableTimerBuilder> settings) {
    InMemoryTimerStore session = data.join();
    sessions.put(node, session);
    return kit.start(session, settings);
  }

  private DurableTimer start(String node, String handler) {
    return start(node, builder -> builder.handler(handler, firing -> fired(node, firing)));
  }

  private void fired(String node, Firing firing) {
    fired.add(node + " " + firing.id() + " " + firing.attempt() + " @" + millis());
    late.put(firing.id(), Duration.between(firing.scheduledAt(), kit.now()));
  }

  private long millis() {
    return Duration.between(DurableTestkit.START, kit.now()).toMillis();
  }

  /** Divides the shards among nodes. */
  private void share(String... nodes) {
    for (int shard = 0; shard < SHARDS; shard++) {
      sessions.get(nodes[shard % nodes.length]).takeShard(shard);
    }
    kit.settle();
  }

  private static TimerSpec spec(String id) {
    return TimerSpec.of("ns", id).handler("b").after(Duration.ofSeconds(1));
  }

  private TimerInfo get(String id) {
    return client.timer("ns", id).get().orElseThrow();
  }

  private List<Attempt.End> ends(String id) {
    return get(id).attempts().stream().map(Attempt::end).toList();
  }

  // An application with handler A, one with handler B, and a full server

  private void schedule(String prefix, int timers, Duration within) {
    List<TimerSpec> specs = new ArrayList<>();
    for (int i = 0; i < timers; i++) {
      Duration after = within.multipliedBy(i).dividedBy(timers).plusSeconds(1);
      TimerSpec spec = TimerSpec.of("ns", prefix + i).after(after);
      specs.add(prefix.equals("q") ? spec.queue("q") : spec.handler(prefix));
    }
    client.scheduleAll(specs).forEach(result -> assertThat(result.error()).isNull());
  }

  private DurableTimer startServer(String node) {
    DurableTimer server =
        start(
            node,
            builder ->
                builder.handlers(
                    "web", firing -> fired(node, firing), 4, HandlerSlots.atMost(16), null));
    consume(node, server);
    return server;
  }

  private void consume(String node, DurableTimer server) {
    var unused =
        server
            .async()
            .queue("ns", "q")
            .claim(100, Duration.ofMinutes(5), Duration.ofSeconds(20))
            .thenAccept(
                firings -> {
                  for (QueueFiring firing : firings) {
                    fired(node, firing.firing());
                  }
                  if (!firings.isEmpty()) {
                    consume(node, server);
                  }
                });
  }

  private void scheduleAll() {
    for (String prefix : List.of("a", "b", "web:1/", "web:2/", "q")) {
      schedule(prefix, prefix.startsWith("web") ? 500 : 1_000, Duration.ofSeconds(10));
    }
  }

  private void assertEachFiredOnItsNode() {
    assertThat(late.size()).isEqualTo(4_000);
    for (String line : fired) {
      String node = line.substring(0, 1);
      String id = line.split(" ", -1)[1];
      assertThat(node)
          .as(line)
          .isEqualTo(id.startsWith("a") ? "A" : id.startsWith("b") ? "B" : "S");
    }
  }

  @Test
  void everyTimerFiresOnTimeOnTheNodeThatHasItsTarget() {
    start("A", "a");
    start("B", "b");
    startServer("S");
    share("A", "B", "S");
    scheduleAll();
    kit.advanceBy(Duration.ofSeconds(12));
    assertEachFiredOnItsNode();
    assertThat(fired.size()).isEqualTo(4_000);
    assertThat(new HashSet<>(late.values())).containsExactly(Duration.ZERO);
  }

  @Test
  void withoutNotificationsItFiresWithTheNextSweep() {
    start("A", "a");
    start("B", "b");
    share("A", "B");
    data.notifications(false);
    schedule("a", 1_000, Duration.ofSeconds(10));
    schedule("b", 1_000, Duration.ofSeconds(10));
    kit.advanceBy(Duration.ofSeconds(13));
    assertThat(fired).hasSize(2_000);
    assertThat(late.values()).allMatch(each -> each.compareTo(SWEEP) <= 0);
  }

  @Test
  void eachNodeMayStopAndStartAgain() {
    Map<String, DurableTimer> nodes = new HashMap<>();
    nodes.put("A", start("A", "a"));
    nodes.put("B", start("B", "b"));
    nodes.put("S", startServer("S"));
    share("A", "B", "S");
    scheduleAll();
    for (String stopped : List.of("A", "B", "S")) {
      kit.advanceBy(Duration.ofMillis(1_500));
      kit.close(nodes.get(stopped));
      sessions.remove(stopped);
      share(sessions.keySet().toArray(String[]::new));
      kit.advanceBy(Duration.ofSeconds(1));
      nodes.put(
          stopped,
          stopped.equals("S")
              ? startServer("S")
              : start(stopped, stopped.toLowerCase(Locale.ROOT)));
      share("A", "B", "S");
    }
    kit.advanceBy(Duration.ofSeconds(10));
    assertEachFiredOnItsNode();
    assertThat(fired.size())
        .isLessThan(4_010); // a take-over of a shard may lose one or two outcomes
    // A timer that became due while its node was down fires when the node is back.
    assertThat(late.values()).allMatch(each -> each.compareTo(Duration.ofMillis(1_500)) <= 0);
    assertThat(late.values().stream().filter(Duration.ZERO::equals).count()).isGreaterThan(3_000);
  }

  // Claim leases

  @Test
  void aTimerIsReadyUntilAFreeNodeLeasesIt() {
    start("A", "a");
    List<CompletableFuture<Void>> running = new ArrayList<>();
    AsyncHandler slow =
        firing -> {
          fired("B", firing);
          running.add(new CompletableFuture<>());
          return running.get(running.size() - 1);
        };
    start("B", builder -> builder.asyncHandler("b", slow, 2, null));
    share("A");
    IntStream.range(0, 5).forEach(i -> client.schedule(spec("t" + i)));
    kit.advanceBy(Duration.ofMinutes(1));
    assertThat(fired).hasSize(2);
    assertThat(client.counts().get("ns"))
        .containsEntry(TimerState.RUNNING, 2L)
        .containsEntry(TimerState.READY, 3L);
    for (int i = 0; i < 5; i++) {
      running.get(i).complete(null);
      kit.settle();
    }
    kit.advanceBy(Duration.ofSeconds(1));
    assertThat(fired).hasSize(5).allMatch(line -> line.contains(" 1 @"));
    assertThat(client.counts().get("ns")).containsOnlyKeys(TimerState.COMPLETED);
  }

  @Test
  void aLeaseIsTakenOverWhenItsNodeHasDied() {
    DurableTimer owner = start("A", "a");
    AsyncHandler stuck = firing -> new CompletableFuture<>();
    DurableTimer dying = start("B", builder -> builder.asyncHandler("b", stuck, 1, null));
    share("A");
    client.schedule(spec("t"));
    kit.advanceBy(Duration.ofSeconds(30));
    assertThat(get("t").state()).isEqualTo(TimerState.RUNNING);
    kit.kill(dying);
    sessions.get("B").close();
    start("C", "b");
    kit.advanceBy(LEASE.plus(SWEEP));
    assertThat(fired).singleElement().satisfies(line -> assertThat(line).startsWith("C t 2 @"));
    assertThat(ends("t")).containsExactly(Attempt.End.LOST, Attempt.End.SUCCEEDED);
    assertThat(owner.stats().lost()).isEqualTo(1);
  }

  @Test
  void anOwnerWithTheHandlerTakesALostLeaseOverItself() {
    start("A", "a");
    AsyncHandler stuck = firing -> new CompletableFuture<>();
    DurableTimer dying = start("B", builder -> builder.asyncHandler("b", stuck, 1, null));
    share("A");
    client.schedule(spec("t"));
    kit.advanceBy(Duration.ofSeconds(2));
    kit.kill(dying);
    sessions.get("B").close();
    start("C", "b");
    share("C");
    assertThat(fired).isEmpty(); // the lease may still be valid
    kit.advanceBy(LEASE);
    assertThat(fired).singleElement().satisfies(line -> assertThat(line).startsWith("C t 2 @"));
  }

  @Test
  void theLastLostAttemptExhaustsTheTimer() {
    start("A", "a");
    client.schedule(
        spec("t").retry(new RetryPolicy(2, Duration.ofSeconds(1), Duration.ofSeconds(1))));
    for (int i = 0; i < 2; i++) {
      AsyncHandler stuck = firing -> new CompletableFuture<>();
      DurableTimer dying = start("B", builder -> builder.asyncHandler("b", stuck, 1, null));
      share("A");
      kit.advanceBy(Duration.ofSeconds(20));
      kit.kill(dying);
      sessions.get("B").close();
    }
    start("B", "b");
    kit.advanceBy(Duration.ofSeconds(20));
    assertThat(fired).isEmpty();
    assertThat(get("t").state()).isEqualTo(TimerState.FAILED);
  }

  @Test
  void theEndOfAnAttemptWhoseLeaseWasLostIsRefused() {
    boolean[] cut = {false};
    List<CompletableFuture<Void>> running = new ArrayList<>();
    AsyncHandler slow =
        firing -> {
          running.add(new CompletableFuture<>());
          return running.get(running.size() - 1);
        };
    start("A", "a");
    InMemoryTimerStore session = data.join();
    DurableTimer cutOff =
        kit.start(
            new ForwardingTimerStore(session) {
              @Override
              public List<Outcome> commit(List<Change> changes) {
                if (cut[0]) {
                  throw new StoreException(StoreException.Kind.UNAVAILABLE, "cut off", null);
                }
                return super.commit(changes);
              }
            },
            builder -> builder.asyncHandler("b", slow, 1, null));
    share("A");
    client.schedule(spec("t"));
    kit.advanceBy(Duration.ofSeconds(2));
    cut[0] = true;
    start("C", "b");
    kit.advanceBy(LEASE.plus(SWEEP));
    assertThat(fired).singleElement().satisfies(line -> assertThat(line).startsWith("C t 2 @"));
    running.get(0).complete(null);
    cut[0] = false;
    kit.advanceBy(Duration.ofMinutes(2));
    assertThat(ends("t")).containsExactly(Attempt.End.LOST, Attempt.End.SUCCEEDED);
    assertThat(cutOff.stats().succeeded()).isZero();
    assertThat(cutOff.stats().running()).isZero();
  }

  @Test
  void aCloseGivesBackLeasedAttemptsThatHaveNotBegun() {
    start("A", "a");
    List<Runnable> handlerThreads = new ArrayList<>();
    DurableTimer closing =
        start(
            "B",
            builder ->
                builder
                    .handler("b", firing -> fired("B", firing), 2, null)
                    .handlerExecutor(handlerThreads::add));
    share("A");
    client.schedule(spec("t"));
    kit.advanceBy(Duration.ofSeconds(2));
    assertThat(handlerThreads).isNotEmpty();
    start("C", "b");
    kit.advanceBy(SWEEP);
    handlerThreads.clear();
    closing.close(Duration.ZERO);
    assertThat(fired).isEmpty();
    kit.advanceBy(LEASE.plus(SWEEP));
    assertThat(fired).hasSize(1).allMatch(line -> line.startsWith("C t"));
  }

  @Test
  void aPauseOnAnotherNodeKeepsALeasedAttemptFromBeginning() {
    DurableTimer owner = start("A", "a");
    List<Runnable> handlerThreads = new ArrayList<>();
    start(
        "B",
        builder ->
            builder
                .handler("b", firing -> fired("B", firing), 2, null)
                .handlerExecutor(handlerThreads::add));
    share("A");
    client.schedule(spec("t"));
    kit.advanceBy(Duration.ofSeconds(2));
    assertThat(get("t").state()).isEqualTo(TimerState.RUNNING);
    owner.namespace("ns").pause();
    runAll(handlerThreads);
    kit.advanceBy(Duration.ofMinutes(1));
    runAll(handlerThreads);
    assertThat(fired).isEmpty();
    owner.namespace("ns").resume();
    kit.advanceBy(Duration.ofSeconds(1));
    runAll(handlerThreads);
    assertThat(fired).singleElement().satisfies(line -> assertThat(line).startsWith("B t 1 @"));
  }

  private static void runAll(List<Runnable> tasks) {
    List<Runnable> taken = List.copyOf(tasks);
    tasks.clear();
    taken.forEach(Runnable::run);
  }

  @Test
  void anOwnBacklogLeavesAQuarterOfTheSlotsForLeases() {
    start("A", "a");
    List<CompletableFuture<Void>> running = new ArrayList<>();
    AsyncHandler slow =
        firing -> {
          fired.add(firing.id());
          CompletableFuture<Void> end = new CompletableFuture<>();
          running.add(end);
          return end;
        };
    start("B", builder -> builder.asyncHandler("b", slow, 4, null));
    share("A", "B");
    IntStream.range(0, 400).forEach(i -> client.schedule(spec("t" + i)));
    kit.advanceBy(Duration.ofSeconds(2));
    for (int ended = 0; ended < 100; ended++) {
      running.get(ended).complete(null);
      kit.settle();
    }
    Map<Boolean, Long> byOwner = new HashMap<>();
    for (String id : fired) {
      int shard = Shards.of(new TimerKey("ns", id), SHARDS);
      byOwner.merge(shard % 2 == 1, 1L, Long::sum);
    }
    assertThat(byOwner.get(true)).as("of its own shards").isGreaterThan(20);
    assertThat(byOwner.get(false)).as("leased").isGreaterThan(5);
  }

  @Test
  void anErrorAfterOneLeaseAffectsNoOtherLeaseAndNoSlots() {
    boolean[] fails = {false};
    InMemoryTimerStore session = data.join();
    List<CompletableFuture<Void>> running = new ArrayList<>();
    AsyncHandler slow =
        firing -> {
          fired("B", firing);
          running.add(new CompletableFuture<>());
          return running.get(running.size() - 1);
        };
    start("A", "a");
    DurableTimer b =
        kit.start(
            new ForwardingTimerStore(session) {
              @Override
              public List<TimerRecord> lease(
                  List<LeaseRequest> requests, int limit, long now, Supplier<ClaimToken> tokens) {
                List<TimerRecord> leased = super.lease(requests, limit, now, tokens);
                fails[0] = leased.size() == 3;
                return leased;
              }

              @Override
              public boolean isLive() { // read at the begin of the first leased attempt
                if (fails[0]) {
                  fails[0] = false;
                  throw new OutOfMemoryError("on purpose");
                }
                return super.isLive();
              }
            },
            builder -> builder.asyncHandler("b", slow, 8, null));
    share("A");
    data.notifications(false); // so that one sweep leases all
    IntStream.range(0, 3).forEach(i -> client.schedule(spec("t" + i)));
    kit.advanceBy(Duration.ofSeconds(3));
    assertThat(fired).hasSize(3).allMatch(line -> line.contains(" 1 @"));
    assertThat(b.stats().running()).isEqualTo(3);
    IntStream.range(3, 8).forEach(i -> client.schedule(spec("t" + i)));
    kit.advanceBy(Duration.ofSeconds(3));
    assertThat(fired).as("all eight slots are used").hasSize(8);
    List.copyOf(running).forEach(each -> each.complete(null));
    kit.advanceBy(Duration.ofSeconds(1));
    assertThat(client.counts().get("ns")).containsOnlyKeys(TimerState.COMPLETED);
    assertThat(fails[0]).isFalse();
  }

  @Test
  void aSlotThatOneHandlerDoesNotNeedIsUsedByAnotherAtOnce() {
    start("A", "a");
    start(
        "S",
        builder ->
            builder.handlers("web", firing -> fired("S", firing), 2, HandlerSlots.atMost(2), null));
    share("A");
    data.notifications(false); // so that one sweep finds both handlers
    for (String handler : List.of("web:1", "web:2")) {
      client.schedule(TimerSpec.of("ns", handler).handler(handler).after(Duration.ofSeconds(1)));
    }
    kit.advanceBy(Duration.ofSeconds(3));
    assertThat(late).containsOnlyKeys("web:1", "web:2");
    assertThat(late.get("web:1")).as("found by the same sweep").isEqualTo(late.get("web:2"));
  }

  @Test
  void aTimerThatBecomesReadyDuringALeaseIsLeasedAtOnce() {
    start("A", "a");
    InMemoryTimerStore session = data.join();
    List<StoreListener> engine = new ArrayList<>();
    boolean[] tooEarly = {true};
    kit.start(
        new ForwardingTimerStore(session) {
          @Override
          public void start(StoreListener listener) {
            engine.add(listener);
            super.start(listener);
          }

          @Override
          public List<TimerRecord> lease(
              List<LeaseRequest> requests, int limit, long now, Supplier<ClaimToken> tokens) {
            if (tooEarly[0]) {
              tooEarly[0] = false;
              engine.get(0).ready("b");
              return List.of();
            }
            return super.lease(requests, limit, now, tokens);
          }
        },
        builder -> builder.handler("b", firing -> fired("B", firing)));
    share("A");
    client.schedule(spec("t"));
    kit.advanceBy(Duration.ofSeconds(3));
    assertThat(late).containsExactly(Map.entry("t", Duration.ZERO));
  }

  private static TimerRecord unclaimed(TimerRecord record) {
    return record.copy().claim(null).build();
  }

  @Test
  void aFaultyAnswerToALeaseKeepsNoSlots() {
    boolean[] faulty = {true};
    InMemoryTimerStore session = data.join();
    start("A", "a");
    kit.start(
        new ForwardingTimerStore(session) {
          @Override
          public List<TimerRecord> lease(
              List<LeaseRequest> requests, int limit, long now, Supplier<ClaimToken> tokens) {
            List<TimerRecord> leased = super.lease(requests, limit, now, tokens);
            return faulty[0] ? leased.stream().map(HandlerClusterTest::unclaimed).toList() : leased;
          }
        },
        builder -> builder.handler("b", firing -> fired("B", firing), 1, null));
    share("A");
    client.schedule(spec("t"));
    kit.advanceBy(Duration.ofSeconds(2));
    assertThat(fired).isEmpty();
    faulty[0] = false;
    kit.advanceBy(LEASE.plus(SWEEP));
    assertThat(fired).singleElement().satisfies(line -> assertThat(line).startsWith("B t 2 @"));
  }

  // Outcomes of runs

  @Test
  void aFailedAttemptIsRetriedAfterItsBackoff() {
    start("A", "a");
    start(
        "B",
        builder ->
            builder.handler(
                "b",
                firing -> {
                  fired("B", firing);
                  if (firing.attempt() < 3) {
                    throw new IllegalStateException("not yet");
                  }
                }));
    share("A");
    client.schedule(
        spec("t").retry(new RetryPolicy(3, Duration.ofSeconds(2), Duration.ofSeconds(2))));
    kit.advanceBy(Duration.ofSeconds(10));
    assertThat(fired).hasSize(3).startsWith("B t 1 @1000");
    assertThat(ends("t"))
        .containsExactly(Attempt.End.FAILED, Attempt.End.FAILED, Attempt.End.SUCCEEDED);
  }

  @Test
  void aRecurringTimerKeepsItsSchedule() {
    start("A", "a");
    start("B", "b");
    share("A");
    client.schedule(TimerSpec.of("ns", "t").handler("b").every(Duration.ofSeconds(10)));
    kit.advanceBy(Duration.ofSeconds(35));
    assertThat(fired).containsExactly("B t 1 @10000", "B t 1 @20000", "B t 1 @30000");
  }

  @Test
  void aHandlerMayPostponeItsRun() {
    start("A", "a");
    start(
        "B",
        builder ->
            builder.handler(
                "b",
                firing -> {
                  fired("B", firing);
                  if (fired.size() == 1) {
                    firing.reschedule(kit.now().plusSeconds(5));
                  }
                }));
    share("A");
    client.schedule(spec("t"));
    kit.advanceBy(Duration.ofSeconds(10));
    assertThat(fired).containsExactly("B t 1 @1000", "B t 1 @6000");
  }

  @Test
  void theOwnerDecidesAboutMissedRuns() {
    client.schedule(
        TimerSpec.of("ns", "t").handler("b").every(Duration.ofMinutes(10)).missed(MissedRuns.SKIP));
    kit.advanceBy(Duration.ofMinutes(15)); // the shard has no owner
    start("A", "a");
    start("B", "b");
    share("A");
    kit.advanceBy(Duration.ofMinutes(10));
    assertThat(fired).containsExactly("B t 1 @" + Duration.ofMinutes(20).toMillis());
  }

  @Test
  void aReadyTimerIsCancelledAndReplaced() {
    start("A", "a");
    AsyncHandler stuck =
        firing -> {
          fired("B", firing);
          return new CompletableFuture<>();
        };
    start("B", builder -> builder.asyncHandler("b", stuck, 1, null));
    share("A");
    client.schedule(spec("blocker"));
    kit.advanceBy(Duration.ofSeconds(2));
    client.schedule(spec("cancelled").after(Duration.ZERO));
    client.schedule(spec("replaced").after(Duration.ZERO));
    kit.advanceBy(Duration.ofSeconds(1));
    assertThat(get("cancelled").state()).isEqualTo(TimerState.READY);
    assertThat(client.timer("ns", "cancelled").cancel().outcome())
        .isEqualTo(CancelResult.Outcome.CANCELLED);
    client.schedule(spec("replaced").handler("a").after(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofSeconds(1));
    assertThat(fired).hasSize(2).anyMatch(line -> line.startsWith("A replaced 1 @"));
    assertThat(client.timer("ns", "blocker").cancel().outcome())
        .isEqualTo(CancelResult.Outcome.RUNNING);
  }

  @Test
  void nothingIsLeasedFromAPausedNamespace() {
    start("A", "a");
    DurableTimer b = start("B", "b");
    share("A");
    data.notifications(false);
    client.schedule(spec("t"));
    client.schedule(TimerSpec.of("other", "u").handler("b").after(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofMillis(900)); // before it becomes ready
    b.namespace("ns").pause();
    kit.advanceBy(Duration.ofSeconds(5));
    assertThat(fired).hasSize(1).allMatch(line -> line.startsWith("B u "));
    b.namespace("ns").resume();
    kit.advanceBy(Duration.ofMinutes(2));
    assertThat(fired).hasSize(2);
  }

  @Test
  void aReadyTimerWaitsForANodeWithItsHandler() {
    start("A", "a");
    List<Runnable> handlerThreads = new ArrayList<>();
    start(
        "B",
        builder ->
            builder
                .asyncHandler("b", firing -> new CompletableFuture<>(), 1, null)
                .handlerExecutor(handlerThreads::add));
    share("A");
    client.schedule(spec("first"));
    client.schedule(spec("second"));
    kit.advanceBy(Duration.ofSeconds(2));
    sessions.get("B").close(); // its lease has expired
    kit.advanceBy(Duration.ofSeconds(20));
    assertThat(get("second").state()).isEqualTo(TimerState.READY);
    start("C", "b");
    kit.advanceBy(LEASE.plus(SWEEP));
    assertThat(fired).hasSize(2).anyMatch(line -> line.startsWith("C second 1 @"));
  }

  @Test
  void aBlockedTimerFiresAsSoonAsANodeHasItsHandler() {
    DurableTimer owner = start("A", "a");
    share("A");
    client.schedule(spec("t"));
    kit.advanceBy(Duration.ofHours(1));
    assertThat(get("t").state()).isEqualTo(TimerState.BLOCKED);
    assertThat(owner.stats().blocked()).isEqualTo(1);
    start("B", "b");
    kit.settle();
    assertThat(fired).containsExactly("B t 1 @" + Duration.ofHours(1).toMillis());
  }

  @Test
  void aQueueAndAHandlerOfOneNameAreKeptApart() {
    start("A", "a");
    start("B", "b");
    share("A");
    client.schedule(TimerSpec.of("ns", "q").queue("b").after(Duration.ofSeconds(1)));
    client.schedule(spec("t").after(Duration.ofSeconds(1)));
    kit.advanceBy(Duration.ofSeconds(2));
    assertThat(fired).containsExactly("B t 1 @1000");
    var claim =
        client
            .async()
            .queue("ns", "b")
            .claim(10, Duration.ofMinutes(1), Duration.ZERO)
            .toCompletableFuture();
    kit.settle();
    assertThat(claim.join()).extracting(each -> each.firing().id()).containsExactly("q");
  }

  @Test
  void firingsOfLeasedTimersAreCountedWithTheirLag() {
    start("A", "a");
    DurableTimer b = start("B", "b");
    share("A");
    data.notifications(false);
    Instant before = kit.now();
    client.schedule(spec("t"));
    kit.advanceBy(Duration.ofSeconds(3));
    assertThat(b.stats().fired()).isEqualTo(1);
    assertThat(b.stats().succeeded()).isEqualTo(1);
    assertThat(b.stats().shards()).isZero();
    assertThat(kit.now()).isAfter(before);
  }
}
