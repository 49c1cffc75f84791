// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static io.timewheel.testkit.Contracts.SEED;
import static io.timewheel.testkit.Contracts.assertPending;
import static io.timewheel.testkit.Contracts.assertRan;
import static io.timewheel.testkit.Contracts.micros;
import static io.timewheel.testkit.Contracts.millis;
import static io.timewheel.testkit.Contracts.startIn;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The contract of firing: at the first tick at or after the deadline, once, in the order of ticks.
 */
interface FiringContract extends TimeScript {
  @Test
  @Tag("promise-1")
  default void runsOnceAtItsDeadline() {
    Timer timer = timer();
    Timeout timeout = startIn(timer, millis(100), new Probe());
    assertPending(timeout);
    advanceUntil(millis(99));
    assertPending(timeout);
    advanceUntil(millis(100));
    assertRan(timeout);
    advanceUntil(millis(1_000));
    assertRan(timeout);
  }

  @Test
  @Tag("promise-3")
  default void ticksMayBeShort() {
    Timer timer = timer(settings().withTick(micros(100)));
    Timeout timeout = startIn(timer, micros(500), new Probe());
    advanceUntil(micros(499));
    assertPending(timeout);
    advanceUntil(micros(500));
    assertRan(timeout);
  }

  @Test
  @Tag("promise-2")
  default void neverEarlyAndAtTheFirstTickAtOrAfterRandomDeadlines() {
    Timer timer = timer();
    Random random = new Random(SEED);
    List<Timeout> timeouts = new ArrayList<>();
    List<Duration> ticks = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      if (i % 20 == 0) {
        advanceBy(Duration.ofNanos(random.nextInt(2_000_000)));
      }
      Duration delay = Duration.ofNanos(1 + random.nextInt(400_000_000));
      timeouts.add(startIn(timer, delay, new Probe()));
      long deadlineNanos = elapsed().plus(delay).toNanos();
      ticks.add(millis((deadlineNanos + 999_999) / 1_000_000));
    }
    assertFiringTicks(timeouts, ticks, random);
  }

  /** Advances in random steps, most of them shorter than a tick, and checks after each. */
  private void assertFiringTicks(List<Timeout> timeouts, List<Duration> ticks, Random random) {
    Duration end = Collections.max(ticks);
    while (elapsed().compareTo(end) < 0) {
      advanceBy(Duration.ofNanos(1 + random.nextInt(1_500_000)));
      for (int i = 0; i < timeouts.size(); i++) {
        if (ticks.get(i).compareTo(elapsed()) <= 0) {
          assertRan(timeouts.get(i));
        } else {
          assertPending(timeouts.get(i));
        }
      }
    }
  }

  @Test
  @Tag("promise-8")
  default void timeoutsOfOneThreadRunInTheOrderOfTheirTicks() {
    Timer timer = timer();
    Random random = new Random(SEED);
    List<Integer> ran = Collections.synchronizedList(new ArrayList<>());
    for (int i = 0; i < 1_000; i++) {
      int tick = 1 + random.nextInt(5_000);
      startIn(timer, millis(tick), timeout -> ran.add(tick));
    }
    advanceUntil(millis(5_000));
    List<Integer> sorted = new ArrayList<>(ran);
    Collections.sort(sorted);
    assertEquals(1_000, ran.size());
    assertEquals(sorted, ran);
  }

  @Test
  default void timeoutsTurnsApartFireAtTheirOwnTicks() {
    Timer timer = timer();
    List<Integer> distances =
        List.of(5, 69, 133, 261, 517, 1_029, 4_101, 65_541, 262_149, 16_777_221);
    List<Timeout> timeouts = new ArrayList<>();
    for (int distance : distances) {
      timeouts.add(startIn(timer, millis(distance), new Probe()));
    }
    for (int i = 0; i < distances.size(); i++) {
      advanceUntil(millis(distances.get(i)).minusNanos(1));
      assertPending(timeouts.get(i));
      advanceUntil(millis(distances.get(i)));
      assertRan(timeouts.get(i));
    }
  }

  @Test
  @Tag("promise-7")
  default void aJumpOfHoursRunsDueTimeoutsOnly() {
    Timer timer = timer();
    List<Timeout> due = new ArrayList<>();
    List<Timeout> later = new ArrayList<>();
    for (int minutes = 1; minutes <= 300; minutes++) {
      due.add(startIn(timer, Duration.ofMinutes(minutes), new Probe()));
      later.add(startIn(timer, Duration.ofMinutes(300 + minutes), new Probe()));
    }
    advanceUntil(Duration.ofHours(5).plusSeconds(1));
    due.forEach(Contracts::assertRan);
    later.forEach(Contracts::assertPending);
    Timeout next = startIn(timer, millis(7), new Probe());
    advanceBy(millis(6));
    assertPending(next);
    advanceBy(millis(1));
    assertRan(next);
  }

  @Test
  default void aShortDelayAfterAnIdleHourIsExact() {
    Timer timer = timer();
    advanceUntil(millis(3));
    Timeout first = startIn(timer, millis(1), new Probe());
    advanceUntil(Duration.ofHours(1));
    assertRan(first);
    Timeout timeout = startIn(timer, millis(5), new Probe());
    advanceUntil(Duration.ofHours(1).plusMillis(4));
    assertPending(timeout);
    advanceUntil(Duration.ofHours(1).plusMillis(5));
    assertRan(timeout);
  }

  @Test
  default void runsAHundredThousandTimeoutsOfOneTick() {
    Timer timer = timer(settings().withTick(millis(200)));
    List<Timeout> timeouts = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      timeouts.add(startIn(timer, millis(125), new Probe()));
    }
    advanceUntil(millis(200).minusNanos(1));
    timeouts.forEach(Contracts::assertPending);
    advanceUntil(millis(200));
    timeouts.forEach(Contracts::assertRan);
  }

  @Test
  default void restartedTaskKeepsItsPeriodOverTurns() {
    Timer timer = timer();
    Probe probe = new Probe(timeout -> startIn(timeout.timer(), millis(50), timeout.task()));
    startIn(timer, millis(50), probe);
    for (int run = 1; run <= 20; run++) {
      advanceTickwiseUntil(millis(50L * run).minusNanos(1));
      assertEquals(run - 1, probe.runs());
      advanceUntil(millis(50L * run));
      assertEquals(run, probe.runs());
    }
  }

  @Test
  default void taskRestartedWithoutDelayRunsOncePerTick() {
    Timer timer = timer();
    Probe probe =
        new Probe(timeout -> timeout.timer().newTimeout(timeout.task(), 0, TimeUnit.MILLISECONDS));
    startIn(timer, Duration.ZERO, probe);
    for (int tick = 1; tick <= 100; tick++) {
      advanceUntil(millis(tick));
      assertEquals(tick, probe.runs());
    }
  }

  @Test
  default void delaysOfATaskCountFromItsTick() {
    Timer timer = timer();
    List<Timeout> started = Collections.synchronizedList(new ArrayList<>());
    for (int i = 0; i < 100; i++) {
      startIn(
          timer,
          millis(10),
          timeout -> started.add(startIn(timeout.timer(), millis(1), new Probe())));
    }
    advanceUntil(millis(10));
    assertEquals(100, started.size());
    started.forEach(Contracts::assertPending);
    advanceUntil(millis(11));
    started.forEach(Contracts::assertRan);
  }
}
