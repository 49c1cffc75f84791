// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.testing.Await;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the timers on the clock of the machine. A machine may be slow, so there are no checks of
 * lag. The tests verify that no task runs early, that each runs once, and that all run.
 */
class SystemClockTest {
  private static final int TIMEOUTS = 3_000;

  private final TimeSource clock = TimeSource.system();
  private final RecordingTask task = new RecordingTask(clock);

  @Test
  void timeSourceIsTheNanoTimeOfTheSystem() {
    long before = System.nanoTime();
    long reading = clock.nanoTime();
    long after = System.nanoTime();

    assertThat(reading - before).isNotNegative();
    assertThat(after - reading).isNotNegative();
  }

  /** Parking may end early at any time. For a time in the past, it ends at once. */
  @Test
  void parkingEnds() {
    clock.parkUntil(clock.nanoTime() - 1, this);
    clock.parkUntil(clock.nanoTime() + 1_000, this);

    long deadlineNanos = clock.nanoTime() + 2_000_000;
    while (clock.nanoTime() - deadlineNanos < 0) {
      clock.parkUntil(deadlineNanos, this);
    }
  }

  @Test
  void hashedTimerIsNeverEarly() {
    try (HashedWheelTimer timer =
        HashedWheelTimer.builder().tick(Duration.ofMillis(1)).ticksPerWheel(64).build()) {
      startAll(timer);
      task.awaitRuns(TIMEOUTS);
      assertAllRanOnceAndNotEarly(timer);
    }
  }

  @Test
  @Tag("promise-2")
  void hierarchicalTimerIsNeverEarly() {
    try (HierarchicalWheelTimer timer = HierarchicalWheelTimer.create()) {
      startAll(timer);
      task.awaitRuns(TIMEOUTS);
      assertAllRanOnceAndNotEarly(timer);
    }
  }

  @Test
  void tickOf100MicrosWorks() {
    try (HierarchicalWheelTimer timer =
        HierarchicalWheelTimer.builder().tick(Duration.ofNanos(100_000)).build()) {
      startAll(timer);
      task.awaitRuns(TIMEOUTS);
      assertAllRanOnceAndNotEarly(timer);
    }
  }

  @Test
  void polledTimerIsNeverEarly() {
    try (PolledTimer timer = PolledTimer.create()) {
      startAll(timer);
      Await.until(
          "all to run",
          () -> {
            timer.poll();
            return task.runs() == TIMEOUTS;
          });
      assertAllRanOnceAndNotEarly(timer);
    }
  }

  /** Starts timeouts of 1 to 150 ms. A third is moved once, a few are cancelled. */
  private void startAll(Timer timer) {
    Random random = new Random(7);
    for (int i = 0; i < TIMEOUTS; i++) {
      Timeout timeout = timer.newTimeout(task, micros(random), TimeUnit.MICROSECONDS);
      if (i % 3 == 0) {
        timeout.reschedule(micros(random), TimeUnit.MICROSECONDS);
      }
      if (i % 100 == 0) {
        timer.newTimeout(task, 1, TimeUnit.HOURS).cancel();
      }
    }
  }

  private static long micros(Random random) {
    return 1_000L + random.nextInt(149_000);
  }

  private void assertAllRanOnceAndNotEarly(Timer timer) {
    assertThat(task.lagsNanos).hasSize(TIMEOUTS).allMatch(lagNanos -> lagNanos >= 0);
    assertThat(task.ran).doesNotHaveDuplicates();
    assertThat(timer.pendingTimeouts()).isZero();
    assertThat(timer.stats().expired()).isEqualTo(TIMEOUTS);
  }
}
