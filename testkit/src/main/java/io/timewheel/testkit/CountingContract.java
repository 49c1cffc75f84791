// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static io.timewheel.testkit.Contracts.TICK;
import static io.timewheel.testkit.Contracts.assertStopped;
import static io.timewheel.testkit.Contracts.millis;
import static io.timewheel.testkit.Contracts.sneakyThrow;
import static io.timewheel.testkit.Contracts.startIn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerStats;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The contract of the counts, and of the limit on pending timeouts. */
interface CountingContract extends TimeScript {
  @Test
  default void aNewTimerHasDoneNothing() {
    Timer timer = timer();
    TimerStats stats = timer.stats();
    assertEquals(new TimerStats(0, 0, 0, 0, 0, 0, 0, stats.wakeups(), 0), stats);
    assertEquals(0, timer.pendingTimeouts());
    assertTrue(!timer.isStopped());
  }

  @Test
  @Tag("promise-17")
  default void statsCountStartsMovesAndOutcomes() {
    Timer timer = timer(settings().withOnError((timeout, error) -> {}));
    for (int i = 0; i < 5; i++) {
      startIn(timer, millis(10), new Probe());
    }
    startIn(timer, millis(10), timeout -> sneakyThrow(new Exception("counted")));
    startIn(timer, millis(10), new Probe()).cancel();
    Timeout moved = startIn(timer, millis(10), new Probe());
    moved.reschedule(millis(30));
    moved.reschedule(millis(40));
    startIn(timer, millis(50), new Probe());
    assertStats(8, 9, 2, 0, 1, 0, timer.stats());
    advanceUntil(millis(10));
    assertStats(2, 9, 2, 6, 1, 1, timer.stats());
    timer.stop();
    assertStats(0, 9, 2, 6, 3, 1, timer.stats());
  }

  private static void assertStats(
      long pending,
      long started,
      long rescheduled,
      long expired,
      long cancelled,
      long failed,
      TimerStats stats) {
    assertEquals(
        new TimerStats(
            pending,
            started,
            rescheduled,
            expired,
            cancelled,
            failed,
            0,
            stats.wakeups(),
            stats.maxLagNanos()),
        stats);
    assertTrue(stats.wakeups() >= 0, () -> "wakeups in " + stats);
  }

  @Test
  default void maxLagIsTheLongestTimeFromADeadlineToItsTask() {
    Timer timer = timer(settings().withTick(millis(10)));
    startIn(timer, millis(9), new Probe());
    startIn(timer, millis(20), new Probe());
    startIn(timer, millis(24), new Probe());
    advanceUntil(millis(10));
    assertEquals(Duration.ofMillis(1).toNanos(), timer.stats().maxLagNanos());
    advanceUntil(millis(20));
    assertEquals(Duration.ofMillis(1).toNanos(), timer.stats().maxLagNanos());
    advanceUntil(millis(30));
    assertEquals(Duration.ofMillis(6).toNanos(), timer.stats().maxLagNanos());
  }

  @Test
  @Tag("promise-17")
  default void aTimeoutIsNoLongerCountedWhenItsTaskRuns() {
    Timer timer = timer();
    AtomicLong pendingInside = new AtomicLong(-1);
    Timeout first = startIn(timer, millis(10), new Probe());
    Timeout second = startIn(timer, millis(10), new Probe());
    startIn(timer, millis(10), timeout -> pendingInside.set(timer.pendingTimeouts()));
    assertEquals(3, timer.pendingTimeouts());
    first.cancel();
    second.cancel();
    advanceUntil(millis(10));
    assertEquals(0, pendingInside.get());
  }

  @Test
  @Tag("promise-18")
  default void oneMoreThanTheLimitIsRefusedWithBothNumbers() {
    Timer timer = timer(settings().withLimit(2));
    startIn(timer, millis(10), new Probe());
    startIn(timer, millis(10), new Probe());
    Probe refused = new Probe();
    RejectedExecutionException refusal =
        assertThrows(
            RejectedExecutionException.class,
            () -> timer.newTimeout(refused, 10, TimeUnit.MILLISECONDS));
    String message = String.valueOf(refusal.getMessage());
    assertTrue(
        message.matches("(?s).*\\b2\\b.*\\b2\\b.*"), () -> message + ": how many, and the maximum");
    assertEquals(2, timer.pendingTimeouts());
    assertEquals(2, timer.stats().started());
    advanceUntil(millis(10));
    assertEquals(0, refused.runs() + refused.cancellations());
  }

  @Test
  default void acceptsOneMoreAfterACancel() {
    Timer timer = timer(settings().withLimit(2));
    Timeout first = startIn(timer, millis(10), new Probe());
    startIn(timer, millis(10), new Probe());
    assertRejected(timer);
    first.cancel();
    first.cancel();
    startIn(timer, millis(10), new Probe());
    assertRejected(timer);
  }

  @Test
  default void acceptsOneMoreAfterAnExpiryEvenInsideTheTask() {
    Timer timer = timer(settings().withLimit(2));
    List<Timeout> started = Collections.synchronizedList(new ArrayList<>());
    startIn(
        timer,
        millis(10),
        timeout -> started.add(startIn(timer, Duration.ofHours(1), new Probe())));
    startIn(timer, millis(20), new Probe());
    assertRejected(timer);
    advanceUntil(millis(10));
    assertEquals(1, started.size());
    assertRejected(timer);
    advanceUntil(millis(20));
    startIn(timer, millis(10), new Probe());
    assertRejected(timer);
  }

  @Test
  default void overdueTimeoutsCountAgainstTheLimitUntilTheirTick() {
    Timer timer = timer(settings().withLimit(8));
    List<Timeout> timeouts = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      timeouts.add(timer.newTimeout(new Probe(), -1, TimeUnit.MILLISECONDS));
    }
    assertRejected(timer);
    advanceBy(Duration.ZERO);
    assertRejected(timer);
    assertEquals(8, timer.pendingTimeouts());
    advanceUntil(TICK);
    timeouts.forEach(Contracts::assertRan);
    startIn(timer, millis(10), new Probe());
  }

  @Test
  @Tag("promise-18")
  default void reportsStoppedRatherThanLimit() {
    Timer timer = timer(settings().withLimit(1));
    startIn(timer, millis(10), new Probe());
    timer.stop();
    assertStopped(timer);
    assertStopped(timer);
    assertEquals(0, timer.pendingTimeouts());
  }

  @Test
  default void isUnlimitedWithoutALimit() {
    Timer timer = timer();
    for (int i = 0; i < 50_000; i++) {
      startIn(timer, millis(i), new Probe());
    }
    assertEquals(50_000, timer.pendingTimeouts());
    assertEquals(50_000, timer.stop().size());
  }

  private static void assertRejected(Timer timer) {
    assertThrows(
        RejectedExecutionException.class,
        () -> timer.newTimeout(new Probe(), 1, TimeUnit.MILLISECONDS));
  }
}
