// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

import io.timewheel.HashedWheelTimer;
import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.TaskErrorHandler;
import io.timewheel.Timer;
import io.timewheel.TimerStats;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A timer under test, with independent counts of the events of its timeouts. */
final class Subject {
  /**
   * The minimum time between two stalls. A timer that stalls all the time is always late, so the
   * soak would test nothing else.
   */
  private long stallIntervalNanos = TimeUnit.SECONDS.toNanos(10);

  private long maxStallNanos = TimeUnit.SECONDS.toNanos(1);

  final String name;
  final Timer timer;
  final @Nullable FlakyExecutor executor;
  final Violations violations;

  final LongAdder started = new LongAdder();
  final LongAdder refused = new LongAdder();
  final LongAdder moved = new LongAdder();
  final LongAdder ran = new LongAdder();
  final LongAdder threw = new LongAdder();
  final LongAdder stalls = new LongAdder();
  final LongAdder told = new LongAdder();
  final LongAdder won = new LongAdder();
  final LongAdder returned = new LongAdder();

  private final AtomicLong nextStallNanos;
  private volatile boolean calm;

  Subject(String name, Timer timer, @Nullable FlakyExecutor executor, Violations violations) {
    this.name = name;
    this.timer = timer;
    this.executor = executor;
    this.violations = violations;
    this.nextStallNanos = new AtomicLong(System.nanoTime());
  }

  /** Returns the long-lived timers. */
  static List<Subject> all(
      int live, Threads threads, List<Thread> victims, LongAdder handled, Violations violations) {
    ThreadFactory workers = remembering(threads.factory("worker"), victims);
    ThreadFactory pools = remembering(threads.factory("pool"), victims);
    TaskErrorHandler onError = (timeout, error) -> handled.increment();
    FlakyExecutor one = new FlakyExecutor(pools);
    FlakyExecutor other = new FlakyExecutor(pools);
    // The limit is below the timer's share of the timeouts, so the timer sometimes refuses one.
    long limit = live / 4 * 9L / 10;
    return List.of(
        new Subject(
            "hashed",
            HashedWheelTimer.builder()
                .tick(Duration.ofMillis(10))
                .ticksPerWheel(8192)
                .threadFactory(workers)
                .onError(onError)
                .build(),
            null,
            violations),
        new Subject(
            "hierarchical",
            HierarchicalWheelTimer.builder().threadFactory(workers).onError(onError).build(),
            null,
            violations),
        new Subject(
            "hashed, executor",
            HashedWheelTimer.builder()
                .threadFactory(workers)
                .onError(onError)
                .executor(one)
                .build(),
            one,
            violations),
        new Subject(
            "hierarchical, executor, limit",
            HierarchicalWheelTimer.builder()
                .threadFactory(workers)
                .onError(onError)
                .executor(other)
                .maxPendingTimeouts(limit)
                .build(),
            other,
            violations));
  }

  private static ThreadFactory remembering(ThreadFactory factory, List<Thread> victims) {
    return runnable -> {
      Thread thread = factory.newThread(runnable);
      victims.add(thread);
      return thread;
    };
  }

  /** Makes tasks stall often, for a short-lived timer. Called before the first task is started. */
  void stallsOften() {
    stallIntervalNanos = 0;
    maxStallNanos = TimeUnit.MILLISECONDS.toNanos(3);
  }

  /** From now on, no task stalls. */
  void calm() {
    calm = true;
  }

  /** Executes a behaviour of a task. */
  void behave(Manner manner) throws Exception {
    switch (manner) {
      case PLAIN -> {}
      case THROWS -> {
        threw.increment();
        throw new Exception("injected");
      }
      case FAILS -> {
        threw.increment();
        throw new StackOverflowError("injected");
      }
      case INTERRUPTS -> Thread.currentThread().interrupt();
      case STALLS -> stall();
    }
  }

  private void stall() {
    long dueNanos = nextStallNanos.get();
    if (calm
        || System.nanoTime() - dueNanos < 0
        || !nextStallNanos.compareAndSet(dueNanos, System.nanoTime() + stallIntervalNanos)) {
      return;
    }
    stalls.increment();
    LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(maxStallNanos));
  }

  /**
   * Compares the timer's counts with those of this object, while no thread starts, moves or
   * cancels.
   */
  void checkStarts() {
    TimerStats stats = timer.stats();
    violations.checkEqual(stats.started(), started.sum(), name + ": started");
    violations.checkEqual(stats.rescheduled(), moved.sum(), name + ": rescheduled");
    violations.checkEqual(stats.cancelled(), won.sum() + returned.sum(), name + ": cancelled");
    violations.checkEqual(told.sum(), won.sum() + returned.sum(), name + ": cancelled() called");
    violations.checkEqual(
        stats.pending(),
        stats.started() - stats.expired() - stats.cancelled(),
        name + ": pending of started, expired and cancelled");
  }

  /** Compares all counts, after the timer is stopped and every accepted task has run. */
  void checkEnd() {
    checkStarts();
    TimerStats stats = timer.stats();
    violations.checkEqual(stats.expired(), ran.sum(), name + ": expired");
    violations.checkEqual(stats.failed(), threw.sum(), name + ": failed");
    if (executor != null) {
      violations.checkEqual(stats.rejected(), executor.rejections(), name + ": rejected");
    }
    violations.checkEqual(stats.pending(), 0, name + ": pending after stop()");
    violations.checkEqual(timer.pendingTimeouts(), 0, name + ": pendingTimeouts() after stop()");
    violations.checkEqual(
        ran.sum() + won.sum() + returned.sum(), started.sum(), name + ": outcomes of all started");
  }

  void report(PrintStream out) {
    TimerStats stats = timer.stats();
    out.printf("  %s%n", name);
    out.printf(
        "               %,d started = %,d expired + %,d cancelled + %,d returned by stop()%n",
        started.sum(), ran.sum(), won.sum(), returned.sum());
    out.printf(
        "               %,d moved, %,d refused, %,d threw, %,d rejected, %,d stalls,"
            + " %,d wake-ups, at most %,d ms late%n",
        moved.sum(),
        refused.sum(),
        threw.sum(),
        stats.rejected(),
        stalls.sum(),
        stats.wakeups(),
        TimeUnit.NANOSECONDS.toMillis(stats.maxLagNanos()));
  }
}
