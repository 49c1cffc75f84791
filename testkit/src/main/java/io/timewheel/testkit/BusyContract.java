// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What holds while a task runs: what waits behind it is pending, and stopping waits for it. */
abstract class BusyContract extends StoppingContract {
  private final List<Busy> busyTasks = new ArrayList<>();

  /** What a failed test has left running would hold up the end of its timer. */
  @AfterEach
  void releaseBusyTasks() {
    busyTasks.forEach(Busy::release);
  }

  private Busy busy() {
    Busy busy = new Busy();
    busyTasks.add(busy);
    return busy;
  }

  @Test
  void stopWaitsForTheRunningTask() throws Exception {
    Timer timer = timer();
    Busy busy = busy();
    Timeout running = startIn(timer, TICK, busy);
    Timeout pending = startIn(timer, LONG, new Probe());
    Future<?> advancing = inBackground(() -> advanceBy(TICK));
    busy.awaitBegin();
    Future<?> releasing =
        inBackground(
            () -> {
              awaitStopped(timer);
              busy.release();
            });
    assertEquals(Set.of(pending), timer.stop(LONG));
    assertTrue(busy.hasEnded(), "stop() returned before the task had ended");
    assertTrue(running.isExpired());
    assertFalse(running.isCancelled());
    releasing.get();
    advancing.get();
  }

  @Test
  void stopWaitsNoLongerThanItsPatience() throws Exception {
    for (Duration patience : List.of(Duration.ZERO, millis(1))) {
      Timer timer = timer();
      Busy busy = busy();
      Timeout running = startIn(timer, TICK, busy);
      Timeout pending = startIn(timer, LONG, new Probe());
      Future<?> advancing = inBackground(() -> advanceBy(TICK));
      busy.awaitBegin();
      assertEquals(Set.of(pending), timer.stop(patience));
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
  void anInterruptEndsTheWaitOfStopAndStays() throws Exception {
    Timer timer = timer();
    Busy busy = busy();
    startIn(timer, TICK, busy);
    Timeout pending = startIn(timer, LONG, new Probe());
    Future<?> advancing = inBackground(() -> advanceBy(TICK));
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
  void whatStopCancelsDoesNotRunThoughItWasDue() throws Exception {
    Timer timer = timer();
    Busy busy = busy();
    startIn(timer, TICK, busy);
    List<Timeout> due = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      due.add(startIn(timer, TICK.multipliedBy(2), new Probe()));
    }
    Future<?> advancing = inBackground(() -> advanceBy(TICK.multipliedBy(2)));
    busy.awaitBegin();
    assertEquals(new HashSet<>(due), timer.stop(Duration.ZERO));
    busy.release();
    advancing.get();
    due.forEach(ContractFixture::assertCancelled);
  }

  @Test
  void whatIsDueButWaitsBehindASlowTaskIsStillPending() throws Exception {
    Timer timer = timer();
    Busy busy = busy();
    startIn(timer, TICK, busy);
    Timeout cancelled = startIn(timer, TICK.multipliedBy(2), new Probe());
    Timeout moved = startIn(timer, TICK.multipliedBy(2), new Probe());
    Timeout next = startIn(timer, TICK.multipliedBy(2), new Probe());
    Future<?> advancing = inBackground(() -> advanceBy(TICK.multipliedBy(2)));
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

  /** Waits in its task until it is released, whatever else happens. */
  static final class Busy implements TimerTask {
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private final AtomicBoolean ended = new AtomicBoolean();

    @Override
    public void run(Timeout timeout) {
      begun.countDown();
      while (released.getCount() > 0) {
        try {
          released.await();
        } catch (InterruptedException e) {
          // By stop(), whose patience is at its end. This task goes on all the same.
        }
      }
      ended.set(true);
    }

    void awaitBegin() throws InterruptedException {
      begun.await();
    }

    void release() {
      released.countDown();
    }

    boolean hasEnded() {
      return ended.get();
    }
  }

  private static void awaitStopped(Timer timer) {
    while (!timer.isStopped()) {
      Thread.onSpinWait();
    }
  }

  static Future<?> inBackground(Runnable work) {
    FutureTask<?> future = new FutureTask<@Nullable Void>(work, null);
    Thread thread = new Thread(future, "timer-contract");
    thread.setDaemon(true);
    thread.start();
    return future;
  }
}
