// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.timewheel.durable.model.FireId;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.durable.testkit.DurableTestkit;
import io.timewheel.durable.testkit.FaultyStore;
import io.timewheel.durable.testkit.ManualExecutor;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.logging.Level;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests jumps of the clock, suspended machines, and restarts with many overdue timers. Overdue
 * timers fire at a bounded rate, and the others at their time.
 */
@Tag("promise-45")
@Tag("promise-46")
class ClockJumpTest {
  private static final int RATE = 100;

  @RegisterExtension private final LogLines warnings = new LogLines(Level.WARNING);
  private Scene scene = new Scene(ClockJumpTest::settings);

  private static void settings(DurableTimerBuilder builder) {
    builder.overdueRate(RATE).maxWindow(64);
  }

  private void schedule(String id, long afterMillis) {
    scene.scheduler.schedule(
        TimerSpec.of("ns", id).handler("h").after(Duration.ofMillis(afterMillis)));
  }

  @Test
  void aRestartFiresOverdueTimersAtTheRateAndOthersAtTheirTime() {
    for (int i = 0; i < 1_000; i++) {
      schedule("overdue" + i, 1_000 + i);
    }
    scene.kill();
    scene.advance(60_000);
    scene.reopen();
    schedule("now", 0);
    schedule("soon", 2_500);
    for (int seconds = 1; seconds <= 10; seconds++) {
      scene.advance(1_000);
      long overdue = scene.fired.stream().filter(text -> text.startsWith("overdue")).count();
      // The timers of one step at the very beginning, and then the rate per second.
      assertThat(overdue).as(seconds + " s").isBetween(seconds * 95L, seconds * (RATE + 3L));
    }
    scene.advance(1_000);
    assertThat(scene.fired).hasSize(1_002).doesNotHaveDuplicates();
    assertThat(scene.fired).contains("now@60000", "soon@62500");
    assertThat(scene.scheduler.stats().backlog()).isZero();
  }

  @Test
  void aJumpAheadFiresOverdueTimersAtTheRate() {
    for (int i = 0; i < 500; i++) {
      schedule("overdue" + i, 60_000 + i);
    }
    schedule("later", 3_600_000 + 3_000);
    scene.advance(1_000);
    scene.kit.skew(scene.scheduler, Duration.ofHours(1));
    scene.advance(2_000); // the jump is detected within a second
    assertThat(scene.fired).hasSizeBetween(90, 2 * RATE + 10);
    assertThat(scene.scheduler.stats().clockJumps()).isEqualTo(1);
    assertThat(scene.scheduler.stats().backlog()).isPositive();
    scene.advance(10_000);
    assertThat(scene.fired).hasSize(501).doesNotHaveDuplicates().contains("later@3000");
    assertThat(warnings.lines()).hasSize(1);
    assertThat(warnings.lines().get(0)).contains("gone ahead");
  }

  @Test
  void timersDueAfterAJumpAreNotDelayed() {
    scene.advance(1_000);
    scene.kit.skew(scene.scheduler, Duration.ofHours(1));
    scene.advance(2_000);
    for (int i = 0; i < 500; i++) {
      schedule("t" + i, 10);
    }
    scene.advance(10);
    assertThat(scene.fired).hasSize(500);
  }

  @Test
  void timersDueAfterAClockWasAheadAreNotDelayed() {
    scene.advance(2_000);
    scene.kit.skew(scene.scheduler, Duration.ofHours(1));
    scene.advance(3_000);
    scene.kit.skew(scene.scheduler, Duration.ZERO);
    scene.advance(3_000);
    for (int i = 0; i < 500; i++) {
      schedule("t" + i, 10);
    }
    scene.advance(20);
    assertThat(scene.fired).hasSize(500);
  }

  @Test
  void theClockStopsAfterASmallStepBackAndFollowsALargeOne() {
    scene.advance(10_000);
    schedule("a", 1_000);
    scene.kit.skew(scene.scheduler, Duration.ofSeconds(-4));
    scene.advance(3_900);
    assertThat(scene.fired).isEmpty(); // the clock has stopped: no timer is early or fires twice
    scene.advance(1_200);
    assertThat(scene.fired).hasSize(1);
    assertThat(warnings.lines()).isEmpty();

    schedule("b", 1_000);
    scene.kit.skew(scene.scheduler, Duration.ofHours(-1));
    schedule("c", 1_000);
    scene.advance(1_100);
    assertThat(scene.fired).hasSize(2); // c is due by the new clock; b only an hour later
    assertThat(warnings.lines()).hasSize(1);
    assertThat(warnings.lines().get(0)).contains("gone back");
    assertThat(scene.scheduler.stats().clockJumps()).isEqualTo(1);
    scene.advance(3_600_000);
    assertThat(scene.fired).hasSize(3);
  }

