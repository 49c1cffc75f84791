// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.CancelResult;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.DurableTimerBuilder;
import io.timewheel.durable.DurableTimerException;
import io.timewheel.durable.Firing;
import io.timewheel.durable.Handler;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.MissedRuns;
import io.timewheel.durable.RetryPolicy;
import io.timewheel.durable.ScheduleResult;
import io.timewheel.durable.TimerFilter;
import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.Verb;
import io.timewheel.durable.VerbResult;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What users see of a durable timer, on a clock that stands until it is told to move. */
class DurableTimerTest {
  private static final Instant START = DurableTestkit.START;

  private final DurableTestkit kit = DurableTestkit.create();
  private InMemoryTimerStore store = InMemoryTimerStore.create();
  private final List<String> fired = new ArrayList<>();
  private final List<Firing> firings = new ArrayList<>();
  private RuntimeException failure;
  private DurableTimer timer = kit.start(store, this::settings);

  private void settings(DurableTimerBuilder builder) {
    builder.handler("h", this::handle).maxWindow(64);
  }

  private void handle(Firing firing) {
    fired.add(firing.id() + "@" + Duration.between(START, kit.now()).toMillis());
    firings.add(firing);
    if (failure != null) {
      throw failure;
    }
  }

  private void restart() {
    kit.kill(timer);
    store = store.reopen();
    timer = kit.start(store, this::settings);
  }

  private static TimerSpec spec(String id) {
    return TimerSpec.of("shop", id).handler("h");
  }

  private TimerState state(String id) {
    return timer.get("shop", id).orElseThrow().state();
  }

  private void advance(long millis) {
    kit.advanceBy(Duration.ofMillis(millis));
  }

  // The start

  @Test
  void firesNothingUntilItIsStartedAndThenForHandlersAddedMeanwhile() {
    ManualTimer wheel = ManualTimer.create();
    Steps steps = new Steps(null);
    DurableTimerBuilder builder =
        DurableTimer.builder(InMemoryTimerStore.create())
            .timer(wheel)
            .clock(() -> START.plus(wheel.elapsed()))
            .storeExecutor(steps)
            .handlerExecutor(steps);
    DurableTimer unstarted = builder.build();
    unstarted.schedule(spec("a").after(Duration.ofSeconds(1)));
    run(wheel, steps);
    assertThat(fired).isEmpty();
    assertThat(unstarted.get("shop", "a").orElseThrow().state()).isEqualTo(TimerState.SCHEDULED);

    builder.handler("h", firing -> fired.add(firing.id()));
    unstarted.start();
    unstarted.start(); // which changes nothing
    run(wheel, steps);
    assertThat(fired).containsExactly("a");
    unstarted.close();
    assertThatThrownBy(unstarted::start).hasMessage("the durable timer is closed");
  }

  private static void run(ManualTimer wheel, Steps steps) {
    wheel.advanceBy(Duration.ofSeconds(2));
    while (steps.runOne() || wheel.poll() > 0) {
      // Until nothing is left to do at this time.
    }
  }

  @Test
  void closesItsStoreIfItCannotBeBuilt() {
    boolean[] closed = new boolean[1];
    ForwardingTimerStore below =
        new ForwardingTimerStore(InMemoryTimerStore.create()) {
          @Override
          public void close() {
            closed[0] = true;
            super.close();
          }
        };
    DurableTimerBuilder builder =
        DurableTimer.builder(below).handler("h", String.class, (firing, payload) -> {});
    assertThatThrownBy(builder::start).hasMessageContaining("no codec");
    assertThat(closed[0]).isTrue();
  }

  @Test
  void closesThoughItWasNeverStarted() {
    DurableTimer unstarted = DurableTimer.builder(InMemoryTimerStore.create()).build();
    unstarted.schedule(spec("a").after(Duration.ofDays(1)));
    unstarted.close();
    assertThatThrownBy(() -> unstarted.schedule(spec("b").after(Duration.ofDays(1))))
        .isInstanceOf(IllegalStateException.class);
  }

  // Once

