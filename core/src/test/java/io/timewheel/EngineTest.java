// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the engine that all timers share, with two stripes and without a thread. A tick is ten
 * nanoseconds.
 */
class EngineTest {
  private final TestClock clock = new TestClock();
  private final RecordingTask task = new RecordingTask(clock);
  private final PolledTimer.Builder settings =
      PolledTimer.builder().timeSource(clock).tick(Duration.ofNanos(10));

  @Test
  void threadKeepsToOneStripeAndThreadsSpreadOverAll() {
    Engine engine = engine(4);
    List<Stripe> stripes = new ArrayList<>();

    for (int i = 0; i < 64; i++) {
      Concurrently.run(
          () -> {
            Stripe stripe = start(engine, 5).stripe;
            assertThat(start(engine, 900).stripe).isSameAs(stripe);
            stripes.add(stripe);
          });
    }

    assertThat(Set.copyOf(stripes)).hasSize(4);
    assertThat(engine.pendingTimeouts()).isEqualTo(128);
  }

  @Test
  void countsCoverAllStripes() {
    Engine engine = engine(2);
    List<Stripe> stripes = onBothStripes(engine, 3, 25);
    assertThat(engine.nextTick()).isEqualTo(3);
    assertThat(engine.pendingTimeouts()).isEqualTo(6);

    clock.advance(10);
    assertThat(engine.runDue(Integer.MAX_VALUE)).isZero();
    assertThat(engine.idleUntilTick()).isEqualTo(3);
    clock.advance(20);
    assertThat(engine.runDue(Integer.MAX_VALUE)).isEqualTo(6);
    assertThat(engine.idleUntilTick()).isEqualTo(Ticks.NEVER);

    assertThat(task.ran).extracting(ran -> ((WheelTimeout) ran).stripe).containsAll(stripes);
    assertThat(engine.stats())
        .isEqualTo(new TimerStats(0, 6, 0, 6, 0, 0, 0, 0, 5))
        .extracting(TimerStats::maxLagNanos)
        .isEqualTo(5L);
  }

  @Test
  void earliestOfTheStripesIsNext() {
    Engine engine = engine(2);
    onBothStripes(engine, 1, 500);
    assertThat(engine.nextTick()).isEqualTo(50);

    start(engine, 95); // on the stripe of this thread, whichever it is
    engine.runDue(Integer.MAX_VALUE);

    assertThat(engine.nextTick()).isEqualTo(10);
    assertThat(engine.idleUntilTick()).isEqualTo(10);
  }

  /** A stripe with many timeouts does not delay the others: each runs 64 at a time. */
  @Test
  void stripesTakeTurns() {
    Engine engine = engine(2);
    List<Stripe> stripes = onBothStripes(engine, 100, 5);

    clock.advance(10);
    assertThat(engine.runDue(Integer.MAX_VALUE)).isEqualTo(200);

    List<Integer> turns = new ArrayList<>();
    int run = 0;
    Stripe before = null;
    for (Timeout ran : task.ran) {
      Stripe stripe = ((WheelTimeout) ran).stripe;
      if (before != null && stripe != before) {
        turns.add(run);
        run = 0;
      }
      before = stripe;
      run++;
    }
    turns.add(run);
    assertThat(stripes).doesNotHaveDuplicates();
    assertThat(turns).containsExactly(64, 64, 36, 36);
  }

  /** A slot with many timeouts is opened in turns, too. */
  @Test
  void otherStripesDoNotWaitForALargeSlot() {
    List<HierarchicalWheel> wheels = new ArrayList<>();
    Engine engine =
        new Engine(
            owner(),
            settings,
            2,
            false,
            ticks -> {
              HierarchicalWheel wheel = new HierarchicalWheel(ticks);
              wheels.add(wheel);
              return wheel;
            });
    List<Boolean> opening = new ArrayList<>();
    TimerTask looks = timeout -> opening.add(wheels.stream().anyMatch(wheel -> wheel.opening != 0));
    onBothStripes(engine, 1, 65_536 * 10);
    onBothStripes(
        () -> {
          engine.start(looks, 10, TimeUnit.NANOSECONDS);
          for (int i = 0; i < 10_000; i++) {
            start(engine, 65_536 * 10 + 3_000);
          }
        });

    clock.advance(65_536 * 10);
    assertThat(engine.runDue(Integer.MAX_VALUE)).isEqualTo(4);

    assertThat(opening)
        .as("before the slot, and while that of the other stripe is opened")
        .containsExactly(false, true);
  }