  private void goBack(Duration by) {
    scene.kit.skew(scene.scheduler, by.negated());
    scene.advance(1_000); // it is detected within a second
  }

  @Test
  void aBackoffKeepsItsDurationAfterTheClockHasGoneBack() {
    scene.handler =
        firing -> {
          if (scene.fired.size() == 1) {
            throw new IllegalStateException("no luck");
          }
        };
    Duration wait = Duration.ofMinutes(10);
    scene.scheduler.schedule(
        TimerSpec.of("ns", "a")
            .handler("h")
            .after(Duration.ofSeconds(1))
            .retry(new RetryPolicy(2, wait, wait)));
    scene.advance(60_000);
    goBack(Duration.ofHours(1));
    scene.advance(539_000);
    assertThat(scene.fired).hasSize(1);
    scene.advance(2_000);
    assertThat(scene.fired).containsExactly("a@1000", "a@601000");
  }

  @Test
  void aBackoffOfAnAttemptThatFailsAfterTheClockHasGoneBackIsNotLonger() {
    Duration wait = Duration.ofSeconds(30);
    scene.handler =
        firing -> {
          if (scene.fired.size() == 1) {
            scene.kit.skew(scene.scheduler, Duration.ofHours(-1));
            throw new IllegalStateException("no luck");
          }
        };
    scene.scheduler.schedule(
        TimerSpec.of("ns", "a")
            .handler("h")
            .after(Duration.ofMinutes(1))
            .retry(new RetryPolicy(2, wait, wait)));
    scene.advance(95_000);
    assertThat(scene.fired).containsExactly("a@60000", "a@90000");
  }

  @Test
  void aClaimLeaseKeepsItsDurationAfterTheClockHasGoneBack() {
    scene.scheduler.schedule(TimerSpec.of("ns", "a").queue("q").after(Duration.ofSeconds(1)));
    scene.advance(1_000);
    scene.scheduler.async().queue("ns", "q").claim(1, Duration.ofMinutes(5), Duration.ZERO);
    scene.advance(60_000);
    goBack(Duration.ofHours(1));
    scene.advance(230_000);
    assertThat(scene.scheduler.timer("ns", "a").get().orElseThrow().state())
        .isEqualTo(TimerState.RUNNING);
    scene.advance(20_000);
    assertThat(scene.scheduler.stats().lost()).isEqualTo(1);
  }

  private void every(Duration period) {
    scene.scheduler.schedule(TimerSpec.of("ns", "a").handler("h").every(period));
  }

  @Test
  void aFixedRateKeepsItsPeriodAfterTheClockHasGoneBack() {
    Set<FireId> runs = new HashSet<>();
    scene.handler = firing -> runs.add(firing.fireId());
    every(Duration.ofMinutes(10));
    scene.advance(25 * 60_000);
    goBack(Duration.ofHours(1));
    scene.advance(20 * 60_000);
    assertThat(scene.fired).hasSize(4); // twice in 20 minutes, as before the step
    scene.advance(60 * 60_000);
    assertThat(runs).hasSize(10); // although the clock repeats earlier times
  }

  @Test
  void aRateWithAJitterIsNotCorrectedNeedlesslyAfterTheClockHasGoneBack() {
    scene.advance(1_000);
    goBack(Duration.ofHours(1));
    TimerSpec spec =
        TimerSpec.of("ns", "a")
            .handler("h")
            .every(Duration.ofMinutes(10))
            .jitter(Duration.ofMinutes(10));
    Instant first = scene.scheduler.preview(spec, 1).get(0);
    scene.scheduler.schedule(spec);
    scene.advance(1_000);
    assertThat(scene.scheduler.timer("ns", "a").get().orElseThrow().dueAt()).isEqualTo(first);
    scene.advance(25 * 60_000);
    assertThat(scene.fired).hasSizeBetween(1, 2);
    goBack(Duration.ofHours(1));
    int before = scene.fired.size();
    scene.advance(20 * 60_000);
    assertThat(scene.fired).hasSize(before + 2); // twice in 20 minutes, as before the step
  }

  @Test
  void aFixedDelayKeepsItsDelayAfterTheClockHasGoneBack() {
    scene.scheduler.schedule(
        TimerSpec.of("ns", "a").handler("h").fixedDelay(Duration.ofMinutes(10)));
    scene.advance(25 * 60_000);
    goBack(Duration.ofHours(1));
    scene.advance(20 * 60_000);
    assertThat(scene.fired).hasSize(4);
  }

