// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.testing.Await;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests when the thread of a timer wakes, and when it does not. A tick is one millisecond. */
class WorkerTest {
  private final TestClock clock = new TestClock();
  private final RecordingTask task = new RecordingTask(clock);
  private final HierarchicalWheelTimer timer =
      HierarchicalWheelTimer.builder().timeSource(clock).build();

  @AfterEach
  void stop() {
    timer.stop();
  }

  @Test
  void sleepsForeverIfNothingIsEverDue() {
    idle();

    clock.advance(Duration.ofDays(365));

    assertThat(clock.parks()).isEqualTo(1);
    assertThat(timer.stats().wakeups()).isZero();
  }

  @Test
  void wakesAtTheTickOfTheDeadline() {
    idle();
    start(5_500);
    clock.awaitSleepUntil(millis(6));
    long wakeups = timer.stats().wakeups();

    clock.advance(micros(5_999));
    assertThat(timer.stats().wakeups()).isEqualTo(wakeups);
    clock.advance(micros(1));
    task.awaitRun();
    clock.awaitSleepForever();

    assertThat(task.ranAtNanos).containsExactly(millis(6).toNanos());
    assertThat(timer.stats().wakeups()).isEqualTo(wakeups + 1);
  }

  /** Time passes in many small steps with many timeouts pending, and no thread wakes. */
  @Test
  @Tag("promise-27")
  void sleepsWhileTimePassesHoweverManyArePending() {
    idle();
    Duration first = Duration.ofHours(1);
    for (int i = 0; i < 100_000; i++) {
      timer.newTimeout(task, first.plusMillis(i * 7L));
    }
    clock.awaitSleepUntil(first);
    long wakeups = timer.stats().wakeups();
    long parks = clock.parks();

    for (int step = 0; step < 35_999; step++) {
      clock.advance(millis(100));
    }

    assertThat(timer.stats().wakeups()).isEqualTo(wakeups);
    assertThat(clock.parks()).isEqualTo(parks);
    assertThat(timer.pendingTimeouts()).isEqualTo(100_001);

    clock.advance(millis(100));
    task.awaitRun();
    clock.awaitSleepUntil(first.plusMillis(7));
    assertThat(timer.stats().wakeups()).isEqualTo(wakeups + 1);
  }

  /**
   * The last timeout of the large slot wakes the thread, which plans the opening. After the
   * opening, it sleeps again.
   */
  @Test
  void wakesTwoSecondsAheadToOpenALargeSlot() {
    idle();
    Duration due = Duration.ofSeconds(100); // in the slot of 65.536 s
    timer.newTimeout(task, due);
    clock.awaitSleepUntil(due);

    for (int i = 1; i < HierarchicalWheel.LARGE_SLOT; i++) {
      timer.newTimeout(task, due.plusMillis(i));
    }
    clock.awaitSleepUntil(millis(65_536 - 2_000));

    clock.advance(millis(65_536 - 2_000));
    clock.awaitSleepUntil(due);
    assertThat(task.runs()).isZero();
    clock.advance(due.minus(millis(65_536 - 2_000)));
    task.awaitRun();
  }

  /**
   * Makes many calls that must not wake the timer thread, and then one that must. If any other call
   * had woken it, there would be more than one wake-up.
   */
  @Test
  @Tag("promise-27")
  void laterTimeoutsDoNotWakeItAndAnEarlierOneDoesOnce() {
    idle();
    start(5_000);
    clock.awaitSleepUntil(millis(5));
    long wakeups = timer.stats().wakeups();

    for (int i = 0; i < 10_000; i++) {
      start(5_000 + i);
    }
    start(2_000);
    clock.awaitSleepUntil(millis(2));

    assertThat(timer.stats().wakeups()).isEqualTo(wakeups + 1);
  }

  @Test
  @Tag("promise-27")
  void cancellingDoesNotWakeIt() {
    idle();
    List<Timeout> timeouts = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      timeouts.add(start(5_000 + i));
    }
    clock.awaitSleepUntil(millis(5));
    long wakeups = timer.stats().wakeups();

    timeouts.forEach(Timeout::cancel);
    start(2_000);
    clock.awaitSleepUntil(millis(2));