  /**
   * Only the timer thread reads the clock again in each pass, because no caller waits for it to
   * return.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void timeoutDueDuringALongRunDoesNotWaitForItsEnd(boolean ownsThread) {
    Engine engine = new Engine(owner(), settings, 2, ownsThread, this::wheel);
    List<String> ran = new ArrayList<>();
    List<Runnable> each =
        List.of(
            () -> {
              engine.start(timeout -> clock.advance(10), 5, TimeUnit.NANOSECONDS);
              for (int i = 0; i < 500; i++) {
                engine.start(timeout -> ran.add("crowd"), 5, TimeUnit.NANOSECONDS);
              }
            },
            () -> engine.start(timeout -> ran.add("other"), 15, TimeUnit.NANOSECONDS));
    onBothStripes(each);
    clock.advance(10);

    engine.runDue(Integer.MAX_VALUE);

    if (ownsThread) {
      assertThat(ran.indexOf("other")).isBetween(63, 128);
    } else {
      assertThat(ran).hasSize(500).doesNotContain("other");
    }
  }

  /** The other stripes may not need memory. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void stripeThatLacksMemoryDoesNotKeepTheOthersFromRunning(boolean first) {
    AtomicBoolean lacksMemory = new AtomicBoolean();
    HierarchicalWheel.SlotFactory factory =
        (index, startTick) -> {
          if (lacksMemory.get()) {
            throw new OutOfMemoryError("injected");
          }
          return new Slot(index, startTick);
        };
    Engine engine =
        new Engine(
            owner(),
            settings,
            2,
            false,
            ticks -> new HierarchicalWheel(ticks, HierarchicalWheel.LARGE_SLOT, factory));
    Runnable needsSlots = () -> start(engine, 300 * 10);
    Runnable needsNone = () -> start(engine, 200 * 10);
    onBothStripes(first ? List.of(needsSlots, needsNone) : List.of(needsNone, needsSlots));
    clock.advance(400 * 10);
    lacksMemory.set(true);

    assertThatExceptionOfType(OutOfMemoryError.class)
        .isThrownBy(() -> engine.runDue(Integer.MAX_VALUE));
    assertThat(task.runs()).isEqualTo(1);

    lacksMemory.set(false);
    assertThat(engine.runDue(Integer.MAX_VALUE)).isEqualTo(1);
  }

  @Test
  void runDueResumesAfterItsLimit() {
    Engine engine = engine(2);
    onBothStripes(engine, 100, 5);
    clock.advance(10);

    assertThat(engine.runDue(0)).isZero();
    assertThat(engine.runDue(1)).isEqualTo(1);
    assertThat(engine.runDue(64)).isEqualTo(64);
    assertThat(engine.runDue(70)).isEqualTo(70);
    assertThat(task.runs()).isEqualTo(135);
    assertThat(engine.pendingTimeouts()).isEqualTo(65);
    assertThat(engine.runDue(1_000)).isEqualTo(65);
    assertThat(engine.runDue(1_000)).isZero();
  }

  /** Otherwise, a task that starts another one without delay would never let the others run. */
  @Test
  void timeoutStartedByATaskDoesNotRunInTheSamePass() {
    Engine engine = engine(1);
    engine.start(timeout -> start(engine, 0), 5, TimeUnit.NANOSECONDS);
    clock.advance(10);

    assertThat(engine.runDue(Integer.MAX_VALUE)).isEqualTo(1);
    assertThat(task.runs()).isZero();
    clock.advance(10);
    assertThat(engine.runDue(Integer.MAX_VALUE)).isEqualTo(1);
    assertThat(task.ranAtNanos).containsExactly(20L);
  }

  @Test
  void maxLagIsTheLongestSeen() {
    Engine engine = engine(1);
    start(engine, 5);
    start(engine, 25);
    clock.advance(18);
    engine.runDue(Integer.MAX_VALUE);
    assertThat(engine.stats().maxLagNanos()).isEqualTo(13);

    clock.advance(12);
    engine.runDue(Integer.MAX_VALUE);
    assertThat(engine.stats().maxLagNanos()).as("a lag of 5 is not a new maximum").isEqualTo(13);
  }

