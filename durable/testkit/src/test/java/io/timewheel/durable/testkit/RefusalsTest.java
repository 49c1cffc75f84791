// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.Attempt;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.DurableTimerBuilder;
import io.timewheel.durable.Firing;
import io.timewheel.durable.Handler;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.MissedRuns;
import io.timewheel.durable.RetryPolicy;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.TimerDefinition;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** What the engine leans on refuses or throws: nothing is lost, and nothing comes to a halt. */
class RefusalsTest {
  private static final Instant START = DurableTestkit.START;
  private static final RetryPolicy ONCE =
      new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1));

  private final List<String> fired = new ArrayList<>();
  private final List<Duration> lags = new ArrayList<>();
  private Stand stand = new Stand();
  private InMemoryTimerStore store = InMemoryTimerStore.create();
  private Handler handler = firing -> {};
  private DurableTimer timer;

  private void start() {
    timer = stand.start(store, this::settings);
  }

  private void settings(DurableTimerBuilder builder) {
    builder.handler("h", this::handle, 1, Duration.ofHours(1));
  }

  private void handle(Firing firing) throws Exception {
    fired.add(firing.id());
    lags.add(Duration.between(firing.scheduledAt(), stand.now()));
    handler.handle(firing);
  }

  private static TimerSpec spec(String id) {
    return TimerSpec.of("shop", id).handler("h");
  }

  private TimerInfo timer(String id) {
    return timer.get("shop", id).orElseThrow();
  }

  private void advance(long millis) {
    stand.advance(Duration.ofMillis(millis));
  }

  // The wheel

  @Test
  void firesEverythingThoughTheWheelIsFull() {
    stand = new Stand(4);
    start();
    for (int i = 0; i < 200; i++) {
      timer.schedule(spec("t" + i).after(Duration.ofMillis(i * 53L)));
    }
    advance(15_000);
    assertThat(fired).hasSize(200).doesNotHaveDuplicates();
    assertThat(lags)
        .allSatisfy(lag -> assertThat(lag).isBetween(Duration.ZERO, Duration.ofMillis(1_020)));
    assertThat(stand.manual.pendingTimeouts()).isEqualTo(1); // the beat
  }

  @Test
  void readsAgainWhatTheWheelRefusedForLackOfMemory() {
    start();
    stand.wheel.refusal = new OutOfMemoryError("no room for another timeout");
    timer.schedule(spec("a").after(Duration.ofSeconds(5)));
    stand.wheel.refusal = null;
    advance(5_000);
    assertThat(fired).containsExactly("a");
  }

  @Test
  void waitsForTheWallClockThoughTheWheelRefusesIt() {
    start();
    timer.schedule(spec("a").after(Duration.ofSeconds(5)));
    stand.skew = Duration.ofSeconds(-3);
    stand.wheel.refusal = new RejectedExecutionException("full");
    advance(5_500);
    assertThat(fired).isEmpty();
    advance(3_500);
    assertThat(fired).containsExactly("a");
  }

  @Test
  void beginsWhatWasClaimedAheadThoughTheWheelRefusesIt() {
    store =
        InMemoryTimerStore.create(
            new StoreTraits(
                1, 1, 100, Duration.ofMinutes(1), Duration.ofSeconds(2), Duration.ZERO));
    start();
    timer.schedule(spec("a").after(Duration.ofSeconds(5)));
    timer.schedule(spec("b").after(Duration.ofSeconds(6)));
    stand.wheel.refusal = new RejectedExecutionException("full");
    advance(4_990);
    assertThat(fired).isEmpty();
    advance(3_000);
    assertThat(fired).containsExactly("a", "b");
    assertThat(timer("b").state()).isEqualTo(TimerState.DONE);
  }

  @Test
  void runsWithoutATimeLimitWhileTheWheelRefusesIt() {
    start();
    stand.wheel.refusal = new RejectedExecutionException("full");
    timer.schedule(spec("a").after(Duration.ZERO));
    timer.schedule(spec("b").after(Duration.ZERO));
    stand.settle();
    assertThat(fired).containsExactly("a", "b");
    assertThat(timer("b").state()).isEqualTo(TimerState.DONE);
  }

  // The handlers' executor

  private void refusedThenTaken(Runnable refuse, Runnable take) {
    start();
    refuse.run();
    for (int i = 0; i < 10; i++) {
      timer.schedule(spec("t" + i).after(Duration.ZERO));
    }
    advance(5_000);
    assertThat(fired).isEmpty();
    take.run();
    advance(1_100);
    assertThat(fired).hasSize(10).doesNotHaveDuplicates();
    assertThat(timer("t9").state()).isEqualTo(TimerState.DONE);
    assertThat(timer("t9").attempts())
        .extracting(Attempt::end)
        .containsExactly(Attempt.End.SUCCEEDED);
  }

  @Test
  void waitsForAnExecutorThatRejects() {
    refusedThenTaken(
        () -> stand.handlers.refusal = new RejectedExecutionException("full"),
        () -> stand.handlers.refusal = null);
  }

  @Test
  void waitsForAnExecutorThatHasNoThread() {
    refusedThenTaken(
        () -> stand.handlers.refusal = new OutOfMemoryError("unable to create native thread"),
        () -> stand.handlers.refusal = null);
  }

  /** A handler on the committing thread would wait for a commit for ever. */
  @Test
  void runsNoHandlerOnTheThreadThatHandsItOver() {
    refusedThenTaken(
        () -> stand.handlers.runsAtOnce = true, () -> stand.handlers.runsAtOnce = false);
  }

  @Test
  void runsOnceWhatAnExecutorTakesAndThenRejects() {
    start();
    stand.handlers.lateRefusal = new RejectedExecutionException("too late");
    timer.schedule(spec("a").after(Duration.ZERO));
    timer.schedule(spec("b").after(Duration.ZERO));
    advance(100);
    stand.handlers.lateRefusal = null;
    advance(2_000);
    assertThat(fired).containsExactly("a", "b");
  }

  @Test
  void saysThatAnExecutorDropsAttempts() {
    List<String> logged = new ArrayList<>();
    Logger logger = Logger.getLogger(DurableTimer.class.getName());
    Level level = logger.getLevel();
    java.util.logging.Handler listener = new Listener(logged);
    logger.addHandler(listener);
    logger.setLevel(Level.WARNING); // a simulation may have silenced it
    try {
      start();
      stand.handlers.drops = true;
      timer.schedule(spec("a").after(Duration.ZERO));
      advance(125_000);
    } finally {
      logger.removeHandler(listener);
      logger.setLevel(level);
    }
    assertThat(logged).anySatisfy(text -> assertThat(text).contains("does it drop tasks?"));
    assertThat(timer("a").state()).isEqualTo(TimerState.FIRING);
    timer.close();
    stand = new Stand();
    timer = stand.start(store.reopen(), this::settings);
    advance(2_000);
    assertThat(fired).containsExactly("a");
  }

  private static final class Listener extends java.util.logging.Handler {
    private final List<String> logged;

    Listener(List<String> logged) {
      this.logged = logged;
    }

    @Override
    public void publish(LogRecord record) {
      logged.add(record.getMessage());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  // Handlers

  @Test
  void recordsAFailureThatCannotSayWhatItIs() {
    handler =
        firing -> {
          throw new IllegalStateException() {
            private static final long serialVersionUID = 1;

            @Override
            public String getMessage() {
              throw new IllegalArgumentException("neither can this");
            }
          };
        };
    start();
    timer.schedule(spec("a").after(Duration.ZERO).retry(ONCE));
    timer.schedule(spec("b").after(Duration.ZERO).retry(ONCE));
    stand.settle();
    assertThat(fired).containsExactly("a", "b");
    assertThat(timer("b").state()).isEqualTo(TimerState.SET_ASIDE);
    assertThat(timer("b").attempts().get(0).error()).contains("RefusalsTest");
  }

  @Test
  void cutsTheReasonOfAHandlerThatGivesUp() {
    handler = firing -> firing.giveUp("no".repeat(100_000));
    start();
    timer.schedule(spec("a").after(Duration.ZERO));
    stand.settle();
    assertThat(timer("a").attempts().get(0).error()).hasSize(1_000);
  }

  @Test
  void refusesATimeThatNeverComes() {
    handler = firing -> firing.reschedule(Instant.MAX);
    start();
    timer.schedule(spec("a").after(Duration.ZERO).retry(ONCE));
    stand.settle();
    assertThat(timer("a").state()).isEqualTo(TimerState.SET_ASIDE);
    assertThat(timer("a").attempts().get(0).error()).contains("at: " + Instant.MAX);
  }

  // Records

  /** As a newer release may leave it behind. */
  private void scheduleUnreadable(String id, Instant at) {
    store.commit(
        List.of(
            new Change.Schedule(
                new TimerKey("shop", id),
                new TimerDefinition(
                    "at every full moon",
                    "h",
                    false,
                    new byte[0],
                    Map.of(),
                    new RetryPolicy(2, Duration.ofSeconds(1), Duration.ofSeconds(1)),
                    MissedRuns.FIRE_ONCE,
                    0),
                at.toEpochMilli(),
                false,
                Change.Condition.NONE,
                0,
                false,
                null,
                Long.MAX_VALUE,
                START.toEpochMilli())));
  }

  @Test
  void setsAsideARecurrenceThatItCannotReadWithoutFiringIt() {
    scheduleUnreadable("bad", START.plusSeconds(2));
    start();
    timer.schedule(spec("good").after(Duration.ofSeconds(3)));
    advance(10_000);
    assertThat(fired).containsExactly("good");
    assertThat(timer("bad").state()).isEqualTo(TimerState.SET_ASIDE);
    assertThat(timer("bad").attempts()).hasSize(2);
    assertThat(timer("bad").attempts().get(0).error()).contains("full moon");
  }

  @Test
  void setsAsideARecurrenceThatItCannotReadThoughItIsLate() {
    scheduleUnreadable("bad", START.minusSeconds(100));
    start();
    advance(10_000);
    assertThat(fired).isEmpty();
    assertThat(timer("bad").state()).isEqualTo(TimerState.SET_ASIDE);
  }

  // Queues

  @Test
  void aClaimWhoseWaitIsOverAtOnceIsAnswered() {
    start();
    stand.wheel.whenTaken = () -> stand.manual.advanceBy(Duration.ofMillis(10));
    var claim =
        timer
            .claim("shop", "q", 1, Duration.ofSeconds(30), Duration.ofMillis(1))
            .toCompletableFuture();
    stand.wheel.whenTaken = () -> {};
    advance(2_000);
    assertThat(claim.getNow(null)).isEmpty();
  }

  @Test
  void aClaimIsAnsweredThoughTheWheelRefusesItsWait() {
    start();
    stand.wheel.refusal = new RejectedExecutionException("full");
    var claim =
        timer
            .claim("shop", "q", 1, Duration.ofSeconds(30), Duration.ofSeconds(2))
            .toCompletableFuture();
    advance(3_100);
    assertThat(claim.getNow(null)).isEmpty();
  }

  @Test
  void aClaimIsToldWhatTheStoreThrew() {
    timer =
        stand.start(
            new ForwardingTimerStore(store) {
              @Override
              public List<TimerRecord> lease(LeaseRequest request) {
                throw new IllegalArgumentException("a record that cannot be read");
              }
            },
            this::settings);
    for (Duration wait : List.of(Duration.ZERO, Duration.ofSeconds(2))) {
      var claim = timer.claim("shop", "q", 1, Duration.ofSeconds(30), wait).toCompletableFuture();
      stand.settle();
      assertThat(claim).isCompletedExceptionally();
    }
  }

  // The clock

  @Test
  void aClockThatFailsStandsStill() {
    boolean[] fails = new boolean[1];
    timer =
        stand.start(
            store,
            builder -> {
              settings(builder);
              builder.clock(
                  () -> {
                    if (fails[0]) {
                      throw new IllegalStateException("no time");
                    }
                    return stand.now();
                  });
            });
    timer.schedule(spec("a").after(Duration.ofSeconds(5)));
    handler = firing -> fails[0] = true;
    timer.schedule(spec("b").after(Duration.ZERO));
    stand.settle();
    assertThat(timer("b").state()).isEqualTo(TimerState.DONE);
    advance(10_000);
    assertThat(fired).containsExactly("b");
    fails[0] = false;
    handler = firing -> {};
    advance(2_000);
    assertThat(fired).containsExactly("b", "a");
  }

  // The store

  @Test
  void readsAgainAfterAnErrorInTheMiddle() {
    start();
    timer.schedule(spec("a").after(Duration.ofSeconds(5)));
    int[] reads = new int[1];
    stand = new Stand();
    timer =
        stand.start(
            new ForwardingTimerStore(store.reopen()) {
              @Override
              public List<DueTimer> due(int shard, long until, DuePosition after, int limit) {
                if (reads[0]++ == 0) {
                  throw new StackOverflowError("so deep");
                }
                return super.due(shard, until, after, limit);
              }
            },
            this::settings);
    advance(6_000);
    assertThat(fired).containsExactly("a");
  }
}