  @Test
  void firesAtItsTimeAndNotBefore() {
    ScheduleResult result = timer.schedule(spec("a").after(Duration.ofMinutes(30)));
    assertThat(result.outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
    advance(30 * 60_000 - 1);
    assertThat(fired).isEmpty();
    advance(1);
    assertThat(fired).containsExactly("a@1800000");
    assertThat(state("a")).isEqualTo(TimerState.DONE);
    assertThat(timer.cancel("shop", "a").outcome()).isEqualTo(CancelResult.Outcome.FIRED);
    assertThat(timer.stats().window()).isZero();
  }

  @Test
  void firesForAHandlerWithoutALimit() {
    timer =
        kit.start(
            InMemoryTimerStore.create(),
            builder -> builder.handler("h", this::handle, Integer.MAX_VALUE, null));
    timer.schedule(spec("a").after(Duration.ofSeconds(1)));
    advance(1_000);
    assertThat(fired).containsExactly("a@1000");
  }

  @Test
  void survivesAKillAndFiresOnce() {
    timer.schedule(spec("a").after(Duration.ofHours(5)));
    restart();
    advance(4 * 3_600_000);
    restart();
    advance(4 * 3_600_000);
    assertThat(fired).containsExactly("a@18000000");
    restart();
    advance(86_400_000);
    assertThat(fired).hasSize(1);
  }

  @Test
  void firesWhatBecameDueWhileNothingRan() {
    timer.schedule(spec("a").after(Duration.ofSeconds(5)));
    kit.kill(timer);
    advance(60_000);
    store = store.reopen();
    timer = kit.start(store, this::settings);
    assertThat(fired).containsExactly("a@60000");
    assertThat(firings.get(0).isLate()).isTrue();
    assertThat(firings.get(0).scheduledAt()).isEqualTo(START.plusSeconds(5));
  }

  @Test
  void firesAtOnceWhatIsPast() {
    timer.schedule(spec("a").at(START.minusSeconds(100)));
    kit.settle();
    assertThat(fired).containsExactly("a@0");
  }

  @Test
  void postponesByScheduling() {
    timer.schedule(spec("a").after(Duration.ofSeconds(5)));
    advance(3_000);
    assertThat(timer.schedule(spec("a").after(Duration.ofSeconds(5))).outcome())
        .isEqualTo(ScheduleResult.Outcome.REPLACED);
    advance(10_000);
    assertThat(fired).containsExactly("a@8000");
  }

  @Test
  void cancelsForGood() {
    timer.schedule(spec("a").after(Duration.ofSeconds(5)));
    assertThat(timer.cancel("shop", "a").outcome()).isEqualTo(CancelResult.Outcome.CANCELLED);
    restart();
    advance(10_000);
    assertThat(fired).isEmpty();
    assertThat(timer.cancel("shop", "a").outcome()).isEqualTo(CancelResult.Outcome.CANCELLED);
    assertThat(timer.cancel("shop", "b").outcome()).isEqualTo(CancelResult.Outcome.NOT_FOUND);
  }

  @Test
  void refusesWhatTheConditionForbids() {
    long version = timer.schedule(spec("a").at(START.plusSeconds(5))).version();
    assertThatThrownBy(() -> timer.schedule(spec("a").at(START).onlyIfAbsent()))
        .isInstanceOfSatisfying(
            DurableTimerException.class,
            e -> {
              assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.EXISTS);
              assertThat(e.version()).isEqualTo(version);
            });
    assertThatThrownBy(() -> timer.schedule(spec("a").at(START).onlyIfVersion(version + 1)))
        .hasMessageContaining("has version " + version);
    assertThat(timer.schedule(spec("a").at(START.plusSeconds(5))).outcome())
        .isEqualTo(ScheduleResult.Outcome.UNCHANGED);
  }

