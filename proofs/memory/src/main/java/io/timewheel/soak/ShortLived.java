// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

import io.timewheel.HashedWheelTimer;
import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.PolledTimer;
import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.WheelTimer;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A thread that makes timers and stops them, one after the other, while two helpers start timeouts
 * on them. It accounts for every timeout of each timer before it continues with the next.
 */
final class ShortLived implements Runnable {
  private static final int HELPERS = 2;
  private static final int MAX_STARTS = 400;
  private static final long SETTLE_SECONDS = 60;

  final LongAdder timers = new LongAdder();
  final LongAdder accepted = new LongAdder();
  final LongAdder ran = new LongAdder();
  final LongAdder won = new LongAdder();
  final LongAdder returned = new LongAdder();
  final LongAdder refused = new LongAdder();

  private final Population population;
  private final Threads threads;
  private final Violations violations;
  private final SplittableRandom random;
  private volatile boolean stopping;

  ShortLived(
      Population population, Threads threads, Violations violations, SplittableRandom random) {
    this.population = population;
    this.threads = threads;
    this.violations = violations;
    this.random = random;
  }

  void stop() {
    stopping = true;
  }

  @Override
  public void run() {
    CyclicBarrier barrier = new CyclicBarrier(HELPERS + 1);
    List<Helper> helpers = new ArrayList<>();
    for (int i = 0; i < HELPERS; i++) {
      Helper helper = new Helper(barrier, random.split());
      helpers.add(helper);
      threads.start("starter", helper);
    }
    try {
      while (!stopping) {
        population.gate.readLock().lock();
        try {
          soakOne(barrier, helpers);
        } finally {
          population.gate.readLock().unlock();
        }
        LockSupport.parkNanos(random.nextLong(TimeUnit.MILLISECONDS.toNanos(4)));
      }
      helpers.forEach(helper -> helper.subject = null);
      barrier.await();
    } catch (Exception e) {
      throw new IllegalStateException("the short-lived timers cannot continue", e);
    }
  }

  private void soakOne(CyclicBarrier barrier, List<Helper> helpers) throws Exception {
    Made made = make();
    for (Helper helper : helpers) {
      helper.subject = made.subject;
      helper.idle = random.nextInt(8) == 0;
    }
    barrier.await(); // the helpers begin
    long untilNanos = System.nanoTime() + random.nextLong(TimeUnit.MILLISECONDS.toNanos(3));
    Timer timer = made.subject.timer;
    do {
      if (timer instanceof PolledTimer polled) {
        polled.poll(random.nextInt(20));
      } else {
        Thread.onSpinWait();
      }
    } while (System.nanoTime() - untilNanos < 0);
    Set<Timeout> rest =
        random.nextBoolean() ? timer.stop() : timer.stop(Duration.ofNanos(random.nextInt(1000)));
    Thread.interrupted(); // a task that was polled may have interrupted this thread
    barrier.await(); // the helpers have ended
    check(made, rest, helpers);
  }

  private void check(Made made, Set<Timeout> rest, List<Helper> helpers) throws Exception {
    Subject subject = made.subject;
    for (Timeout timeout : rest) {
      ((SoakTask) timeout.task()).returned();
    }
    violations.check(subject.timer.isStopped(), subject.name + ": is not stopped after stop()");
    violations.check(
        subject.timer.stop().isEmpty(), subject.name + ": the second stop() returned timeouts");
    if (subject.timer instanceof PolledTimer polled) {
      violations.checkEqual(polled.poll(), 0, subject.name + ": polled after stop()");
    }
    // A task that ran longer than the shutdown timeout may still be running on the timer thread.
    for (Thread thread : made.threads) {
      threads.join(thread, SETTLE_SECONDS);
    }
    if (subject.executor != null) {
      violations.check(
          subject.executor.shutDown(SETTLE_SECONDS), subject.name + ": the executor has not ended");
    }
    for (Thread thread : made.executorThreads) {
      threads.join(thread, SETTLE_SECONDS);
    }
    subject.checkEnd();
    for (Helper helper : helpers) {
      for (Timeout timeout : helper.accepted) {
        ((SoakTask) timeout.task()).retire(timeout);
      }
      violations.check(helper.failure == null, subject.name + ": " + helper.failure);
    }
    timers.increment();
    accepted.add(subject.started.sum());
    ran.add(subject.ran.sum());
    won.add(subject.won.sum());
    returned.add(subject.returned.sum());
    refused.add(subject.refused.sum());
  }

  void report(PrintStream out) {
    out.printf("  %,d short-lived timers%n", timers.sum());
    out.printf(
        "               %,d started = %,d expired + %,d cancelled + %,d returned by stop();"
            + " %,d refused%n",
        accepted.sum(), ran.sum(), won.sum(), returned.sum(), refused.sum());
  }

