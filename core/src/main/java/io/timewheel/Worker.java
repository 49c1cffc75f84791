// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.Objects.requireNonNull;

import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.lang.ref.Cleaner.Cleanable;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The loop of the timer thread: expires due timeouts, then parks until the next one is due.
 *
 * <p>It wakes for deadlines and for threads that start an earlier timeout, never because a tick has
 * passed. The numbered steps of {@link #workUntilIdle} decide until when it parks. {@link WakeUp}
 * explains why it cannot sleep through a timeout.
 *
 * <h2>When the thread ends</h2>
 *
 * <ul>
 *   <li>The timer is stopped.
 *   <li>The timer is unreachable, and nothing will ever be due. This object refers to its engine,
 *       and so to the timer, only while the thread is awake or sleeps until a tick. Once the engine
 *       has been collected, no timeout can be started on it, and a {@link Cleaner} wakes the
 *       thread.
 *   <li>The thread cannot continue. Then it fails the engine, which accepts no further timeouts,
 *       because no thread would run them. An {@link OutOfMemoryError} does not end the thread: a
 *       poll that runs out of memory has moved nothing, so the thread polls again until there is
 *       memory.
 * </ul>
 */
final class Worker implements Runnable {
  /** The number of live timers with a thread in one JVM above which a warning is logged. */
  static final int LIVE_LIMIT = 64;

  /** The time between two attempts of a thread that waits for memory. */
  static final long NAP_NANOS = 10_000_000;

  private static final AtomicInteger LIVE = new AtomicInteger();
  private static final AtomicBoolean WARNED = new AtomicBoolean();

  private final WeakReference<Engine> engine;
  private final WakeUp wakeUp;
  private final Clock clock;
  private final Counters counters;
  private final Thread thread;
  private final CountDownLatch ended = new CountDownLatch(1);

  /**
   * Guards the start of the thread. The lock is private because a thread factory could lock this
   * object.
   */
  private final Object starting = new Object();

  /**
   * The thread that runs this object; null until it begins. It need not be {@link #thread}: a
   * factory may pass the object to another thread.
   */
  private volatile @Nullable Thread runner;

  private volatile boolean stopping;

  /** True if the current shortage of memory has been logged. */
  private boolean lacksMemory;

  Worker(Engine engine, ThreadFactory threadFactory) {
    this.engine = new WeakReference<>(engine);
    this.wakeUp = engine.wakeUp;
    this.clock = engine.clock;
    this.counters = engine.counters;
    this.thread = newThread(threadFactory);
  }

  private Thread newThread(ThreadFactory factory) {
    Thread made = requireNonNull(factory.newThread(this), "the threadFactory returned null");
    if (made.getState() != Thread.State.NEW) {
      throw new IllegalArgumentException(
          "threadFactory: returned " + made + ", " + made.getState() + " (expected: not started)");
    }
    return made;
  }

  // Start and stop: called by any thread

  /** Returns whether a thread has begun to run this object. */
  boolean hasBegun() {
    return runner != null;
  }

  /**
   * Starts the thread unless it was started before. A thread factory may return a thread that does
   * not run this object. Once that thread has ended, the timer has failed.
   */
  void start() {
    synchronized (starting) {
      if (stopping || hasBegun()) {
        return;
      }
      if (thread.getState() == Thread.State.NEW) {
        thread.start();
      } else if (isLost()) {
        fail(new IllegalStateException(thread + " has ended without running the timer"));
      }
    }
  }

  /** Returns whether no thread will run this object, at least until {@link #start} is called. */
  private boolean isLost() {
    boolean alive = thread.isAlive(); // read first: the thread may begin and end in between
    return !alive && !hasBegun();
  }

  boolean isCurrentThread() {
    return Thread.currentThread() == runner;
  }

  /**
   * Stops the thread after its current task, and waits for that, at most for the shutdown timeout.
   */
  void stop(Duration shutdownTimeout) {
    synchronized (starting) {
      stopping = true;
    }
    wakeUp.wake();
    if (isLost()) {
      return;
    }
    try {
      if (!ended.await(TimeUnit.NANOSECONDS.convert(shutdownTimeout), TimeUnit.NANOSECONDS)) {
        Thread stuck = runner;
        if (stuck != null) {
          stuck.interrupt();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (OutOfMemoryError e) {
      // Without memory, this thread cannot wait. The caller's result matters more than the wait.
    }
  }

  // The loop: called by the timer thread

  @Override
  public void run() {
    runner = Thread.currentThread();
    wakeUp.bind();
    Cleanable reaping = wakeWhenCollected();
    warnOfCrowd(LIVE.incrementAndGet());
    try {
      while (workUntilIdle()) {
        park(Ticks.NEVER);
      }
    } catch (Throwable e) {
      fail(e);
      Log.logger().log(Level.ERROR, "a timer thread has died; the timer runs no more tasks", e);
    } finally {
      if (reaping != null) {
        // There is no thread left to wake. The wake-up may have pinned the engine, so the cleaner
        // would keep it from being collected forever.
        reaping.clean();
      }
      LIVE.decrementAndGet();
      ended.countDown();
    }
  }

  /**
   * Registers a wake-up for when the engine is collected. The engine is still pinned, because the
   * thread has not yet passed step W0 of {@link WakeUp} for the first time.
   */
  private @Nullable Cleanable wakeWhenCollected() {
    try {
      return Reaper.CLEANER.register(requireNonNull(engine.get()), wakeUp::wake);
    } catch (Throwable e) {
      // There is no memory or no thread for a cleaner. The thread ends when the timer is stopped.
      return null;
    }
  }

  /**
   * Works until nothing will ever be due. Only this call refers to the engine, so its caller can
   * park without keeping the engine reachable.
   *
   * @return whether to park; otherwise the thread ends
   */
  private boolean workUntilIdle() {
    Engine engine = this.engine.get();
    long hintTick = Ticks.NEVER;
    while (engine != null && !stopping) {
      // 1. A thread that starts a timeout from here on finds the timer thread awake, and does not
      // wake it. A thread that woke it left its deadline, which may have been cancelled since. The
      // next timeout with that delay must not wake the timer thread again.
      hintTick = Math.min(hintTick, wakeUp.awake());
      // 2. Run the due tasks. Step 4 sees any timeout that this misses.
      try {
        engine.runDue(Integer.MAX_VALUE);
      } catch (OutOfMemoryError e) {
        awaitMemory(e);
        continue;
      }
      // 3. Publish the tick until which there is nothing to do. A long run may have made more
      // timeouts due.
      long nowTick = clock.nowTick();
      if (hintTick <= nowTick) {
        hintTick = Ticks.NEVER;
      }
      long plan = Math.min(hintTick, engine.idleUntilTick());
      if (plan <= nowTick) {
        continue;
      }
      wakeUp.plan(plan);
      // 4. Check once more: a thread that had not seen the plan may have started a timeout. A
      // thread that had seen the plan has withdrawn it, but waiting for a lock may have used up its
      // unpark.
      if (engine.nextTick() < plan || stopping || wakeUp.isWithdrawn()) {
        continue;
      }
      // 5. Park until that tick, or until a thread that has seen the plan starts an earlier
      // timeout.
      lacksMemory = false;
      if (plan == Ticks.NEVER) {
        return true;
      }
      park(plan);
      Events.woken(engine, plan);
    }
    return false;
  }

  private void park(long plan) {
    clock.parkUntil(plan, this);
    counters.wakeups.incrementAndGet();
    Thread.interrupted();
  }

  /** Sleeps for {@link #NAP_NANOS}, because other threads may free memory meanwhile. */
  private void awaitMemory(OutOfMemoryError error) {
    if (!lacksMemory) {
      lacksMemory = true;
      warnOfLack(error);
    }
    TimeSource timeSource = clock.timeSource;
    timeSource.parkUntil(timeSource.nanoTime() + NAP_NANOS, this);
    Thread.interrupted();
  }

  private void fail(Throwable cause) {
    Engine failed = engine.get();
    if (failed != null) {
      failed.fail(cause);
    }
  }

  private static void warnOfLack(OutOfMemoryError error) {
    try {
      Log.logger()
          .log(Level.WARNING, "a timer is out of memory; it retries until memory is free", error);
    } catch (Throwable e) {
      // Even this text needs memory when it is first used.
    }
  }

  private static void warnOfCrowd(int live) {
    if (live > LIVE_LIMIT && WARNED.compareAndSet(false, true)) {
      try {
        Log.logger()
            .log(
                Level.WARNING,
                "{0} timers are live in this JVM; share one timer, or stop those no longer needed",
                live);
      } catch (Throwable e) {
        // A log is user code; an exception in it must not end the timer.
      }
    }
  }

  /** The thread of the cleaner starts with the first timer thread. */
  private static final class Reaper {
    static final Cleaner CLEANER = Cleaner.create();
  }
}
