// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The thread of a timer: expires what is due, then parks until something is.
 *
 * <p>It wakes for deadlines and for whoever starts an earlier one, and never because a tick has
 * passed. What it parks for is decided in the numbered steps of {@link #work}; why it cannot sleep
 * through a timeout is explained in {@link WakeUp}.
 *
 * <p>If it ends for any other reason than being stopped, it fails the engine: nothing is accepted
 * any more that nobody would run.
 */
final class Worker implements Runnable {
  /** More timers with a thread than this in one JVM are most likely a mistake. */
  static final int LIVE_LIMIT = 64;

  private static final System.Logger LOGGER = System.getLogger("io.timewheel");
  private static final AtomicInteger LIVE = new AtomicInteger();
  private static final AtomicBoolean WARNED = new AtomicBoolean();

  private final Engine engine;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile @Nullable Thread thread;
  private volatile boolean stopping;
  private final AtomicLong wakeups = new AtomicLong();

  Worker(Engine engine) {
    this.engine = engine;
  }

  @Override
  public void run() {
    thread = Thread.currentThread();
    engine.wakeUp.bind();
    warnOfCrowd(LIVE.incrementAndGet());
    try {
      work();
    } catch (Throwable e) {
      engine.fail(e);
      LOGGER.log(Level.ERROR, "the worker of a timer has died; the timer runs no more tasks", e);
    } finally {
      LIVE.decrementAndGet();
      ended.countDown();
    }
  }

  private void work() {
    while (!stopping) {
      // 1. Whoever starts a timeout from here on finds the worker awake, and need not wake it.
      engine.wakeUp.plan(WakeUp.AWAKE);
      // 2. Run what is due. Whatever this misses, step 4 sees.
      engine.runDue(Integer.MAX_VALUE);
      // 3. Publish until when there will be nothing to do. A longer run may have made more due.
      long plan = engine.idleUntilTick();
      if (plan <= engine.clock.nowTick()) {
        continue;
      }
      engine.wakeUp.plan(plan);
      // 4. Look once more: a timeout may have been started by someone who had not seen the plan.
      // Who had seen it has withdrawn it; the wait for a lock may have used up that unpark.
      if (engine.nextTick() < plan || stopping || engine.wakeUp.isWithdrawn()) {
        continue;
      }
      // 5. Park until then, or until someone who has seen the plan starts an earlier timeout.
      engine.clock.parkUntil(plan, engine.timer);
      Events.woken(engine, plan);
      wakeups.incrementAndGet();
      Thread.interrupted();
    }
  }

  private static void warnOfCrowd(int live) {
    if (live > LIVE_LIMIT && WARNED.compareAndSet(false, true)) {
      try {
        LOGGER.log(
            Level.WARNING,
            "{0} timers are live in this JVM; share one timer, or stop those no longer needed",
            live);
      } catch (Throwable e) {
        // A log is foreign code; this worker has no part in what is wrong with it.
      }
    }
  }

  /** Whether a thread has come to run this worker. */
  boolean hasBegun() {
    return thread != null;
  }

  boolean isCurrentThread() {
    return Thread.currentThread() == thread;
  }

  long wakeups() {
    return wakeups.get();
  }

  /** Stops the worker after the task that it is running, and waits for that, but not for long. */
  void stop(Duration patience) {
    stopping = true;
    engine.wakeUp.wake();
    try {
      if (!ended.await(TimeUnit.NANOSECONDS.convert(patience), TimeUnit.NANOSECONDS)) {
        Thread stuck = thread;
        if (stuck != null) {
          stuck.interrupt();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
