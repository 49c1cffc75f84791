// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static io.timewheel.testkit.Contracts.SEED;
import static io.timewheel.testkit.Contracts.TICK;
import static io.timewheel.testkit.Contracts.assertCancelled;
import static io.timewheel.testkit.Contracts.assertPending;
import static io.timewheel.testkit.Contracts.assertRan;
import static io.timewheel.testkit.Contracts.millis;
import static io.timewheel.testkit.Contracts.startIn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The contract of rescheduling: the old deadline no longer counts, and the timeout stays the same
 * object.
 */
interface ReschedulingContract extends TimeScript {
  @Test
  default void reschedulingLaterFiresAtTheNewDeadlineOnly() {
    Timer timer = timer();
    Timeout timeout = startIn(timer, millis(100), new Probe());
    advanceUntil(millis(99));
    assertTrue(timeout.reschedule(200, TimeUnit.MILLISECONDS));
    assertEquals(200, timeout.remaining(TimeUnit.MILLISECONDS));
    advanceUntil(millis(298));
    assertPending(timeout);
    advanceUntil(millis(299));
    assertRan(timeout);
    advanceUntil(millis(1_000));
    assertRan(timeout);
  }

  @Test
  default void reschedulingEarlierFiresAtTheNewDeadlineOnly() {
    Timer timer = timer();
    Timeout timeout = startIn(timer, Duration.ofHours(1), new Probe());
    advanceUntil(millis(10));
    assertTrue(timeout.reschedule(millis(5)));
    advanceUntil(millis(14));
    assertPending(timeout);
    advanceUntil(millis(15));
    assertRan(timeout);
    advanceUntil(Duration.ofHours(2));
    assertRan(timeout);
  }

  @Test
  default void reschedulingWithinATickKeepsTheTick() {
    Timer timer = timer(settings().withTick(millis(10)));
    Timeout timeout = startIn(timer, millis(12), new Probe());
    assertTrue(timeout.reschedule(millis(18)));
    assertEquals(18, timeout.remaining(TimeUnit.MILLISECONDS));
    advanceUntil(millis(19));
    assertPending(timeout);
    advanceUntil(millis(20));
    assertRan(timeout);
  }

  @Test
  default void postponedRepeatedlyRunsOnceAtTheLastDeadline() {
    Timer timer = timer();
    Timeout timeout = startIn(timer, millis(30), new Probe());
    for (int i = 1; i <= 300; i++) {
      advanceUntil(millis(i));
      assertTrue(timeout.reschedule(millis(30)));
    }
    assertEquals(1, timer.pendingTimeouts());
    advanceUntil(millis(329));
    assertPending(timeout);
    advanceUntil(millis(330));
    assertRan(timeout);
  }

  @Test
  @Tag("promise-13")
  default void movedAtRandomEachRunsAtTheTickOfItsLastDeadline() {
    Timer timer = timer();
    Random random = new Random(SEED);
    List<Timeout> timeouts = new ArrayList<>();
    long[] ticks = new long[200];
    for (int i = 0; i < ticks.length; i++) {
      timeouts.add(startIn(timer, millis(1 + random.nextInt(300)), new Probe()));
    }
    for (int now = 0; now < 20; now++) {
      for (int i = 0; i < ticks.length; i++) {
        long delay = 20L + random.nextInt(random.nextBoolean() ? 20 : 5_000);
        assertTrue(timeouts.get(i).reschedule(millis(delay)));
        ticks[i] = now + delay;
      }
      advanceBy(TICK);
    }
    for (int now = 20; now <= 6_000; now += random.nextInt(20)) {
      advanceUntil(millis(now));
      for (int i = 0; i < ticks.length; i++) {
        if (ticks[i] <= now) {
          assertRan(timeouts.get(i));
        } else {
          assertPending(timeouts.get(i));
        }
      }
    }
  }