  @Test
  void aFixedRateWhoseRunEndsAfterTheClockHasGoneBackContinues() {
    scene.handler =
        firing -> {
          if (scene.fired.size() == 1) {
            scene.kit.skew(scene.scheduler, Duration.ofHours(-1));
          }
        };
    every(Duration.ofMinutes(10));
    scene.advance(21 * 60_000);
    assertThat(scene.fired).hasSize(2);
  }

  @Test
  void timesSetByAUserStayAfterTheClockHasGoneBack() {
    Instant first = scene.kit.now().plus(Duration.ofHours(2));
    scene.scheduler.schedule(
        TimerSpec.of("ns", "first").handler("h").every(Duration.ofMinutes(10)).at(first));
    every(Duration.ofMinutes(10));
    Instant moved = first.plusMillis(1);
    scene.scheduler.timer("ns", "a").move(moved);
    scene.advance(60_000);
    goBack(Duration.ofHours(1));
    scene.advance(60_000);
    assertThat(scene.scheduler.timer("ns", "first").get().orElseThrow().dueAt()).isEqualTo(first);
    assertThat(scene.scheduler.timer("ns", "a").get().orElseThrow().dueAt()).isEqualTo(moved);
  }

  @Test
  void aMoveAfterTheClockHasGoneBackStays() {
    every(Duration.ofMinutes(10));
    scene.advance(21 * 60_000);
    goBack(Duration.ofHours(1));
    Instant moved =
        scene.scheduler.timer("ns", "a").get().orElseThrow().dueAt().plus(Duration.ofHours(1));
    scene.scheduler.timer("ns", "a").move(moved);
    scene.advance(1_000);
    assertThat(scene.scheduler.timer("ns", "a").get().orElseThrow().dueAt()).isEqualTo(moved);
  }

  @Test
  @Tag("promise-43")
  void anUnreadableTimerKeepsNoOtherFromItsCorrection() {
    DurableTestkit kit = DurableTestkit.create();
    ForwardingTimerStore store =
        new ForwardingTimerStore(InMemoryTimerStore.create()) {
          @Override
          public TimerRecord get(TimerKey key) {
            if (key.id().equals("bad")) {
              throw new StoreException(StoreException.Kind.REJECTED, "on purpose", null);
            }
            return super.get(key);
          }
        };
    List<Integer> attempts = new ArrayList<>();
    DurableTimer scheduler =
        kit.start(
            store,
            builder ->
                builder.handler(
                    "h",
                    firing -> {
                      attempts.add(firing.attempt());
                      throw new IllegalStateException("on purpose");
                    }));
    scheduler.schedule(TimerSpec.of("ns", "bad").handler("h").every(Duration.ofMinutes(1)));
    scheduler.schedule(
        TimerSpec.of("ns", "z")
            .handler("h")
            .after(Duration.ZERO)
            .retry(new RetryPolicy(2, Duration.ofMinutes(2), Duration.ofMinutes(2))));
    kit.advanceBy(Duration.ofSeconds(1));
    assertThat(attempts).containsExactly(1);
    kit.skew(scheduler, Duration.ofHours(-1));
    kit.advanceBy(Duration.ofMinutes(3));
    assertThat(attempts).containsExactly(1, 2);
  }

  @Test
  void aJumpAheadAndBackFiresNothingTwice() {
    schedule("a", 60_000);
    scene.advance(1_000);
    scene.kit.skew(scene.scheduler, Duration.ofHours(1));
    scene.advance(2_000);
    scene.kit.skew(scene.scheduler, Duration.ZERO);
    scene.advance(120_000);
    assertThat(scene.fired).hasSize(1);
    assertThat(scene.scheduler.timer("ns", "a").get().orElseThrow().state())
        .isEqualTo(TimerState.COMPLETED);
  }

  @Test
  @Tag("promise-44")
  void aStalledHandlerDoesNotDelayOthers() {
    List<Runnable> stuck = new ArrayList<>();
    ManualExecutor others = new ManualExecutor();
    scene = withAStuckHandler(stuck, others);
    for (int i = 0; i < 1_000; i++) {
      scene.scheduler.schedule(
          TimerSpec.of("ns", "stuck" + i).handler("stuck").after(Duration.ofMillis(i)));
    }
    advanceWith(others, 5_000);
    schedule("other", 2_000);
    advanceWith(others, 1_900);
    assertThat(scene.scheduler.stats().window()).isLessThanOrEqualTo(64);
    advanceWith(others, 110);
    assertThat(scene.fired).hasSize(1);
    assertThat(scene.fired.get(0)).startsWith("other@70");
    stuck.get(0).run();
    advanceWith(others, 30_000);
    assertThat(scene.fired).hasSize(1_001);
  }