  private record Made(Subject subject, List<Thread> threads, List<Thread> executorThreads) {}

  private Made make() {
    List<Thread> own = new ArrayList<>();
    List<Thread> pooled = new ArrayList<>();
    int kind = random.nextInt(4);
    FlakyExecutor executor =
        random.nextInt(4) == 0 ? new FlakyExecutor(kept(pooled, "short-pool")) : null;
    long limit = random.nextInt(4) == 0 ? random.nextLong(1, 100) : 0;
    Duration tick = Duration.ofNanos(random.nextLong(1, 1L << random.nextInt(1, 31)));
    String name = "short-lived timer " + timers.sum();
    Timer timer;
    if (kind == 0) {
      PolledTimer.Builder builder = PolledTimer.builder().tick(tick).maxPendingTimeouts(limit);
      builder.onError((timeout, error) -> {});
      timer = (executor == null ? builder : builder.executor(executor)).build();
    } else if (kind == 1) {
      HashedWheelTimer.Builder builder = HashedWheelTimer.builder();
      with(builder, tick, limit, executor, own);
      timer = builder.ticksPerWheel(1 << random.nextInt(10)).build();
    } else {
      HierarchicalWheelTimer.Builder builder = HierarchicalWheelTimer.builder();
      with(builder, tick, limit, executor, own);
      timer = builder.build();
    }
    Subject subject = new Subject(name, timer, executor, violations);
    subject.stallsOften();
    return new Made(subject, own, pooled);
  }

  private void with(
      WheelTimer.Builder<?> builder,
      Duration tick,
      long limit,
      @Nullable FlakyExecutor executor,
      List<Thread> own) {
    builder
        .tick(tick)
        .maxPendingTimeouts(limit)
        .threadFactory(kept(own, "short"))
        .stripes(1 << random.nextInt(4))
        .onError((timeout, error) -> {});
    if (executor != null) {
      builder.executor(executor);
    }
  }

  /**
   * Returns a factory that records its threads. A timer calls it once while it is built, and a pool
   * calls it on the timer thread, which is joined.
   */
  private ThreadFactory kept(List<Thread> list, String kind) {
    ThreadFactory factory = threads.factory(kind);
    return runnable -> {
      Thread thread = factory.newThread(runnable);
      list.add(thread);
      return thread;
    };
  }

  /** Starts timeouts, moving and cancelling some, until the stopped timer refuses one. */
  private static final class Helper implements Runnable {
    private final CyclicBarrier barrier;
    private final SplittableRandom random;

    // Handed over at the barrier.
    @Nullable Subject subject;
    boolean idle;
    List<Timeout> accepted = new ArrayList<>();
    @Nullable Throwable failure;

    Helper(CyclicBarrier barrier, SplittableRandom random) {
      this.barrier = barrier;
      this.random = random;
    }

    @Override
    public void run() {
      try {
        while (true) {
          barrier.await();
          Subject current = subject;
          if (current == null) {
            return;
          }
          accepted = new ArrayList<>();
          failure = null;
          try {
            // Sometimes no helper starts a timeout, and the timer is stopped before its thread
            // begins.
            for (int i = idle ? MAX_STARTS : 0; i < MAX_STARTS && startOne(current); i++) {
              actOnOne();
            }
          } catch (Throwable e) {
            failure = e;
          }
          barrier.await();
        }
      } catch (Exception e) {
        throw new IllegalStateException("a helper cannot continue", e);
      }
    }

    /** Starts a timeout. Half of the timeouts are due while the timer lives. */
    private boolean startOne(Subject current) {
      Delay delay =
          random.nextBoolean()
              ? new Delay(random.nextLong(0, 1_000_000), TimeUnit.NANOSECONDS)
              : Delay.random(random);
      try {
        SoakTask task = new SoakTask(current, Manner.random(random));
        accepted.add(task.start(delay.amount(), delay.unit()));
      } catch (RejectedExecutionException e) {
        current.refused.increment();
      } catch (IllegalStateException e) {
        current.refused.increment();
        return false;
      }
      return true;
    }

    private void actOnOne() {
      if (accepted.isEmpty() || random.nextInt(4) != 0) {
        return;
      }
      Timeout timeout = accepted.get(random.nextInt(accepted.size()));
      SoakTask task = (SoakTask) timeout.task();
      if (random.nextBoolean()) {
        task.cancel(timeout);
      } else {
        Delay delay = Delay.random(random);
        task.move(timeout, delay.amount(), delay.unit());
      }
    }
  }
}