  @Test
  void doesNotFireAgainForACallerWhoLostTheRaceAgainstTheFiring() {
    long version = timer.schedule(spec("a").at(START.plusSeconds(5))).version();
    advance(5_000);
    TimerSpec later = spec("a").after(Duration.ofHours(1)).onlyIfVersion(version);
    assertThatThrownBy(() -> timer.schedule(later))
        .isInstanceOfSatisfying(
            DurableTimerException.class,
            e -> assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.FINISHED))
        .hasMessageContaining("shop/a has fired");
    assertThat(state("a")).isEqualTo(TimerState.DONE);
    assertThat(timer.schedule(later.evenIfFinished()).outcome())
        .isEqualTo(ScheduleResult.Outcome.CREATED);
  }

  @Test
  void countsADoneTimerAsUnchangedIfAsked() {
    timer.schedule(spec("a").at(START.plusSeconds(5)));
    advance(6_000);
    assertThat(timer.schedule(spec("a").at(START.plusSeconds(5)).evenIfFinished()).outcome())
        .isEqualTo(ScheduleResult.Outcome.UNCHANGED);
    assertThat(fired).hasSize(1);
  }

  @Test
  void namesWhatIsWrongWithASpec() {
    assertThatThrownBy(() -> timer.schedule(TimerSpec.of("shop", "a").at(START)))
        .hasMessageContaining("no target");
    assertThatThrownBy(() -> timer.schedule(spec("a"))).hasMessageContaining("no time");
    assertThatThrownBy(() -> timer.schedule(spec("a").at(START).after(Duration.ZERO)))
        .hasMessageContaining("only one of them");
    assertThatThrownBy(() -> spec("a").every(Duration.ofMillis(99)))
        .hasMessageContaining("period: PT0.099S");
    assertThatThrownBy(() -> timer.schedule(spec("a").cron("0 0 30 2 *", ZoneOffset.UTC)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> TimerSpec.of("shop", "x".repeat(257)))
        .hasMessageContaining("id: 257 bytes");
    assertThatThrownBy(() -> TimerSpec.of("", "x")).hasMessageContaining("namespace: 0 bytes");
    assertThatThrownBy(() -> TimerSpec.of("shop", "a\nb")).hasMessageContaining("U+000A");
    assertThatThrownBy(() -> spec("a").payload(new byte[64 * 1024 + 1]))
        .hasMessageContaining("payload: 65537 bytes");
    assertThatThrownBy(() -> new RetryPolicy(0, Duration.ofSeconds(1), Duration.ofSeconds(1)))
        .hasMessageContaining("maxAttempts: 0");
  }

  // Failures

  @Test
  void retriesWithBackoffThenSetsAside() {
    failure = new IllegalStateException("no luck");
    timer.schedule(
        spec("a")
            .after(Duration.ZERO)
            .retry(new RetryPolicy(3, Duration.ofSeconds(1), Duration.ofSeconds(10))));
    advance(60_000);
    assertThat(fired).containsExactly("a@0", "a@1000", "a@3000");
    assertThat(state("a")).isEqualTo(TimerState.SET_ASIDE);
    assertThat(timer.get("shop", "a").orElseThrow().attempts()).hasSize(3);
    assertThat(timer.get("shop", "a").orElseThrow().lastError())
        .hasValueSatisfying(error -> assertThat(error).contains("no luck"));
    failure = null;
    assertThat(timer.revive("shop", "a")).isEqualTo(VerbResult.DONE);
    kit.settle();
    assertThat(state("a")).isEqualTo(TimerState.DONE);
    assertThat(firings.get(3).attempt()).isEqualTo(1);
    assertThat(firings.get(3).fireId()).isEqualTo(firings.get(0).fireId());
  }

  @Test
  void setsAsideWhatKillsItsProcess() {
    timer.schedule(
        spec("poison")
            .after(Duration.ofSeconds(1))
            .retry(new RetryPolicy(2, Duration.ofSeconds(1), Duration.ofSeconds(1))));
    dieAtTheNextFiring();
    dieAtTheNextFiring();
    restart();
    assertThat(fired).isEmpty();
    assertThat(state("poison")).isEqualTo(TimerState.SET_ASIDE);
    assertThat(timer.get("shop", "poison").orElseThrow().attempts())
        .extracting(attempt -> attempt.end().name())
        .containsExactly("LOST", "LOST", "FAILED");
  }

  /** The store is out of reach from the moment at which the handler is called. */
  private void dieAtTheNextFiring() {
    kit.kill(timer);
    store = store.reopen();
    FaultyStore dying = new FaultyStore(store);
    boolean[] dead = new boolean[1];
    dying.faults(changes -> dead[0] ? FaultyStore.Fault.UNAVAILABLE : FaultyStore.Fault.NONE);
    timer = kit.start(dying, builder -> builder.handler("h", firing -> dead[0] = true));
    advance(1_000);
    assertThat(dead[0]).isTrue();
  }

  private DurableTimer start(Handler handler) {
    store = store.reopen();
    return kit.start(store, builder -> builder.handler("h", handler));
  }

  @Test
  void letsAHandlerDecide() {
    kit.kill(timer);
    timer =
        start(
            firing -> {
              fired.add(firing.id() + "@" + Duration.between(START, kit.now()).toMillis());
              if (firing.id().equals("gives-up")) {
                firing.giveUp("gone");
              } else if (fired.size() == 1) {
                firing.reschedule(kit.now().plusSeconds(7));
              }
            });
    timer.schedule(spec("later").after(Duration.ZERO));
    advance(8_000);
    assertThat(fired).containsExactly("later@0", "later@7000");
    assertThat(state("later")).isEqualTo(TimerState.DONE);
    timer.schedule(spec("gives-up").after(Duration.ZERO));
    kit.settle();
    assertThat(state("gives-up")).isEqualTo(TimerState.SET_ASIDE);
    assertThat(timer.get("shop", "gives-up").orElseThrow().lastError()).hasValue("gone");
  }

  @Test
  void parksWhatItDoesNotKnowUntilANodeDoes() {
    timer.schedule(TimerSpec.of("shop", "a").handler("new").after(Duration.ofSeconds(1)));
    advance(2_000);
    assertThat(state("a")).isEqualTo(TimerState.PARKED);
    kit.kill(timer);
    store = store.reopen();
    timer = kit.start(store, builder -> builder.handler("new", this::handle));
    assertThat(fired).containsExactly("a@2000");
  }

  // Recurring

  @Test
  void recursAtAFixedRate() {
    timer.schedule(spec("a").every(Duration.ofSeconds(10)));
    advance(35_000);
    assertThat(fired).containsExactly("a@10000", "a@20000", "a@30000");
    assertThat(timer.schedule(spec("a").every(Duration.ofSeconds(10))).outcome())
        .isEqualTo(ScheduleResult.Outcome.UNCHANGED);
    assertThat(timer.get("shop", "a").orElseThrow().next(2))
        .containsExactly(START.plusSeconds(40), START.plusSeconds(50));
  }

  @Test
  void makesUpForMissedRunsAsAsked() {
    timer.schedule(spec("once").every(Duration.ofMinutes(10)));
    timer.schedule(spec("all").every(Duration.ofMinutes(10)).missed(MissedRuns.FIRE_ALL));
    timer.schedule(spec("skip").every(Duration.ofMinutes(10)).missed(MissedRuns.SKIP));
    kit.kill(timer);
    advance(35 * 60_000);
    store = store.reopen();
    timer = kit.start(store, this::settings);
    kit.settle();
    assertThat(fired)
        .containsExactlyInAnyOrder("once@2100000", "all@2100000", "all@2100000", "all@2100000");
    assertThat(firings).allMatch(Firing::isMadeUp);
    fired.clear();
    advance(5 * 60_000);
    assertThat(fired).containsExactlyInAnyOrder("once@2400000", "all@2400000", "skip@2400000");
  }

  @Test
  void runsByHandWithoutTouchingTheSchedule() {
    timer.schedule(spec("a").every(Duration.ofSeconds(10)));
    advance(4_000);
    assertThat(timer.runNow("shop", "a")).isEqualTo(VerbResult.DONE);
    advance(7_000);
    assertThat(fired).containsExactly("a@4000", "a@10000");
  }

  @Test
  void goesOnWithTheSeriesWhenARunIsExhausted() {
    failure = new IllegalStateException("no luck");
    timer.schedule(
        spec("a")
            .every(Duration.ofSeconds(10))
            .retry(new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1))));
    advance(25_000);
    assertThat(fired).containsExactly("a@10000", "a@20000");
    assertThat(state("a")).isEqualTo(TimerState.SCHEDULED);
  }

  // Pauses

  @Test
  void pausesAndResumes() {
    timer.schedule(spec("a").after(Duration.ofSeconds(5)));
    timer.pause("shop", "a");
    advance(10_000);
    assertThat(fired).isEmpty();
    assertThat(state("a")).isEqualTo(TimerState.PAUSED);
    timer.resume("shop", "a");
    kit.settle();
    assertThat(fired).containsExactly("a@10000");
  }

  @Test
  void pausesANamespaceAcrossARestart() {
    timer.schedule(spec("a").after(Duration.ofSeconds(5)));
    timer.schedule(TimerSpec.of("zoo", "z").handler("h").after(Duration.ofSeconds(5)));
    timer.pause("shop");
    restart();
    advance(10_000);
    assertThat(fired).containsExactly("z@5000");
    timer.resume("shop");
    kit.settle();
    assertThat(fired).containsExactly("z@5000", "a@10000");
  }

  // The window

  @Test
  void holdsNoMoreThanItsCap() {
    for (int i = 0; i < 1_000; i++) {
      timer.schedule(spec("t" + i).after(Duration.ofMillis(10 + i % 7)));
      assertThat(timer.stats().window()).isLessThanOrEqualTo(64);
    }
    advance(100);
    assertThat(fired).hasSize(1_000).doesNotHaveDuplicates();
    assertThat(timer.stats().window()).isZero();
  }

  @Test
  void keepsTheFarFutureInTheStore() {
    for (int i = 0; i < 100; i++) {
      timer.schedule(spec("t" + i).after(Duration.ofDays(365)));
    }
    advance(10_000);
    assertThat(timer.stats().window()).isZero();
  }

  @Test
  void looksAtTheWallAfterAJump() {
    timer.schedule(spec("a").after(Duration.ofSeconds(50)));
    kit.skew(timer, Duration.ofSeconds(40));
    advance(11_000);
    assertThat(fired).hasSize(1);
    kit.skew(timer, Duration.ofHours(-1));
    advance(2_000);
    timer.schedule(spec("b").after(Duration.ofSeconds(5)));
    advance(6_000);
    assertThat(fired).hasSize(2);
  }

  @Test
  void isNotEarlyThoughItTakesOverWhatWasClaimedAhead() {
    kit.kill(timer);
    store =
        InMemoryTimerStore.create(
            new StoreTraits(
                1, 1, 100, Duration.ofMinutes(1), Duration.ofSeconds(2), Duration.ZERO));
    timer = kit.start(store, this::settings);
    timer.schedule(spec("a").after(Duration.ofSeconds(5)));
    advance(3_500);
    assertThat(state("a")).isEqualTo(TimerState.FIRING);
    restart();
    assertThat(fired).isEmpty();
    advance(5_000);
    assertThat(fired).containsExactly("a@5000");
  }

  // Faults

  @Test
  void repeatsEndsOfAttemptsWhoseAnswerWasLost() {
    kit.kill(timer);
    store = store.reopen();
    FaultyStore faulty = new FaultyStore(store);
    timer = kit.start(faulty, this::settings);
    timer.schedule(spec("a").after(Duration.ofSeconds(1)));
    int[] faults = new int[1];
    faulty.faults(
        changes ->
            faults[0]++ % 3 == 2 ? FaultyStore.Fault.NONE : FaultyStore.Fault.DONE_BUT_FAILED);
    advance(60_000);
    assertThat(fired).hasSize(1);
    assertThat(state("a")).isEqualTo(TimerState.DONE);
  }

  @Test
  void firesWhatWasScheduledThoughTheAnswerWasLost() {
    kit.kill(timer);
    store = store.reopen();
    FaultyStore faulty = new FaultyStore(store);
    timer = kit.start(faulty, this::settings);
    faulty.faults(changes -> FaultyStore.Fault.DONE_BUT_FAILED);
    assertThatThrownBy(() -> timer.schedule(spec("a").after(Duration.ofSeconds(1))))
        .isInstanceOfSatisfying(
            DurableTimerException.class,
            e -> assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.UNKNOWN));
    faulty.faults(changes -> FaultyStore.Fault.NONE);
    advance(5_000);
    assertThat(fired).containsExactly("a@1000");
  }

  @Test
  void staysUnknownWhenALaterTryIsRefused() {
    kit.kill(timer);
    store = store.reopen();
    FaultyStore faulty = new FaultyStore(store);
    timer = kit.start(faulty, this::settings);
    int[] tries = new int[1];
    faulty.faults(
        changes ->
            tries[0]++ == 0 ? FaultyStore.Fault.DONE_BUT_FAILED : FaultyStore.Fault.UNAVAILABLE);
    var result =
        timer
            .scheduleAsync(spec("a").after(Duration.ofHours(1)).requestId("r"))
            .toCompletableFuture();
    advance(1_000);
    assertThat(tries[0]).isGreaterThan(1);
    assertThatThrownBy(result::join)
        .cause()
        .isInstanceOfSatisfying(
            DurableTimerException.class,
            e -> assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.UNKNOWN));
    assertThat(state("a")).isEqualTo(TimerState.SCHEDULED);
  }

  @Test
  void oneRefusedChangeStopsNothing() {
    kit.kill(timer);
    store = store.reopen();
    FaultyStore faulty = new FaultyStore(store);
    timer = kit.start(faulty, this::settings);
    timer.schedule(spec("bad").after(Duration.ofSeconds(1)));
    timer.schedule(spec("good").after(Duration.ofSeconds(1)));
    faulty.faults(
        changes ->
            changes.stream().anyMatch(change -> change.key().id().equals("bad"))
                ? FaultyStore.Fault.REJECTED
                : FaultyStore.Fault.NONE);
    advance(5_000);
    assertThat(fired).containsExactly("good@1000");
  }

  @Test
  void refusesCallersWhileTheStoreIsGoneAndGoesOnWhenItIsBack() {
    kit.kill(timer);
    store = store.reopen();
    FaultyStore faulty = new FaultyStore(store);
    timer = kit.start(faulty, this::settings);
    timer.schedule(spec("a").after(Duration.ofSeconds(1)));
    faulty.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
    advance(10_000);
    assertThat(fired).isEmpty();
    assertThatThrownBy(() -> timer.schedule(spec("b").after(Duration.ZERO)))
        .isInstanceOfSatisfying(
            DurableTimerException.class,
            e -> assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.STORE_UNAVAILABLE));
    faulty.faults(changes -> FaultyStore.Fault.NONE);
    advance(10_000);
    assertThat(fired).hasSize(1);
  }

  // Looking

  @Test
  void listsInPagesAndCounts() {
    for (int i = 0; i < 10; i++) {
      timer.schedule(spec("t" + i).after(Duration.ofHours(i + 1)));
    }
    var first = timer.list(TimerFilter.unfinished().namespace("shop"), 6, null);
    var second = timer.list(TimerFilter.unfinished(), 6, first.nextPage().orElseThrow());
    assertThat(first.timers()).hasSize(6);
    assertThat(second.timers()).hasSize(4);
    assertThat(second.nextPage()).isEmpty();
    assertThat(timer.histogram("shop", START, START.plus(Duration.ofHours(11)), 11))
        .containsExactly(0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    assertThatThrownBy(() -> timer.list(TimerFilter.all(), 6, "%%"))
        .hasMessageContaining("page: %%");
  }

  @Test
  void doesBatches() {
    var results =
        timer.scheduleAll(
            List.of(
                spec("a").after(Duration.ofSeconds(1)),
                spec("b"),
                spec("a").after(Duration.ofSeconds(2))));
    assertThat(results.get(0).orThrow().outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
    assertThat(results.get(1).error()).hasMessageContaining("no time");
    assertThat(results.get(2).orThrow().outcome()).isEqualTo(ScheduleResult.Outcome.REPLACED);
    assertThat(timer.verbAll(List.of(new TimerKey("shop", "a")), Verb.PAUSE))
        .extracting(result -> result.orThrow())
        .containsExactly(VerbResult.DONE);
  }

  @Test
  void refusesEverythingOnceClosed() {
    kit.close(timer);
    assertThatThrownBy(() -> timer.schedule(spec("a").after(Duration.ZERO)))
        .isInstanceOf(IllegalStateException.class);
    restartClosed();
    assertThat(timer.get("shop", "a")).isEmpty();
  }

  private void restartClosed() {
    store = store.reopen();
    timer = kit.start(store, this::settings);
  }
}