  @Test
  void aBacklogAfterAStepBackOccupiesNoSlotOfItsHandler() {
    List<Runnable> stuck = new ArrayList<>();
    ManualExecutor others = new ManualExecutor();
    scene = withAStuckHandler(stuck, others);
    for (int i = 0; i < 10; i++) {
      scene.scheduler.schedule(
          TimerSpec.of("ns", "stuck" + i).handler("stuck").after(Duration.ofSeconds(500 + i)));
    }
    advanceWith(others, 600_000);
    scene.kit.skew(scene.scheduler, Duration.ofMinutes(-10));
    advanceWith(others, 2_000);
    scene.scheduler.schedule(
        TimerSpec.of("ns", "fresh").handler("stuck").after(Duration.ofSeconds(1)));
    stuck.get(0).run();
    advanceWith(others, 2_000);
    // The claimed ones, twice the limit, and those that are due by the new clock.
    assertThat(scene.fired).containsExactly("stuckstuck0", "stuckstuck1", "stuckfresh");
    assertThat(scene.scheduler.timer("ns", "stuck9").get().orElseThrow().state())
        .isEqualTo(TimerState.SCHEDULED);
    advanceWith(others, 600_000);
    assertThat(scene.fired).hasSize(11).doesNotHaveDuplicates();
  }

  @Test
  void attemptsClaimedDuringAStepBackAreGivenBack() {
    boolean[] goesBack = {true};
    scene.store.faults(
        changes -> {
          if (goesBack[0] && changes.get(0) instanceof Change.Begin) {
            goesBack[0] = false;
            scene.kit.skew(scene.scheduler, Duration.ofHours(-1));
          }
          return FaultyStore.Fault.NONE;
        });
    schedule("a", 10_000);
    scene.advance(20_000);
    assertThat(goesBack[0]).isFalse();
    assertThat(scene.fired).isEmpty();
    TimerInfo info = scene.scheduler.timer("ns", "a").get().orElseThrow();
    assertThat(info.state()).isEqualTo(TimerState.SCHEDULED);
    assertThat(info.fireAt()).contains(DurableTestkit.START.plusSeconds(10));
    scene.kit.skew(scene.scheduler, Duration.ZERO);
    scene.advance(5_000);
    assertThat(scene.fired).hasSize(1);
  }

  @Test
  void aClockThatGoesBackMakesNothingReadyBeforeItsTime() {
    for (int i = 0; i < 500; i++) {
      scene.scheduler.schedule(TimerSpec.of("ns", "q" + i).queue("q").after(Duration.ofHours(1)));
    }
    scene.kill();
    scene.advance(7_200_000);
    scene.reopen();
    scene.advance(1_000);
    long ready = ready();
    assertThat(ready).isBetween(90L, 110L);
    scene.kit.skew(scene.scheduler, Duration.ofHours(-2));
    scene.advance(10_000);
    assertThat(ready()).isEqualTo(ready);
    scene.advance(3_600_000);
    assertThat(ready()).isEqualTo(500);
  }

  private long ready() {
    return scene.scheduler.counts().getOrDefault("ns", Map.of()).getOrDefault(TimerState.READY, 0L);
  }

  @Test
  void overdueTimersContinueAfterAnError() {
    boolean[] fails = {false};
    scene =
        new Scene(
            builder -> {
              settings(builder);
              builder.clock(
                  () -> {
                    if (fails[0]) {
                      throw new OutOfMemoryError("injected by the test");
                    }
                    return scene.kit.now();
                  });
            });
    for (int i = 0; i < 500; i++) {
      schedule("t" + i, 1_000);
    }
    scene.kill();
    scene.advance(60_000);
    scene.reopen();
    scene.advance(1_000);
    int before = scene.fired.size();
    fails[0] = true;
    for (int i = 0; i < 150; i++) {
      assertThat(catchThrowable(() -> scene.advance(20))).isInstanceOf(AssertionError.class);
    }
    fails[0] = false;
    assertThat(scene.fired).hasSize(before);
    scene.advance(10_000);
    assertThat(scene.fired).hasSize(500).doesNotHaveDuplicates();
  }

  @Test
  void aFullWindowIsNotReadRepeatedlyWhileTheClockIsStopped() {
    ManualExecutor others = new ManualExecutor();
    scene =
        new Scene(
            builder -> {
              settings(builder);
              builder.handlerExecutor(others); // no attempt ends until the test allows it
            });
    for (int i = 0; i < 1_000; i++) {
      schedule("t" + i, 1_000);
    }
    scene.advance(1_000);
    assertThat(scene.fired).isEmpty();
    advanceWith(others, 1_000);
    assertThat(scene.fired).hasSize(1_000).doesNotHaveDuplicates();
  }