  @Test
  void nullArgumentsAreRefusedByNameWithoutSideEffects() {
    Engine engine = engine(1);

    assertThatNullPointerException()
        .isThrownBy(() -> engine.start(null, 1, TimeUnit.SECONDS))
        .withMessage("task");
    assertThatNullPointerException()
        .isThrownBy(() -> engine.start(task, 1, null))
        .withMessage("unit");
    assertThat(engine.stats().started()).isZero();
  }

  @Test
  void limitCountsAllStripes() {
    settings.maxPendingTimeouts(4);
    Engine engine = engine(2);
    onBothStripes(engine, 2, 5);

    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> start(engine, 5))
        .withMessage("pending timeouts: 4 (expected: less than maxPendingTimeouts, 4)");
    assertThat(engine.stats().started()).isEqualTo(4);

    clock.advance(10);
    assertThat(engine.runDue(1)).isEqualTo(1);
    WheelTimeout again = start(engine, 5);
    assertThat(again.cancel()).isTrue();
    start(engine, 5);
    assertThat(engine.pendingTimeouts()).isEqualTo(4);
  }

  @Test
  void limitOfZeroOrLessIsNone() {
    for (long none : new long[] {0, -1, Long.MIN_VALUE}) {
      Engine engine = new Engine(owner(), settings.maxPendingTimeouts(none), 1, false, this::wheel);
      start(engine, 5).cancel();
      start(engine, 5);
      assertThat(engine.pendingTimeouts()).isEqualTo(1);
    }
  }

  @Test
  @Tag("promise-21")
  void interruptOfATaskStaysOnACallersThread() {
    Engine engine = engine(1);
    engine.start(timeout -> Thread.currentThread().interrupt(), 5, TimeUnit.NANOSECONDS);
    clock.advance(10);

    engine.runDue(Integer.MAX_VALUE);

    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void interruptOfATaskDoesNotReachTheNextOnTheTimerThread() {
    Engine engine = new Engine(owner(), settings, 1, true, this::wheel);
    List<Boolean> interrupted = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      engine.start(
          timeout -> {
            interrupted.add(Thread.currentThread().isInterrupted());
            Thread.currentThread().interrupt();
          },
          5,
          TimeUnit.NANOSECONDS);
    }
    clock.advance(10);

    engine.runDue(Integer.MAX_VALUE);

    assertThat(interrupted).containsExactly(false, false);
    assertThat(Thread.interrupted()).isFalse();
  }

  private Engine engine(int stripes) {
    return new Engine(owner(), settings, stripes, false, this::wheel);
  }

  private Wheel wheel(Ticks ticks) {
    return new HierarchicalWheel(ticks);
  }

  private PolledTimer owner() {
    return PolledTimer.builder().timeSource(clock).build();
  }

  private WheelTimeout start(Engine engine, long delayNanos) {
    return (WheelTimeout) engine.start(task, delayNanos, TimeUnit.NANOSECONDS);
  }

  /** Starts the same number of timeouts on each of two stripes. */
  private List<Stripe> onBothStripes(Engine engine, int timeouts, long delayNanos) {
    List<Stripe> stripes = new ArrayList<>();
    onBothStripes(
        () -> {
          stripes.add(start(engine, delayNanos).stripe);
          for (int i = 1; i < timeouts; i++) {
            start(engine, delayNanos);
          }
        });
    return stripes;
  }

  private void onBothStripes(Runnable each) {
    onBothStripes(List.of(each, each));
  }

  /**
   * Runs an action for each of two stripes on its own thread. Tries threads until it finds one for
   * each stripe.
   */
  private void onBothStripes(List<Runnable> each) {
    Engine probe = new Engine(owner(), PolledTimer.builder(), 2, false, this::wheel);
    Set<Stripe> probed = new HashSet<>();
    while (probed.size() < 2) {
      Concurrently.run(
          () -> {
            if (probed.add(start(probe, 1).stripe)) {
              each.get(probed.size() - 1).run();
            }
          });
    }
  }
}