  @Test
  default void rescheduleIsFalseOnceExpired() {
    Timer timer = timer();
    Timeout timeout = startIn(timer, millis(10), new Probe());
    advanceUntil(millis(10));
    assertFalse(timeout.reschedule(millis(10)));
    assertEquals(0, timer.pendingTimeouts());
    assertEquals(0, timer.stats().rescheduled());
    advanceUntil(millis(100));
    assertRan(timeout);
  }

  @Test
  default void rescheduleIsFalseOnceCancelled() {
    Timer timer = timer();
    Timeout timeout = startIn(timer, millis(10), new Probe());
    timeout.cancel();
    assertFalse(timeout.reschedule(millis(10)));
    assertEquals(0, timer.pendingTimeouts());
    advanceUntil(millis(100));
    assertCancelled(timeout);
  }

  @Test
  @Tag("promise-13")
  default void rescheduleInsideItsOwnTaskRearmsIt() {
    Timer timer = timer();
    long startNanos = timer.timeSource().nanoTime();
    List<Long> runs = new ArrayList<>();
    Timeout timeout =
        startIn(
            timer,
            millis(10),
            self -> {
              runs.add(TimeUnit.NANOSECONDS.toMillis(timer.timeSource().nanoTime() - startNanos));
              if (runs.size() < 3) {
                assertTrue(self.reschedule(millis(20)), "reschedule() inside the task");
                assertFalse(self.isExpired(), "isExpired() of a re-armed timeout");
                assertEquals(20, self.remaining(TimeUnit.MILLISECONDS));
                assertEquals(1, timer.pendingTimeouts());
              }
            });
    advanceUntil(millis(10));
    assertFalse(timeout.isExpired());
    advanceUntil(millis(29));
    assertEquals(1, runs.size());
    advanceUntil(millis(30));
    assertEquals(2, runs.size());
    advanceTickwiseUntil(millis(200));
    assertEquals(List.of(10L, 30L, 50L), runs);
    assertTrue(timeout.isExpired());
    assertEquals(0, timer.pendingTimeouts());
    assertEquals(3, timer.stats().started());
    assertEquals(3, timer.stats().expired());
    assertEquals(0, timer.stats().rescheduled());
    assertEquals(0, timer.stats().failed());
  }

  @Test
  default void aRearmedTimeoutCanBeMovedAndCancelled() {
    Timer timer = timer();
    AtomicInteger runs = new AtomicInteger();
    AtomicBoolean cancelled = new AtomicBoolean();
    TimerTask task =
        self -> {
          if (runs.incrementAndGet() == 1) {
            assertTrue(self.reschedule(millis(10)) && self.reschedule(millis(40)));
          } else {
            cancelled.set(self.reschedule(millis(10)) && self.cancel());
          }
        };
    Timeout timeout = startIn(timer, millis(10), task);
    advanceUntil(millis(10));
    advanceUntil(millis(49));
    assertEquals(1, runs.get());
    advanceUntil(millis(50));
    assertEquals(2, runs.get());
    assertTrue(cancelled.get(), "cancel() of a re-armed timeout");
    assertTrue(timeout.isCancelled());
    advanceUntil(millis(500));
    assertEquals(2, runs.get());
    assertEquals(1, timer.stats().cancelled());
  }

  @Test
  @Tag("promise-18")
  default void rearmingIgnoresTheLimit() {
    Timer timer = timer(settings().withLimit(1));
    AtomicBoolean rearmed = new AtomicBoolean();
    startIn(
        timer,
        millis(10),
        self -> {
          if (!rearmed.get()) {
            startIn(timer, millis(1), new Probe()); // uses up the limit
            rearmed.set(self.reschedule(millis(20)));
          }
        });
    advanceUntil(millis(10));
    assertTrue(rearmed.get(), "reschedule() at the limit");
    assertEquals(2, timer.pendingTimeouts());
    assertThrows(RejectedExecutionException.class, () -> startIn(timer, millis(1), new Probe()));
    advanceUntil(millis(100));
    assertEquals(0, timer.pendingTimeouts());
    startIn(timer, millis(1), new Probe());
  }

