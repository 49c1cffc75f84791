// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static io.timewheel.testkit.Contracts.LONG;
import static io.timewheel.testkit.Contracts.assertCancelled;
import static io.timewheel.testkit.Contracts.assertRan;
import static io.timewheel.testkit.Contracts.assertStopped;
import static io.timewheel.testkit.Contracts.millis;
import static io.timewheel.testkit.Contracts.startIn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The contract of stopping: it cancels and returns all pending timeouts, and no more can be
 * started.
 */
interface StoppingContract extends TimeScript {
  @Test
  @Tag("promise-23")
  default void stopCancelsAndReturnsPendingTimeoutsOnly() {
    Timer timer = timer();
    Timeout expired = startIn(timer, millis(10), new Probe());
    Timeout cancelled = startIn(timer, millis(20), new Probe());
    Set<Timeout> pending = new HashSet<>();
    for (Duration delay : List.of(millis(11), millis(20), Duration.ofDays(1), LONG)) {
      pending.add(startIn(timer, delay, new Probe()));
    }
    pending.add(timer.newTimeout(new Probe(), Long.MAX_VALUE, TimeUnit.NANOSECONDS));
    advanceUntil(millis(10));
    cancelled.cancel();

    assertEquals(pending, timer.stop());
    pending.forEach(Contracts::assertCancelled);
    assertEquals(0, timer.pendingTimeouts());
    assertStopped(timer);
    assertRan(expired);
    assertCancelled(cancelled);
  }

  @Test
  @Tag("promise-22")
  default void stopCallsCancelledOnItsOwnThreadBeforeItReturns() {
    Timer timer = timer();
    List<Probe> probes = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      probes.add(new Probe());
      startIn(timer, millis(i), probes.get(i));
    }
    timer.stop();
    for (Probe probe : probes) {
      assertEquals(1, probe.cancellations());
      assertSame(Thread.currentThread(), probe.canceller());
    }
  }

  @Test
  @Tag("promise-23")
  default void aSecondStopFindsNothing() {
    Timer timer = timer();
    Timeout timeout = startIn(timer, millis(10), new Probe());
    assertEquals(Set.of(timeout), timer.stop());
    assertEquals(Set.of(), timer.stop());
    assertEquals(Set.of(), timer.stop(LONG));
    timer.close();
    assertCancelled(timeout);
    assertEquals(1, timer.stats().cancelled());
    assertStopped(timer);
  }

  @Test
  default void aTimerThatWasNeverUsedCanBeStopped() {
    Timer timer = timer();
    assertFalse(timer.isStopped());
    assertEquals(Set.of(), timer.stop());
    assertStopped(timer);
    assertEquals(0, timer.stats().started());
  }

  @Test
  default void stopReturnsNothingIfAllHasRun() {
    Timer timer = timer();
    Timeout timeout = startIn(timer, millis(10), new Probe());
    advanceUntil(millis(10));
    assertEquals(Set.of(), timer.stop());
    assertRan(timeout);
  }

  @Test
  @Tag("promise-26")
  default void afterStopNothingStartsMovesOrRuns() {
    Timer timer = timer();
    Timeout timeout = startIn(timer, millis(10), new Probe());
    timer.stop();
    assertStopped(timer);
    assertFalse(timeout.cancel());
    assertFalse(timeout.reschedule(millis(1)));
    advanceUntil(millis(100));
    assertCancelled(timeout);
    assertEquals(0, timer.pendingTimeouts());
    assertEquals(1, timer.stats().started());
    assertEquals(0, timer.stats().rescheduled());
  }

  @Test
  default void aTaskThatStopCancelsCannotStartTimeouts() {
    Timer timer = timer();
    AtomicReference<@Nullable Throwable> refusal = new AtomicReference<>();
    TimerTask restarting =
        new TimerTask() {
          @Override
          public void run(Timeout timeout) {}

          @Override
          public void cancelled(Timeout timeout) {
            refusal.set(
                assertThrows(
                    IllegalStateException.class,
                    () -> timeout.timer().newTimeout(this, 1, TimeUnit.SECONDS)));
          }
        };
    Timeout timeout = startIn(timer, millis(10), restarting);
    assertEquals(Set.of(timeout), timer.stop());
    assertTrue(refusal.get() != null);
    assertEquals(0, timer.pendingTimeouts());
  }

  @Test
  @Tag("promise-25")
  default void stopAndCloseInsideATaskAreRefused() {
    Timer timer = timer();
    Timeout inside =
        startIn(
            timer,
            millis(10),
            new Probe(
                timeout -> {
                  assertThrows(IllegalStateException.class, timer::stop);
                  assertThrows(IllegalStateException.class, () -> timer.stop(Duration.ZERO));
                  assertThrows(IllegalStateException.class, timer::close);
                }));
    Timeout next = startIn(timer, millis(11), new Probe());
    advanceUntil(millis(10));
    assertRan(inside);
    assertFalse(timer.isStopped());
    advanceUntil(millis(11));
    assertRan(next);
  }

  @Test
  @Tag("promise-25")
  default void aTaskOnAnExecutorCanStopItsTimer() {
    Queue<Runnable> handedOff = new ConcurrentLinkedQueue<>();
    Timer timer = timer(settings().withExecutor(handedOff::add));
    AtomicReference<Set<Timeout>> answer = new AtomicReference<>(Set.of());
    startIn(timer, millis(10), timeout -> answer.set(timer.stop()));
    Timeout pending = startIn(timer, millis(20), new Probe());
    advanceUntil(millis(10));
    handedOff.remove().run();
    assertEquals(Set.of(pending), answer.get());
    assertCancelled(pending);
  }

  @Test
  default void shutdownTimeoutMayBeZero() {
    for (Duration shutdownTimeout :
        List.of(Duration.ZERO, millis(-1), Duration.ofSeconds(Long.MIN_VALUE))) {
      Timer timer = timer();
      Timeout timeout = startIn(timer, millis(10), new Probe());
      assertEquals(Set.of(timeout), timer.stop(shutdownTimeout));
      assertCancelled(timeout);
    }
  }

  @Test
  default void closeStops() {
    Timer timer = timer();
    Timeout timeout = startIn(timer, millis(10), new Probe());
    timer.close();
    assertStopped(timer);
    assertCancelled(timeout);
    timer.close();
    assertCancelled(timeout);
  }
}
