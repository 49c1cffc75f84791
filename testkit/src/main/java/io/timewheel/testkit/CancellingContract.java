// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static io.timewheel.testkit.Contracts.assertCancelled;
import static io.timewheel.testkit.Contracts.assertPending;
import static io.timewheel.testkit.Contracts.assertRan;
import static io.timewheel.testkit.Contracts.millis;
import static io.timewheel.testkit.Contracts.startIn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The contract of cancelling: a cancel takes effect at once, only once, and permanently. */
interface CancellingContract extends TimeScript {
  @Test
  default void aCancelledTimeoutNeverRuns() {
    Timer timer = timer();
    Timeout timeout = startIn(timer, millis(100), new Probe());
    Timeout other = startIn(timer, millis(100), new Probe());
    advanceUntil(millis(99));
    assertTrue(timeout.cancel());
    assertCancelled(timeout);
    advanceUntil(millis(1_000));
    assertCancelled(timeout);
    assertRan(other);
  }

  @Test
  @Tag("promise-12")
  default void cancelIsTrueOnce() {
    Timer timer = timer();
    Timeout timeout = startIn(timer, millis(100), new Probe());
    assertTrue(timeout.cancel());
    assertFalse(timeout.cancel());
    advanceUntil(millis(100));
    assertFalse(timeout.cancel());
    assertCancelled(timeout);
    assertEquals(1, timer.stats().cancelled());
  }

  @Test
  @Tag("promise-12")
  default void cancelIsFalseInsideTheTaskAndAfterIt() {
    Timer timer = timer();
    AtomicBoolean expiredInside = new AtomicBoolean();
    AtomicBoolean cancelledInside = new AtomicBoolean();
    Timeout timeout =
        startIn(
            timer,
            millis(1),
            new Probe(
                self -> {
                  expiredInside.set(self.isExpired());
                  cancelledInside.set(self.cancel() || self.isCancelled());
                }));
    advanceUntil(millis(1));
    assertTrue(expiredInside.get(), "isExpired() inside the task");
    assertFalse(cancelledInside.get(), "cancel() or isCancelled() inside the task");
    assertFalse(timeout.cancel());
    assertRan(timeout);
    assertEquals(0, timer.stats().cancelled());
  }

  @Test
  @Tag("promise-17")
  default void aCancelledTimeoutIsNotCountedFromThatMoment() {
    Timer timer = timer(settings().withTick(Duration.ofHours(1)));
    Timeout first = startIn(timer, Duration.ofMinutes(1), new Probe());
    Timeout second = startIn(timer, Duration.ofDays(1), new Probe());
    assertEquals(2, timer.pendingTimeouts());
    first.cancel();
    assertEquals(1, timer.pendingTimeouts());
    second.cancel();
    second.cancel();
    assertEquals(0, timer.pendingTimeouts());
  }

  @Test
  @Tag("promise-22")
  default void cancelledIsCalledOnceByTheThreadThatCancelsAfterTheTimeoutHasLeft() {
    Timer timer = timer();
    AtomicLong pendingInside = new AtomicLong(-1);
    AtomicBoolean cancelledInside = new AtomicBoolean();
    Probe probe =
        new Probe(
            new TimerTask() {
              @Override
              public void run(Timeout timeout) {}

              @Override
              public void cancelled(Timeout timeout) {
                pendingInside.set(timer.pendingTimeouts());
                cancelledInside.set(timeout.isCancelled() && !timeout.cancel());
              }
            });
    Timeout timeout = startIn(timer, millis(100), probe);
    assertTrue(timeout.cancel());
    assertSame(Thread.currentThread(), probe.canceller());
    assertEquals(0, pendingInside.get(), "pending inside cancelled()");
    assertTrue(cancelledInside.get(), "isCancelled(), and cancel() false, inside cancelled()");
    assertFalse(timeout.cancel());
    advanceUntil(millis(100));
    assertCancelled(timeout);
  }

  @Test
  default void cancelledIsNotCalledForExpiredTimeouts() {
    Timer timer = timer();
    Timeout timeout = startIn(timer, millis(1), new Probe());
    advanceUntil(millis(1));
    timeout.cancel();
    timer.stop();
    assertRan(timeout);
  }

  @Test
  @Tag("promise-16")
  default void aCancelledTimeoutIsNotReferredToFromThatMoment() {
    Timer timer = timer(settings().withTick(Duration.ofHours(1)));
    startIn(timer, Duration.ofHours(2), new Probe());
    WeakReference<Timeout> reference = startAndCancel(timer);
    startIn(timer, Duration.ofHours(2), new Probe());
    for (int tries = 0; tries < 20 && reference.get() != null; tries++) {
      System.gc();
    }
    assertNull(reference.get(), "the timeout, held although cancelled");
  }

  /** A separate method, so no local variable still refers to the timeout. */
  private static WeakReference<Timeout> startAndCancel(Timer timer) {
    Timeout timeout = startIn(timer, Duration.ofHours(2), new Probe());
    timeout.cancel();
    return new WeakReference<>(timeout);
  }

  @Test
  default void cancelByATaskOfTheSameTickIsDecidedOnce() {
    Timer timer = timer();
    for (int i = 0; i < 100; i++) {
      Rival first = new Rival();
      Rival second = new Rival();
      first.other = startIn(timer, millis(10), second);
      second.other = startIn(timer, millis(10), first);
      advanceBy(millis(10));
      assertEquals(second.cancelledOther, !first.ran, "cancelled by the other, and did not run");
      assertEquals(first.cancelledOther, !second.ran, "cancelled by the other, and did not run");
      assertTrue(first.ran || second.ran, "one of the two ran");
    }
  }

  @Test
  default void manyCancelsDelayNothing() {
    Timer timer = timer();
    List<Timeout> survivors = new ArrayList<>();
    List<Timeout> cancelled = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      Timeout timeout = startIn(timer, millis(100 + i % 300), new Probe());
      (i % 100 == 37 ? survivors : cancelled).add(timeout);
    }
    cancelled.forEach(Timeout::cancel);
    assertEquals(survivors.size(), timer.pendingTimeouts());
    for (int tick = 99; tick <= 400; tick++) {
      advanceUntil(millis(tick));
      for (int i = 0; i < survivors.size(); i++) {
        int due = 100 + (i * 100 + 37) % 300;
        if (due <= tick) {
          assertRan(survivors.get(i));
        } else {
          assertPending(survivors.get(i));
        }
      }
    }
    cancelled.forEach(Contracts::assertCancelled);
  }

  @Test
  default void cancelledByATaskOfAnEarlierTick() {
    Timer timer = timer();
    Timeout later = startIn(timer, millis(20), new Probe());
    startIn(timer, millis(10), timeout -> later.cancel());
    advanceUntil(millis(10));
    assertCancelled(later);
    advanceUntil(millis(20));
    assertCancelled(later);
  }
}
