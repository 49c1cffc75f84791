// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.DurableTimerBuilder;
import io.timewheel.durable.Firing;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.MissedRuns;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.StoreTraits;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Clocks that jump, machines that were suspended, and restarts with much overdue: what was slept
 * through fires at a bounded rate, and what comes fires at its time.
 */
class ClockJumpTest {
  private static final Instant START = DurableTestkit.START;
  private static final int RATE = 100;
  private static final Logger LOGGER = Logger.getLogger(DurableTimer.class.getName());

  private final DurableTestkit kit = DurableTestkit.create();
  private InMemoryTimerStore store = InMemoryTimerStore.create();
  private final List<String> fired = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();
  private final Handler handler = new Warnings();
  private Level levelBefore;

  private final class Warnings extends Handler {
    @Override
    public void publish(LogRecord record) {
      if (record.getLevel().intValue() >= Level.WARNING.intValue()) {
        warnings.add(record.getMessage());
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @BeforeEach
  void listen() {
    levelBefore = LOGGER.getLevel();
    LOGGER.setLevel(Level.INFO);
    LOGGER.addHandler(handler);
    LOGGER.setUseParentHandlers(false);
  }

  @AfterEach
  void stopListening() {
    LOGGER.removeHandler(handler);
    LOGGER.setUseParentHandlers(true);
    LOGGER.setLevel(levelBefore);
  }

  private DurableTimer timer = start();

  private DurableTimer start() {
    return kit.start(store, this::settings);
  }

  private void settings(DurableTimerBuilder builder) {
    builder.handler("h", this::handle).overdueRate(RATE).maxWindow(64);
  }

  private void handle(Firing firing) {
    fired.add(firing.id() + "@" + Duration.between(START, kit.now()).toMillis());
  }

  private void restart() {
    store = store.reopen();
    timer = start();
  }

  private void schedule(String id, long afterMillis) {
    timer.schedule(TimerSpec.of("ns", id).handler("h").after(Duration.ofMillis(afterMillis)));
  }

  private void advance(long millis) {
    kit.advanceBy(Duration.ofMillis(millis));
  }

  @Test
  void aRestartWithMuchOverdueFiresItAtTheRateAndTheRestAtItsTime() {
    for (int i = 0; i < 1_000; i++) {
      schedule("overdue" + i, 1_000 + i);
    }
    kit.kill(timer);
    advance(60_000);
    restart();
    schedule("now", 0);
    schedule("soon", 2_500);
    for (int seconds = 1; seconds <= 10; seconds++) {
      advance(1_000);
      long overdue = fired.stream().filter(text -> text.startsWith("overdue")).count();
      // A step's worth at the very beginning, and then by the second.
      assertThat(overdue).as(seconds + " s").isBetween(seconds * 95L, seconds * (RATE + 3L));
    }
    advance(1_000);
    assertThat(fired).hasSize(1_002).doesNotHaveDuplicates();
    assertThat(fired).contains("now@60000", "soon@62500");
    assertThat(timer.stats().backlog()).isZero();
  }

  @Test
  void aJumpAheadFiresWhatItMadeOverdueAtTheRate() {
    for (int i = 0; i < 500; i++) {
      schedule("overdue" + i, 60_000 + i);
    }
    schedule("later", 3_600_000 + 3_000);
    advance(1_000);
    kit.skew(timer, Duration.ofHours(1));
    advance(2_000); // the jump is seen within a second
    assertThat(fired).hasSizeBetween(90, 2 * RATE + 10);
    assertThat(timer.stats().clockJumps()).isEqualTo(1);
    assertThat(timer.stats().backlog()).isPositive();
    advance(10_000);
    assertThat(fired).hasSize(501).doesNotHaveDuplicates().contains("later@3000");
    assertThat(warnings).hasSize(1);
    assertThat(warnings.get(0)).contains("gone ahead");
  }

  @Test
  void whatBecomesDueAfterAJumpIsNotHeld() {
    advance(1_000);
    kit.skew(timer, Duration.ofHours(1));
    advance(2_000);
    for (int i = 0; i < 500; i++) {
      schedule("t" + i, 10);
    }
    advance(10);
    assertThat(fired).hasSize(500);
  }

  @Test
  void whatBecomesDueAfterAClockThatWasAheadIsNotHeldEither() {
    advance(2_000);
    kit.skew(timer, Duration.ofHours(1));
    advance(3_000);
    kit.skew(timer, Duration.ZERO);
    advance(3_000);
    for (int i = 0; i < 500; i++) {
      schedule("t" + i, 10);
    }
    advance(20);
    assertThat(fired).hasSize(500);
  }

  @Test
  void aSmallJumpBackHoldsAndALargeOneIsBelieved() {
    advance(10_000);
    schedule("a", 1_000);
    kit.skew(timer, Duration.ofSeconds(-4));
    advance(3_900);
    assertThat(fired).isEmpty(); // the clock stands: nothing is early, and nothing comes twice
    advance(1_200);
    assertThat(fired).hasSize(1);
    assertThat(warnings).isEmpty();

    schedule("b", 1_000);
    kit.skew(timer, Duration.ofHours(-1));
    schedule("c", 1_000);
    advance(1_100);
    assertThat(fired).hasSize(2); // c is, by the new clock; b was promised for an hour later
    assertThat(warnings).hasSize(1);
    assertThat(warnings.get(0)).contains("gone back");
    assertThat(timer.stats().clockJumps()).isEqualTo(1);
    advance(3_600_000);
    assertThat(fired).hasSize(3);
  }

  @Test
  void aJumpAheadAndBackFiresNothingTwice() {
    schedule("a", 60_000);
    advance(1_000);
    kit.skew(timer, Duration.ofHours(1));
    advance(2_000);
    kit.skew(timer, Duration.ZERO);
    advance(120_000);
    assertThat(fired).hasSize(1);
    assertThat(timer.get("ns", "a").orElseThrow().state()).isEqualTo(TimerState.DONE);
  }

  @Test
  void aHandlerThatStandsStillDoesNotKeepOthersFromTheirTime() {
    kit.kill(timer);
    store = InMemoryTimerStore.create();
    List<Runnable> stuck = new ArrayList<>();
    Steps others = new Steps(null);
    timer =
        kit.start(
            store,
            builder -> {
              settings(builder);
              builder.handler("stuck", firing -> fired.add("stuck"), 1, null);
              builder.handlerExecutor(
                  attempt -> {
                    if (stuck.isEmpty()) {
                      stuck.add(attempt); // the first one does not end
                    } else {
                      others.execute(attempt);
                    }
                  });
            });
    for (int i = 0; i < 1_000; i++) {
      timer.schedule(TimerSpec.of("ns", "stuck" + i).handler("stuck").after(Duration.ofMillis(i)));
    }
    advanceWith(others, 5_000);
    schedule("other", 2_000);
    advanceWith(others, 1_900);
    assertThat(timer.stats().window()).isLessThanOrEqualTo(64);
    advanceWith(others, 110);
    assertThat(fired).hasSize(1);
    assertThat(fired.get(0)).startsWith("other@70");
    stuck.get(0).run();
    advanceWith(others, 30_000);
    assertThat(fired).hasSize(1_001);
  }

  @Test
  void aFullWindowIsNotReadRoundAndRoundWhileTheClockStandsStill() {
    kit.kill(timer);
    Steps others = new Steps(null);
    timer =
        kit.start(
            store,
            builder -> {
              settings(builder);
              builder.handlerExecutor(others); // nothing ends until the test says so
            });
    for (int i = 0; i < 1_000; i++) {
      schedule("t" + i, 1_000);
    }
    advance(1_000);
    assertThat(fired).isEmpty();
    advanceWith(others, 1_000);
    assertThat(fired).hasSize(1_000).doesNotHaveDuplicates();
  }

  @Test
  void aBacklogOfAHandlerThatStandsStillDoesNotKeepOthersOutThatAreOverdue() {
    kit.kill(timer);
    store = InMemoryTimerStore.create();
    List<Runnable> stuck = new ArrayList<>();
    Steps others = new Steps(null);
    timer = startWithAStuckHandler(stuck, others);
    for (int i = 0; i < 2_000; i++) {
      timer.schedule(
          TimerSpec.of("ns", "stuck" + i).handler("stuck").after(Duration.ofMillis(100 + i)));
      if (i % 50 == 0) { // in the midst of it
        schedule("h" + i, 100 + i);
      }
    }
    advanceWith(others, 5_000);
    assertThat(fired).hasSize(40).allMatch(text -> text.startsWith("h"));
    assertThat(timer.stats().window()).isLessThanOrEqualTo(64);
    stuck.get(0).run();
    advanceWith(others, 30_000);
    assertThat(fired).hasSize(2_040).doesNotHaveDuplicates();
  }

  @Test
  void norAfterARestart() {
    for (int i = 0; i < 50_000; i++) {
      timer.schedule(
          TimerSpec.of("ns", "stuck" + i).handler("stuck").after(Duration.ofSeconds(100)));
    }
    schedule("other", 101_000);
    kit.kill(timer);
    advance(200_000);
    store = store.reopen();
    List<Runnable> stuck = new ArrayList<>();
    Steps others = new Steps(null);
    timer = startWithAStuckHandler(stuck, others);
    schedule("late", 0); // behind it all
    advanceWith(others, 2_000);
    assertThat(fired).hasSize(2).anyMatch(text -> text.startsWith("other@"));
  }

  private DurableTimer startWithAStuckHandler(List<Runnable> stuck, Steps others) {
    return kit.start(
        store,
        builder ->
            builder
                .handler("h", this::handle)
                .handler("stuck", firing -> fired.add("stuck" + firing.id()), 1, null)
                .maxWindow(64)
                .handlerExecutor(
                    attempt -> {
                      if (stuck.isEmpty()) {
                        stuck.add(attempt); // the first one does not end
                      } else {
                        others.execute(attempt);
                      }
                    }));
  }

  private void advanceWith(Steps others, long millis) {
    for (long passed = 0; passed < millis; passed += 10) {
      advance(10);
      while (others.runOne()) {
        kit.settle();
      }
    }
  }

  @Test
  void noRunIsMissedWithinTwiceTheLease() {
    kit.kill(timer);
    store =
        InMemoryTimerStore.create(
            new StoreTraits(
                1,
                1,
                10,
                Duration.ofMinutes(1),
                Duration.ZERO,
                Duration.ZERO,
                Duration.ofSeconds(10)));
    timer = start();
    timer.schedule(
        TimerSpec.of("ns", "a")
            .handler("h")
            .every(Duration.ofMinutes(10))
            .missed(MissedRuns.SKIP)
            .grace(Duration.ZERO));
    advance(599_000);
    kit.kill(timer);
    advance(21_000); // 20 s late: taken over in time
    restart();
    assertThat(fired).containsExactly("a@620000");
    kit.kill(timer);
    advance(601_000); // 21 s late
    restart();
    assertThat(fired).hasSize(1);
  }
}
