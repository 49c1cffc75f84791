// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static java.util.Objects.requireNonNull;

import io.timewheel.TimeSource;
import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerStats;
import io.timewheel.TimerTask;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The reference implementation: a heap and one lock, so simple that any fault would be visible. It
 * has no thread: {@link #runDue} runs the due tasks.
 *
 * <p>The timers of {@link BrokenTimersTest} override the protected methods with faults.
 */
class NaiveTimer implements Timer {
  final TimerSettings settings;
  final TimeSource clock;
  private final long startNanos;
  final long tickNanos;

  /** Held by the thread that runs the due tasks, while it runs them. */
  private final ReentrantLock running = new ReentrantLock();

  // Guarded by this
  final PriorityQueue<NaiveTimeout> heap =
      new PriorityQueue<>(
          Comparator.<NaiveTimeout>comparingLong(t -> t.tick).thenComparingLong(t -> t.number));
  boolean stopped;
  long started;
  long rescheduled;
  long expired;
  long cancelled;
  long failed;
  long rejected;
  long maxLagNanos;

  NaiveTimer(TimerSettings settings, TimeSource clock) {
    this.settings = settings;
    this.clock = clock;
    this.startNanos = clock.nanoTime();
    this.tickNanos = settings.tick().toNanos();
  }

  // Time

  final long elapsedNanos() {
    return clock.nanoTime() - startNanos;
  }

  /**
   * Returns the deadline of a delay: the next tick for a time in the past, never for an overflow.
   */
  protected long deadlineNanos(long delayNanos) {
    long sum = elapsedNanos() + Math.max(1, delayNanos);
    return sum < 0 ? Long.MAX_VALUE : sum;
  }

  /** Returns the first tick at or after a deadline. */
  protected long tickOf(long deadlineNanos) {
    return deadlineNanos == Long.MAX_VALUE ? Long.MAX_VALUE : (deadlineNanos - 1) / tickNanos + 1;
  }

  // Starting, moving, cancelling

  @Override
  public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
    requireNonNull(task, "task");
    requireNonNull(unit, "unit");
    NaiveTimeout timeout = timeoutOf(task);
    add(timeout, unit.toNanos(delay));
    return timeout;
  }

  protected NaiveTimeout timeoutOf(TimerTask task) {
    return new NaiveTimeout(this, task);
  }

  protected synchronized void add(NaiveTimeout timeout, long delayNanos) {
    refuseIfStopped();
    refuseIfFull(heap.size(), settings.maxPendingTimeouts());
    timeout.number = started++;
    schedule(timeout, delayNanos);
  }

  protected void refuseIfStopped() {
    if (stopped) {
      throw new IllegalStateException("stopped");
    }
  }

  protected void refuseIfFull(long pending, long limit) {
    if (limit > 0 && pending >= limit) {
      throw new RejectedExecutionException(pending + " pending, at most " + limit);
    }
  }

  protected void schedule(NaiveTimeout timeout, long delayNanos) {
    timeout.deadlineNanos = deadlineNanos(delayNanos);
    timeout.tick = tickOf(timeout.deadlineNanos);
    heap.add(timeout);
  }

  protected boolean cancel(NaiveTimeout timeout) {
    synchronized (this) {
      if (!heap.remove(timeout)) {
        return false;
      }
      timeout.cancelled = true;
      cancelled++;
    }
    notifyCancelled(timeout);
    return true;
  }

  protected void notifyCancelled(NaiveTimeout timeout) {
    try {
      timeout.task().cancelled(timeout);
    } catch (Throwable e) {
      handle(timeout, e);
    }
  }

  protected synchronized boolean reschedule(NaiveTimeout timeout, long delayNanos) {
    if (timeout.runner == Thread.currentThread()) {
      return rearm(timeout, delayNanos);
    }
    if (!heap.remove(timeout)) {
      return false;
    }
    rescheduled++;
    schedule(timeout, delayNanos);
    return true;
  }

  /** Re-arms a timeout from inside its task. */
  protected boolean rearm(NaiveTimeout timeout, long delayNanos) {
    if (stopped) {
      return false;
    }
    timeout.runner = null;
    timeout.expired = false;
    timeout.number = started++;
    schedule(timeout, delayNanos);
    return true;
  }

  protected long remainingNanos(NaiveTimeout timeout) {
    return timeout.deadlineNanos - elapsedNanos();
  }

  // Running

  /** Runs the tasks that are due. */
  final void runDue() {
    running.lock();
    try {
      runAllDue();
    } finally {
      running.unlock();
    }
  }

  protected void runAllDue() {
    for (NaiveTimeout due = poll(); due != null; due = poll()) {
      execute(due);
    }
  }

  final synchronized NaiveTimeout poll() {
    NaiveTimeout due = firstDue(elapsedNanos() / tickNanos);
    if (due != null) {
      heap.remove(due);
      markExpired(due);
      expired++;
      maxLagNanos = Math.max(maxLagNanos, elapsedNanos() - due.deadlineNanos);
    }
    return due;
  }

  protected NaiveTimeout firstDue(long nowTick) {
    NaiveTimeout first = heap.peek();
    return first == null || first.tick > nowTick ? null : first;
  }

  /** Returns whether this thread runs the due tasks. */
  final boolean isRunningTasks() {
    return running.isHeldByCurrentThread();
  }

  /** Returns whether some thread runs the due tasks. */
  final boolean isBusy() {
    return running.isLocked();
  }

  protected void markExpired(NaiveTimeout timeout) {
    timeout.expired = true;
  }

  protected void execute(NaiveTimeout timeout) {
    Runnable work = workOf(timeout);
    if (settings.executor() == null) {
      work.run();
      return;
    }
    try {
      settings.executor().execute(work);
    } catch (Throwable e) {
      synchronized (this) {
        rejected++;
      }
      onRejected(work);
    }
  }

  /** Returns the work of a timeout, which runs its task once, however often it is called. */
  protected Runnable workOf(NaiveTimeout timeout) {
    AtomicBoolean once = new AtomicBoolean();
    return () -> {
      if (once.compareAndSet(false, true)) {
        run(timeout);
      }
    };
  }

  protected void onRejected(Runnable work) {
    work.run();
  }

  protected void run(NaiveTimeout timeout) {
    timeout.runner = Thread.currentThread();
    try {
      timeout.task().run(timeout);
    } catch (Throwable e) {
      synchronized (this) {
        failed++;
      }
      handle(timeout, e);
    } finally {
      if (timeout.runner == Thread.currentThread()) {
        timeout.runner = null;
      }
    }
  }

  protected void handle(Timeout timeout, Throwable error) {
    try {
      settings.onError().handle(timeout, error);
    } catch (Throwable e) {
      // The error handler itself threw, so there is no handler left to notify.
    }
  }

  // Stopping

  @Override
  public final Set<Timeout> stop() {
    return stop(Duration.ofSeconds(10));
  }

  @Override
  public Set<Timeout> stop(Duration shutdownTimeout) {
    requireNonNull(shutdownTimeout, "shutdownTimeout");
    refuseInsideTask(isRunningTasks());
    List<NaiveTimeout> drained = shutDown();
    if (drained == null) {
      return Set.of();
    }
    awaitTask(shutdownTimeout);
    drained.forEach(this::notifyCancelled);
    return new LinkedHashSet<>(drained);
  }

  /**
   * Stops the timer and returns the cancelled timeouts. Returns null if the timer was already
   * stopped.
   */
  protected synchronized List<NaiveTimeout> shutDown() {
    if (stopped) {
      return null;
    }
    stopped = true;
    return drain();
  }

  protected final synchronized List<NaiveTimeout> drain() {
    List<NaiveTimeout> drained = new ArrayList<>(heap);
    heap.clear();
    drained.forEach(timeout -> timeout.cancelled = true);
    cancelled += drained.size();
    return drained;
  }

  protected void refuseInsideTask(boolean insideTask) {
    if (insideTask) {
      throw new IllegalStateException("stopped by a task");
    }
  }

  protected void awaitTask(Duration shutdownTimeout) {
    try {
      if (running.tryLock(TimeUnit.NANOSECONDS.convert(shutdownTimeout), TimeUnit.NANOSECONDS)) {
        running.unlock();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  // Counts

  @Override
  public synchronized boolean isStopped() {
    return stopped;
  }

  @Override
  public synchronized long pendingTimeouts() {
    return heap.size();
  }

  @Override
  public synchronized TimerStats stats() {
    return new TimerStats(
        heap.size(), started, rescheduled, expired, cancelled, failed, rejected, 0, maxLagNanos);
  }

  @Override
  public TimeSource timeSource() {
    return clock;
  }

  /** A timeout that delegates everything to its timer. */
  static class NaiveTimeout implements Timeout {
    private final NaiveTimer timer;
    private final TimerTask task;
    long number;
    volatile long deadlineNanos;
    long tick;
    volatile boolean expired;
    volatile boolean cancelled;

    /** The thread that runs the task; null once the task has re-armed this timeout. */
    volatile Thread runner;

    NaiveTimeout(NaiveTimer timer, TimerTask task) {
      this.timer = timer;
      this.task = task;
    }

    @Override
    public Timer timer() {
      return timer;
    }

    @Override
    public TimerTask task() {
      return task;
    }

    @Override
    public boolean isExpired() {
      return expired;
    }

    @Override
    public boolean isCancelled() {
      return cancelled;
    }

    @Override
    public boolean cancel() {
      return timer.cancel(this);
    }

    @Override
    public boolean reschedule(long delay, TimeUnit unit) {
      requireNonNull(unit, "unit");
      return timer.reschedule(this, unit.toNanos(delay));
    }

    @Override
    public long remaining(TimeUnit unit) {
      requireNonNull(unit, "unit");
      return unit.convert(timer.remainingNanos(this), TimeUnit.NANOSECONDS);
    }
  }
}
