// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static io.timewheel.testkit.Contracts.LONG;
import static io.timewheel.testkit.Contracts.TICK;
import static io.timewheel.testkit.Contracts.assertCancelled;
import static io.timewheel.testkit.Contracts.assertPending;
import static io.timewheel.testkit.Contracts.assertRan;
import static io.timewheel.testkit.Contracts.millis;
import static io.timewheel.testkit.Contracts.startIn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The contract while a task runs: due timeouts that wait behind the task are pending, and {@code
 * stop} waits for the task.
 */
interface BusyContract extends TimeScript {
  private Busy busy() {
    Busy busy = new Busy();
    atEnd(busy::release); // otherwise, the stop of the timer waits for it if the test fails
    return busy;
  }

  @Test
  @Tag("promise-24")
  default void stopWaitsForTheRunningTask() throws Exception {
    Timer timer = timer();
    Busy busy = busy();
    Timeout running = startIn(timer, TICK, busy);
    Timeout pending = startIn(timer, LONG, new Probe());
    Future<?> advancing = advancing(TICK);
    busy.awaitBegin();
    Future<?> releasing =
        inBackground(
            () -> {
              awaitStopped(timer);
              busy.release();
              return null;
            });
    assertEquals(Set.of(pending), timer.stop(LONG));
    assertTrue(busy.hasEnded(), "stop() returned before the task had ended");
    assertTrue(running.isExpired());
    assertFalse(running.isCancelled());
    releasing.get();
    advancing.get();
  }

  @Test
  @Tag("promise-24")
  default void stopWaitsNoLongerThanItsTimeout() throws Exception {
    for (Duration shutdownTimeout : List.of(Duration.ZERO, millis(1))) {
      Timer timer = timer();
      Busy busy = busy();
      Timeout running = startIn(timer, TICK, busy);
      Timeout pending = startIn(timer, LONG, new Probe());
      Future<?> advancing = advancing(TICK);
      busy.awaitBegin();
      assertEquals(Set.of(pending), timer.stop(shutdownTimeout));
      assertCancelled(pending);
      assertFalse(busy.hasEnded());
      assertTrue(running.isExpired());
      assertFalse(running.cancel());
      busy.release();
      advancing.get();
      assertTrue(busy.hasEnded());
    }
  }

  @Test
  @Tag("promise-24")
  default void anInterruptEndsTheWaitOfStopAndStays() throws Exception {
    Timer timer = timer();
    Busy busy = busy();
    startIn(timer, TICK, busy);
    Timeout pending = startIn(timer, LONG, new Probe());
    Future<?> advancing = advancing(TICK);
    busy.awaitBegin();
    Thread.currentThread().interrupt();
    Set<Timeout> stopped = timer.stop(LONG);
    assertTrue(Thread.interrupted(), "the interrupt of the caller of stop()");
    assertEquals(Set.of(pending), stopped);
    assertCancelled(pending);
    assertFalse(busy.hasEnded());
    busy.release();
    advancing.get();
  }

  @Test
  @Tag("promise-14")
  default void aDueTimeoutThatStopCancelsDoesNotRun() throws Exception {
    Timer timer = timer();
    Busy busy = busy();
    startIn(timer, TICK, busy);
    List<Timeout> due = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      due.add(startIn(timer, TICK.multipliedBy(2), new Probe()));
    }
    Future<?> advancing = advancing(TICK.multipliedBy(2));
    busy.awaitBegin();
    assertEquals(new HashSet<>(due), timer.stop(Duration.ZERO));
    busy.release();
    advancing.get();
    due.forEach(Contracts::assertCancelled);
  }

  @Test
  @Tag("promise-14")
  default void aDueTimeoutBehindASlowTaskIsStillPending() throws Exception {
    Timer timer = timer();
    Busy busy = busy();
    startIn(timer, TICK, busy);
    Timeout cancelled = startIn(timer, TICK.multipliedBy(2), new Probe());
    Timeout moved = startIn(timer, TICK.multipliedBy(2), new Probe());
    Timeout next = startIn(timer, TICK.multipliedBy(2), new Probe());
    Future<?> advancing = advancing(TICK.multipliedBy(2));
    busy.awaitBegin();
    assertEquals(3, timer.pendingTimeouts());
    assertTrue(cancelled.cancel());
    assertTrue(moved.reschedule(LONG));
    assertPending(next);
    busy.release();
    advancing.get();
    assertCancelled(cancelled);
    assertPending(moved);
    assertRan(next);
  }

  private Future<?> advancing(Duration duration) {
    return inBackground(
        () -> {
          advanceBy(duration);
          return null;
        });
  }

  private static void awaitStopped(Timer timer) {
    while (!timer.isStopped()) {
      Thread.onSpinWait();
    }
  }

  private static <T> Future<T> inBackground(Callable<T> work) {
    FutureTask<T> future = new FutureTask<>(work);
    Thread thread = new Thread(future, "timer-contract");
    thread.setDaemon(true);
    thread.start();
    return future;
  }
}