  @Test
  @Tag("promise-44")
  void aBacklogOfAStalledHandlerDoesNotDelayOtherOverdueTimers() {
    List<Runnable> stuck = new ArrayList<>();
    ManualExecutor others = new ManualExecutor();
    scene = withAStuckHandler(stuck, others);
    for (int i = 0; i < 2_000; i++) {
      scene.scheduler.schedule(
          TimerSpec.of("ns", "stuck" + i).handler("stuck").after(Duration.ofMillis(100 + i)));
      if (i % 50 == 0) { // during the backlog
        schedule("h" + i, 100 + i);
      }
    }
    advanceWith(others, 5_000);
    assertThat(scene.fired).hasSize(40).allMatch(text -> text.startsWith("h"));
    assertThat(scene.scheduler.stats().window()).isLessThanOrEqualTo(64);
    stuck.get(0).run();
    advanceWith(others, 30_000);
    assertThat(scene.fired).hasSize(2_040).doesNotHaveDuplicates();
  }

  @Test
  void aBacklogOfAStalledHandlerDoesNotDelayOthersAfterARestart() {
    List<Runnable> stuck = new ArrayList<>();
    ManualExecutor others = new ManualExecutor();
    scene = withAStuckHandler(stuck, others);
    for (int i = 0; i < 50_000; i++) {
      scene.scheduler.schedule(
          TimerSpec.of("ns", "stuck" + i).handler("stuck").after(Duration.ofSeconds(100)));
    }
    schedule("other", 101_000);
    scene.kill();
    scene.advance(200_000);
    scene.reopen();
    schedule("late", 0); // after all the others
    advanceWith(others, 2_000);
    assertThat(scene.fired).hasSize(2).anyMatch(text -> text.startsWith("other@"));
  }

  @Test
  @Tag("promise-44")
  void aClockThatGoesBackAndAheadDuringABacklogDropsNoTimer() {
    List<Runnable> stuck = new ArrayList<>();
    ManualExecutor others = new ManualExecutor();
    scene = withAStuckHandler(stuck, others);
    for (int i = 0; i < 200; i++) {
      scene.scheduler.schedule(
          TimerSpec.of("ns", "stuck" + i).handler("stuck").after(Duration.ofMillis(i)));
    }
    advanceWith(others, 5_000);
    scene.kit.skew(scene.scheduler, Duration.ofHours(1));
    advanceWith(others, 5_000);
    scene.kit.skew(scene.scheduler, Duration.ZERO);
    advanceWith(others, 5_000);
    schedule("other", 1_800_000);
    scene.kit.skew(scene.scheduler, Duration.ofHours(1));
    advanceWith(others, 10_000);
    assertThat(scene.fired).singleElement().asString().startsWith("other@");
  }

  private Scene withAStuckHandler(List<Runnable> stuck, ManualExecutor others) {
    return new Scene(
        builder -> {
          boolean[] started = new boolean[1];
          builder
              .handler("stuck", firing -> scene.fired.add("stuck" + firing.id()), 1, null)
              .maxWindow(64)
              .handlerExecutor(
                  task -> {
                    if (!started[0]) {
                      started[0] = true; // the empty task at the start
                    } else if (stuck.isEmpty()) {
                      stuck.add(task); // the first attempt does not end
                    } else {
                      others.execute(task);
                    }
                  });
        });
  }

  private void advanceWith(ManualExecutor others, long millis) {
    for (long passed = 0; passed < millis; passed += 10) {
      scene.advance(10);
      while (others.runOne()) {
        scene.kit.settle();
      }
    }
  }

  @Test
  void noRunIsMissedWithinTwiceTheLease() {
    scene =
        new Scene(
            new StoreTraits(
                1,
                1,
                10,
                Duration.ofMinutes(1),
                Duration.ZERO,
                Duration.ZERO,
                Duration.ofSeconds(10)),
            ClockJumpTest::settings);
    scene.scheduler.schedule(
        TimerSpec.of("ns", "a")
            .handler("h")
            .every(Duration.ofMinutes(10))
            .missed(MissedRuns.SKIP)
            .grace(Duration.ZERO));
    scene.advance(599_000);
    scene.kill();
    scene.advance(21_000); // 20 s late: taken over in time
    scene.reopen();
    assertThat(scene.fired).containsExactly("a@620000");
    scene.kill();
    scene.advance(601_000); // 21 s late
    scene.reopen();
    assertThat(scene.fired).hasSize(1);
  }
}