  @Test
  @Tag("promise-13")
  default void onlyTheThreadThatRunsTheTaskCanRearmIt() {
    Timer timer = timer();
    AtomicBoolean elsewhere = new AtomicBoolean(true);
    startIn(
        timer,
        millis(10),
        self -> {
          Thread other = new Thread(() -> elsewhere.set(self.reschedule(millis(10))));
          other.start();
          other.join();
        });
    advanceUntil(millis(10));
    assertFalse(elsewhere.get(), "reschedule() on another thread");
    assertEquals(0, timer.pendingTimeouts());
  }

  @Test
  @Tag("promise-13")
  default void stopReturnsRearmedTimeoutsAndPreventsRearming() {
    Queue<Runnable> work = new ArrayDeque<>();
    Timer timer = timer(settings().withExecutor(work::add));
    AtomicBoolean late = new AtomicBoolean(true);
    Timeout rearmed = startIn(timer, millis(10), self -> self.reschedule(millis(10)));
    startIn(
        timer,
        millis(10),
        self -> {
          assertEquals(Set.of(rearmed), timer.stop());
          late.set(self.reschedule(millis(10)));
        });
    advanceUntil(millis(10));
    while (!work.isEmpty()) {
      work.remove().run();
    }
    assertTrue(rearmed.isCancelled());
    assertFalse(late.get(), "reschedule() after stop()");
    assertEquals(0, timer.pendingTimeouts());
  }

  @Test
  default void rescheduledByAnotherTask() {
    Timer timer = timer();
    Timeout postponed = startIn(timer, millis(20), new Probe());
    Timeout hastened = startIn(timer, Duration.ofHours(1), new Probe());
    startIn(
        timer,
        millis(10),
        timeout -> assertTrue(postponed.reschedule(millis(30)) && hastened.reschedule(millis(1))));
    advanceUntil(millis(10));
    assertPending(hastened);
    advanceUntil(millis(11));
    assertRan(hastened);
    advanceUntil(millis(39));
    assertPending(postponed);
    advanceUntil(millis(40));
    assertRan(postponed);
  }

  @Test
  default void reschedulingWithoutDelayFiresAtTheNextTick() {
    Timer timer = timer();
    for (long delay : new long[] {0, -1, -5_000, Long.MIN_VALUE}) {
      Timeout timeout = startIn(timer, Duration.ofHours(1), new Probe());
      assertTrue(timeout.reschedule(delay, TimeUnit.MILLISECONDS));
      assertPending(timeout);
      advanceBy(TICK.minusNanos(1));
      assertPending(timeout);
      advanceBy(Duration.ofNanos(1));
      assertRan(timeout);
    }
  }

  @Test
  default void rescheduledBeyond292YearsNeverRunsUntilMovedAgain() {
    Timer timer = timer();
    advanceUntil(millis(5));
    Timeout timeout = startIn(timer, millis(10), new Probe());
    assertTrue(timeout.reschedule(Long.MAX_VALUE, TimeUnit.NANOSECONDS));
    advanceUntil(Duration.ofDays(1_000));
    assertPending(timeout);
    assertTrue(timeout.reschedule(millis(10)));
    advanceBy(millis(9));
    assertPending(timeout);
    advanceBy(millis(1));
    assertRan(timeout);
  }

  @Test
  default void rescheduleKeepsTheCounts() {
    Timer timer = timer(settings().withLimit(1));
    Timeout timeout = startIn(timer, millis(10), new Probe());
    assertTrue(timeout.reschedule(millis(20)));
    assertTrue(timeout.reschedule(millis(5)));
    assertEquals(1, timer.pendingTimeouts());
    assertEquals(1, timer.stats().started());
    assertEquals(2, timer.stats().rescheduled());
    assertTrue(timeout.cancel());
    assertCancelled(timeout);
  }
}