    assertThat(timer.stats().wakeups()).isEqualTo(wakeups + 1);
    assertThat(timer.pendingTimeouts()).isEqualTo(2);
  }

  @Test
  void reschedulingLaterDoesNotWakeItAndReschedulingEarlierDoes() {
    idle();
    Timeout timeout = start(5_000);
    Timeout other = start(9_000);
    clock.awaitSleepUntil(millis(5));
    long wakeups = timer.stats().wakeups();

    for (int i = 0; i < 10_000; i++) {
      assertThat(timeout.reschedule(6 + i, TimeUnit.MILLISECONDS)).isTrue();
    }
    assertThat(other.reschedule(2, TimeUnit.MILLISECONDS)).isTrue();
    clock.awaitSleepUntil(millis(2));
    assertThat(timer.stats().wakeups()).isEqualTo(wakeups + 1);

    clock.advance(millis(2));
    task.awaitRun();
    assertThat(task.ran).containsExactly(other);
  }

  @Test
  void timeoutMovedLaterRunsAtItsNewDeadline() {
    idle();
    Timeout timeout = start(5_000);
    clock.awaitSleepUntil(millis(5));
    timeout.reschedule(8, TimeUnit.MILLISECONDS);

    clock.advance(millis(5));
    clock.awaitSleepUntil(millis(8));
    assertThat(task.runs()).isZero();

    clock.advance(millis(3));
    task.awaitRun();
    assertThat(task.ranAtNanos).containsExactly(millis(8).toNanos());
  }

  /** A timeout that became due while a task ran is run before the timer thread parks again. */
  @Test
  void looksAtTheClockAgainAfterALongTask() {
    idle();
    start(8_000);
    timer.newTimeout(timeout -> clock.advance(millis(10)), 5, TimeUnit.MILLISECONDS);
    clock.awaitSleepUntil(millis(5));
    long parks = clock.parks();

    clock.advance(millis(5));
    task.awaitRun();
    clock.awaitSleepForever();

    assertThat(task.ranAtNanos).containsExactly(millis(15).toNanos());
    assertThat(clock.parks()).isEqualTo(parks + 1);
  }

  @Test
  void runsTimeoutsStartedByTasks() {
    idle();
    timer.newTimeout(
        timeout -> timer.newTimeout(task, 2, TimeUnit.MILLISECONDS), 5, TimeUnit.MILLISECONDS);
    clock.awaitSleepUntil(millis(5));

    clock.advance(millis(5));
    clock.awaitSleepUntil(millis(7));
    clock.advance(millis(2));

    task.awaitRun();
    assertThat(task.ranAtNanos).containsExactly(millis(7).toNanos());
  }

  @Test
  @Tag("promise-21")
  void interruptFromOutsideWakesItWithoutOtherEffects() {
    Queue<Boolean> flags = new ConcurrentLinkedQueue<>();
    Thread worker = idle();
    CountDownLatch ran = new CountDownLatch(1);
    timer.newTimeout(
        timeout -> {
          flags.add(Thread.currentThread().isInterrupted());
          ran.countDown();
        },
        5,
        TimeUnit.MILLISECONDS);
    clock.awaitSleepUntil(millis(5));
    long parks = clock.parks();

    worker.interrupt();
    Await.until("another park", () -> clock.parks() > parks);
    clock.awaitSleepUntil(millis(5));
    clock.advance(millis(5));
    Await.zero(ran);

    assertThat(flags).containsExactly(false);
    assertThat(worker.isInterrupted()).isFalse();
  }

  /**
   * While the interrupt status is set, no thread can park, and the timer thread would spin. An
   * interrupt leaves the permit of an unpark behind, so the timer thread may look once more than
   * necessary.
   */
  @Test
  @Tag("promise-21")
  void taskThatSetsTheInterruptStatusHasNoOtherEffect() {
    idle();
    timer.newTimeout(timeout -> Thread.currentThread().interrupt(), 5, TimeUnit.MILLISECONDS);
    timer.newTimeout(
        timeout -> {
          if (!Thread.currentThread().isInterrupted()) {
            task.run(timeout);
          }
        },
        5,
        TimeUnit.MILLISECONDS);
    clock.awaitSleepUntil(millis(5));
    long parks = clock.parks();

    clock.advance(millis(5));
    task.awaitRun();
    clock.awaitSleepForever();

    assertThat(clock.parks()).isBetween(parks + 1, parks + 2);
  }

  @Test
  void threadDumpShowsWhichTimerWaits() {
    Thread worker = idle();

    assertThat(LockSupport.getBlocker(worker)).isInstanceOf(Worker.class);
    assertThat(timer).hasToString("HierarchicalWheelTimer(" + worker.getName() + ")");
  }

  /** Starts the timer thread with a timeout that never fires, and waits until it sleeps forever. */
  private Thread idle() {
    timer.newTimeout(task, Long.MAX_VALUE, TimeUnit.DAYS);
    clock.awaitSleepForever();
    return clock.sleeper();
  }

  private Timeout start(long delayMicros) {
    return timer.newTimeout(task, delayMicros, TimeUnit.MICROSECONDS);
  }

  private static Duration millis(long millis) {
    return Duration.ofMillis(millis);
  }

  private static Duration micros(long micros) {
    return Duration.of(micros, ChronoUnit.MICROS);
  }
}
