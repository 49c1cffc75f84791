// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests several schedulers on one store. The shard moves between them. */
@Tag("promise-41")
@Tag("promise-58")
@Tag("promise-60")
class SharedStoreTest {
  private static final Duration AHEAD = Duration.ofMillis(100);

  private final DurableTestkit kit = DurableTestkit.create();
  private final InMemoryTimerStore data =
      InMemoryTimerStore.create(
          new StoreTraits(1, 1, 100, Duration.ofMinutes(1), AHEAD, Duration.ofSeconds(1)));
  private final List<String> fired = new ArrayList<>();
  private final InMemoryTimerStore firstSession = data.join();
  private final InMemoryTimerStore secondSession = data.join();
  private final DurableTimer first = start("first", firstSession);
  private final DurableTimer second = start("second", secondSession);

  private DurableTimer start(String name, InMemoryTimerStore session) {
    return kit.start(session, builder -> builder.handler("h", firing -> handle(name, firing)));
  }

  private void handle(String name, Firing firing) {
    long millis = Duration.between(DurableTestkit.START, kit.now()).toMillis();
    fired.add(name + " " + firing.id() + " " + firing.attempt() + " @" + millis);
  }

  private static TimerSpec spec(String id) {
    return TimerSpec.of("ns", id).handler("h").after(Duration.ofSeconds(1));
  }

  @Test
  void timersOfAnotherSessionAreFiredByTheOwner() {
    firstSession.takeShard(0);
    second.schedule(spec("a"));
    kit.advanceBy(Duration.ofSeconds(1));
    assertThat(fired).containsExactly("first a 1 @1000");
    kit.advanceBy(AHEAD);
    assertThat(second.timer("ns", "a").get().orElseThrow().state()).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void anAttemptThatWasClaimedAheadDoesNotBeginAfterAPauseByAnother() {
    firstSession.takeShard(0);
    second.schedule(spec("a"));
    kit.advanceBy(Duration.ofMillis(950));
    assertThat(second.timer("ns", "a").get().orElseThrow().state()).isEqualTo(TimerState.RUNNING);
    assertThat(second.namespace("ns").pause()).as("claimed timers").isOne();
    kit.advanceBy(Duration.ofSeconds(5));
    assertThat(fired).isEmpty();
    assertThat(second.timer("ns", "a").get().orElseThrow().state()).isEqualTo(TimerState.PAUSED);
    assertThat(second.timer("ns", "a").get().orElseThrow().attempt()).isZero();
    second.namespace("ns").resume();
    kit.settle();
    assertThat(fired).containsExactly("first a 1 @5950");
  }

  @Test
  void anAttemptThatWasClaimedAheadDoesNotBeginAfterItsOwnerPausesTheTimer() {
    firstSession.takeShard(0);
    second.schedule(spec("a"));
    kit.advanceBy(Duration.ofMillis(950));
    assertThat(second.timer("ns", "a").get().orElseThrow().state()).isEqualTo(TimerState.RUNNING);
    assertThat(first.timer("ns", "a").pause()).isEqualTo(VerbResult.DONE);
    kit.advanceBy(Duration.ofSeconds(5));
    assertThat(fired).isEmpty();
    assertThat(second.timer("ns", "a").get().orElseThrow().state()).isEqualTo(TimerState.PAUSED);
    assertThat(second.timer("ns", "a").get().orElseThrow().attempt()).isZero();
  }

  @Test
  void anAttemptThatWasClaimedAheadBeginsAfterAnotherNodePausesTheTimer() {
    InMemoryTimerStore owner = data.join();
    kit.start(
        owner,
        builder ->
            builder.handler(
                "h",
                firing -> {
                  handle("owner", firing);
                  throw new IllegalStateException("always");
                }));
    owner.takeShard(0);
    second.schedule(spec("a"));
    kit.advanceBy(Duration.ofMillis(950));
    assertThat(second.timer("ns", "a").pause()).isEqualTo(VerbResult.DONE);
    assertThat(second.timer("ns", "a").get().orElseThrow().state()).isEqualTo(TimerState.RUNNING);
    kit.advanceBy(Duration.ofMinutes(10));
    assertThat(fired).as("no second attempt").containsExactly("owner a 1 @1000");
    assertThat(second.timer("ns", "a").get().orElseThrow().state()).isEqualTo(TimerState.PAUSED);
    assertThat(second.timer("ns", "a").pause()).isEqualTo(VerbResult.UNCHANGED);
    second.timer("ns", "a").resume();
    kit.settle();
    assertThat(fired).hasSize(2).last().isEqualTo("owner a 2 @600950");
  }

  @Test
  void aRetryThatAPauseGivesBackDoesNotComeBeforeItsTime() {
    InMemoryTimerStore owner = data.join();
    kit.start(
        owner,
        builder ->
            builder.handler(
                "h",
                firing -> {
                  handle("owner", firing);
                  throw new IllegalStateException("always");
                }));
    owner.takeShard(0);
    second.schedule(
        spec("a").retry(new RetryPolicy(2, Duration.ofSeconds(10), Duration.ofSeconds(10))));
    kit.advanceBy(Duration.ofSeconds(2));
    Duration retryAfter =
        Duration.between(
            DurableTestkit.START,
            second.timer("ns", "a").get().orElseThrow().fireAt().orElseThrow());
    kit.advanceBy(retryAfter.minus(Duration.ofSeconds(2)).minusMillis(50));
    assertThat(second.timer("ns", "a").get().orElseThrow().state()).isEqualTo(TimerState.RUNNING);
    second.allNamespaces().pause();
    second.allNamespaces().resume();
    kit.advanceBy(Duration.ofSeconds(5));
    assertThat(fired).containsExactly("owner a 1 @1000", "owner a 2 @" + retryAfter.toMillis());
  }

  @Test
  void aClaimWhoseAnswerComesAfterThePauseDoesNotBegin() {
    InMemoryTimerStore owner = data.join();
    kit.start(
        new ForwardingTimerStore(owner) {
          @Override
          public List<Outcome> commit(List<Change> changes) {
            List<Outcome> outcomes = super.commit(changes);
            if (changes.stream().anyMatch(Change.Begin.class::isInstance)) {
              second.namespace("ns").pause();
            }
            return outcomes;
          }
        },
        builder -> builder.handler("h", firing -> handle("owner", firing)));
    owner.takeShard(0);
    second.schedule(spec("a"));
    kit.advanceBy(Duration.ofSeconds(5));
    assertThat(fired).isEmpty();
    assertThat(second.timer("ns", "a").get().orElseThrow().state()).isEqualTo(TimerState.PAUSED);
  }

  @Test
  void aPauseCountsClaimedTimersOnAllNodes() {
    List<Long> running = new ArrayList<>();
    InMemoryTimerStore owner = data.join();
    kit.start(
        owner,
        builder -> builder.handler("h", firing -> running.add(second.namespace("ns").pause())));
    owner.takeShard(0);
    second.schedule(spec("a"));
    second.schedule(spec("b"));
    kit.advanceBy(Duration.ofSeconds(2));
    assertThat(running).containsExactly(2L);
  }

  @Test
  void aNodeWithAnExpiredLeaseBeginsNoClaimedAttempt() {
    InMemoryTimerStore owner = data.join();
    boolean[] live = {true};
    kit.start(
        new ForwardingTimerStore(owner) {
          @Override
          public boolean isLive() {
            return live[0];
          }
        },
        builder -> builder.handler("h", firing -> handle("owner", firing)));
    owner.takeShard(0);
    second.schedule(spec("a"));
    kit.advanceBy(Duration.ofMillis(950));
    live[0] = false; // it was suspended, and has not been notified yet
    kit.advanceBy(Duration.ofMillis(60));
    assertThat(fired).isEmpty();
    firstSession.takeShard(0);
    kit.advanceBy(Duration.ofSeconds(5));
    assertThat(fired).hasSize(1).allMatch(line -> line.startsWith("first a "));
  }

  @Test
  void sweepsReadOnlyTimersThatAreDueBeforeTheNextSweeps() {
    List<Duration> reaches = new ArrayList<>();
    InMemoryTimerStore owner = data.join();
    TimerStore session =
        new ForwardingTimerStore(owner) {
          @Override
          public List<DueTimer> due(int shard, long until, @Nullable DuePosition after, int limit) {
            reaches.add(Duration.ofMillis(until - kit.now().toEpochMilli()));
            return super.due(shard, until, after, limit);
          }

          @Override
          public List<DueTimer> sweep(Collection<Integer> shards, long until, int limit) {
            reaches.add(Duration.ofMillis(until - kit.now().toEpochMilli()));
            return super.sweep(shards, until, limit);
          }
        };
    kit.start(session, builder -> builder.handler("h", firing -> handle("owner", firing)));
    owner.takeShard(0);
    kit.settle();
    assertThat(reaches).contains(Duration.ofMinutes(1));
    reaches.clear();
    second.schedule(TimerSpec.of("ns", "a").handler("h").after(Duration.ofSeconds(20)));
    kit.advanceBy(Duration.ofSeconds(10));
    assertThat(reaches).isNotEmpty().containsOnly(AHEAD.plusSeconds(2));
    kit.advanceBy(Duration.ofSeconds(10));
    assertThat(fired).containsExactly("owner a 1 @20000");
  }

  private static final int SHARDS = 80;

  private final InMemoryTimerStore many =
      InMemoryTimerStore.create(
          new StoreTraits(SHARDS, 1, 10_000, Duration.ofMinutes(1), AHEAD, Duration.ofSeconds(1)));

  /** For each sweep: the time in seconds, the number of shards, and the number of timers found. */
  private final List<String> sweeps = new ArrayList<>();

  private boolean failing;

  /** Starts the owner of many shards, which gets no notifications. */
  private DurableTimer startOwner(Consumer<DurableTimerBuilder> settings) {
    InMemoryTimerStore session = many.join();
    many.notifications(false);
    DurableTimer owner =
        kit.start(
            new ForwardingTimerStore(session) {
              @Override
              public List<DueTimer> sweep(Collection<Integer> shards, long until, int limit) {
                if (failing) {
                  throw new StoreException(StoreException.Kind.UNAVAILABLE, "lost", null);
                }
                List<DueTimer> found = super.sweep(shards, until, limit);
                long seconds = Duration.between(DurableTestkit.START, kit.now()).toSeconds();
                sweeps.add(seconds + ": " + shards.size() + ", " + found.size());
                return found;
              }
            },
            settings);
    for (int shard = 0; shard < SHARDS; shard++) {
      session.takeShard(shard);
    }
    kit.settle();
    return owner;
  }

  @Test
  void oneReadSweepsManyShards() {
    startOwner(builder -> builder.handler("h", firing -> handle("owner", firing)));
    DurableTimer other = kit.start(many.join(), builder -> {});
    kit.advanceBy(Duration.ofSeconds(10));
    sweeps.clear();
    for (int i = 0; i < 5; i++) {
      other.schedule(spec("id-" + i));
    }
    kit.advanceBy(Duration.ofSeconds(2));
    assertThat(sweeps)
        .hasSize(4)
        .allMatch(sweep -> sweep.contains(": 64,") || sweep.contains(": 16,"));
    assertThat(fired).hasSize(5).allMatch(line -> line.endsWith(" 1 @11000"));
  }

  @Test
  void sweepsContinueAfterAFailedSweep() {
    DurableTimer owner =
        startOwner(builder -> builder.handler("h", firing -> handle("owner", firing)));
    DurableTimer other = kit.start(many.join(), builder -> {});
    failing = true;
    other.schedule(spec("a"));
    kit.advanceBy(Duration.ofSeconds(3));
    assertThat(fired).isEmpty();
    assertThat(owner.stats().storeAvailable()).isFalse();
    failing = false;
    kit.advanceBy(Duration.ofSeconds(1));
    assertThat(fired).containsExactly("owner a 1 @4000");
    assertThat(owner.stats().storeAvailable()).isTrue();
  }

  @Test
  void aSweepOfMoreThanAPageIsContinued() {
    startOwner(builder -> builder.handler("h", firing -> handle("owner", firing)));
    DurableTimer other = kit.start(many.join(), builder -> {});
    TimerKey first = new TimerKey("ns", "0");
    int shard = Shards.of(first, SHARDS);
    List<String> ids =
        IntStream.range(0, 100_000)
            .mapToObj(Integer::toString)
            .filter(id -> Shards.of(new TimerKey("ns", id), SHARDS) == shard)
            .limit(350)
            .toList();
    other.scheduleAll(ids.stream().map(SharedStoreTest::spec).toList());
    kit.advanceBy(Duration.ofSeconds(1));
    assertThat(fired).hasSize(350).allMatch(line -> line.endsWith(" 1 @1000"));
  }

  @Test
  void aSweepThatHasFoundManyIsFollowedByAPause() {
    startOwner(builder -> builder.handler("own", firing -> handle("owner", firing)));
    DurableTimer other = kit.start(many.join(), builder -> {});
    kit.advanceBy(Duration.ofSeconds(10));
    IntStream.range(0, 4)
        .forEach(
            batch ->
                other.scheduleAll(
                    IntStream.range(10_000 * batch, 10_000 * (batch + 1))
                        .mapToObj(i -> spec("id-" + i).after(Duration.ofMillis(1_500)))
                        .toList()));
    sweeps.clear();
    kit.advanceBy(Duration.ofSeconds(2));
    TimerSpec soon = TimerSpec.of("ns", "soon").handler("own").after(Duration.ofMillis(50));
    other.schedule(soon);
    many.notifications(true);
    other.schedule(TimerSpec.of("ns", "notified").handler("own").after(Duration.ofMillis(50)));
    kit.advanceBy(Duration.ofSeconds(10));
    assertThat(sweeps).startsWith("11: 64, 6400", "11: 16, 1600", "16: 64, 1");
    assertThat(fired).containsExactly("owner notified 1 @12050", "owner soon 1 @16000");
  }

  @Test
  void loadsContinueIfTheStoreIsSlowerThanItsSweeps() {
    Deque<Runnable> work = new ArrayDeque<>();
    InMemoryTimerStore owner = data.join();
    kit.start(
        owner,
        builder ->
            builder.storeExecutor(work::add).handler("h", firing -> handle("owner", firing)));
    owner.takeShard(0);
    second.schedule(TimerSpec.of("ns", "a").handler("h").after(Duration.ofSeconds(100)));
    for (int i = 0; i < 150; i++) {
      kit.advanceBy(Duration.ofSeconds(1)); // a sweep
      Runnable one = work.poll();
      if (one != null) {
        one.run();
      }
    }
    assertThat(fired).hasSize(1);
  }

  @Test
  void aShardThatIsLostDuringAnOutageDoesNotEndTheOutage() {
    Deque<Runnable> work = new ArrayDeque<>();
    boolean[] down = new boolean[1];
    InMemoryTimerStore session = data.join();
    TimerStore store =
        new ForwardingTimerStore(session) {
          @Override
          public List<DueTimer> due(
              int shard, long before, @Nullable DuePosition after, int limit) {
            check();
            return super.due(shard, before, after, limit);
          }

          @Override
          public List<DueTimer> sweep(Collection<Integer> shards, long before, int limit) {
            check();
            return super.sweep(shards, before, limit);
          }

          private void check() {
            if (down[0]) {
              throw new StoreException(
                  StoreException.Kind.UNAVAILABLE, "injected by the test", null);
            }
          }
        };
    DurableTimer owner = kit.start(store, builder -> builder.storeExecutor(work::add));
    session.takeShard(0);
    down[0] = true;
    advanceAndRun(work);
    assertThat(owner.stats().storeAvailable()).isFalse();
    kit.advanceBy(Duration.ofSeconds(5)); // the next load waits for the executor
    assertThat(work).isNotEmpty();
    secondSession.takeShard(0);
    assertThat(owner.stats().shards()).isZero();
    work.forEach(Runnable::run);
    assertThat(owner.stats().storeAvailable()).isFalse();
  }

  private void advanceAndRun(Deque<Runnable> work) {
    kit.advanceBy(Duration.ofSeconds(1));
    for (Runnable one = work.poll(); one != null; one = work.poll()) {
      one.run();
    }
  }

  @Test
  void aTakeOverOfAClaimAheadWaitsForItsTime() {
    firstSession.takeShard(0);
    first.schedule(spec("a"));
    kit.advanceBy(Duration.ofMillis(950)); // claimed, but not begun
    assertThat(first.timer("ns", "a").get().orElseThrow().state()).isEqualTo(TimerState.RUNNING);
    kit.kill(first);
    secondSession.takeShard(0);
    kit.settle();
    assertThat(fired).isEmpty();
    kit.advanceBy(Duration.ofMillis(50));
    assertThat(fired).containsExactly("second a 2 @1000");
  }

  @Test
  void aFormerOwnerBeginsAndRecordsNothing() {
    firstSession.takeShard(0);
    first.schedule(spec("a"));
    kit.advanceBy(Duration.ofMillis(950));
    secondSession.takeShard(0);
    kit.advanceBy(Duration.ofSeconds(5));
    assertThat(fired).containsExactly("second a 2 @1000");
    assertThat(first.stats().shards()).isZero();
  }

  @Test
  void eachOwnerLooksForTimersToReleaseInItsOwnShards() {
    InMemoryTimerStore shared =
        InMemoryTimerStore.create(
            new StoreTraits(4, 1, 100, Duration.ofMinutes(1), AHEAD, Duration.ofSeconds(1)));
    Set<Integer> asked = new TreeSet<>();
    InMemoryTimerStore owner = shared.join();
    InMemoryTimerStore other = shared.join();
    TimerStore session =
        new ForwardingTimerStore(owner) {
          @Override
          public List<DueTimer> releasable(
              int shard,
              HandlerNames handlers,
              Set<String> namespaces,
              @Nullable DueTimer after,
              int limit) {
            asked.add(shard);
            return super.releasable(shard, handlers, namespaces, after, limit);
          }
        };
    DurableTimer scheduler =
        kit.start(session, builder -> builder.handler("h", firing -> fired.add(firing.id())));
    DurableTimer neighbour = start("neighbour", other);
    owner.takeShard(0);
    owner.takeShard(1);
    other.takeShard(2);
    other.takeShard(3);
    neighbour.namespace("ns").pause();
    for (int i = 0; i < 20; i++) {
      scheduler.schedule(spec("id-" + i));
    }
    kit.advanceBy(Duration.ofSeconds(2));
    assertThat(scheduler.counts().get("ns")).isEqualTo(Map.of(TimerState.PAUSED, 20L));
    asked.clear();
    kit.advanceBy(Duration.ofMinutes(2));
    assertThat(asked).as("while all of them are paused").isEmpty();
    shared.join().resume("ns"); // like a node that crashes before it releases them
    kit.advanceBy(Duration.ofMinutes(2));
    assertThat(asked).containsExactly(0, 1);
    assertThat(fired).hasSize(20);
  }
}
