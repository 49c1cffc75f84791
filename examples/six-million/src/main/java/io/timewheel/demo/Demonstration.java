// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerStats;
import io.timewheel.TimerTask;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import me.tongfei.progressbar.ProgressBar;
import org.jspecify.annotations.Nullable;

/**
 * The demonstration. {@link #run} starts timeouts, measures their memory, lets some fire, cancels
 * and moves others, waits while the timer is idle, and stops the timer.
 */
final class Demonstration {
  private static final Duration TICK = Duration.ofMillis(1);
  private static final long SEED = 6_000_000;
  private static final long FRAME_MILLIS = 100;
  private static final long LATE_NANOS = MILLISECONDS.toNanos(10);
  private static final long LONGEST_SETTLING_NANOS = SECONDS.toNanos(10);
  private static final long LONGEST_IDLE_MILLIS = 2_000;

  private final Options options;
  private final Screen screen;
  private final Lags lags = new Lags();
  private final LongAdder expired = new LongAdder();
  private final TimerTask task = timeout -> expired.increment();
  private final Timer timer;
  private final long[] delaysNanos;
  private final @Nullable Timeout[] timeouts;
  private @Nullable Thread timerThread;

  Demonstration(Options options, Screen screen) {
    this.options = options;
    this.screen = screen;
    timer =
        HierarchicalWheelTimer.builder()
            .tick(TICK)
            .listener(lags)
            .threadFactory(this::newTimerThread)
            .build();
    delaysNanos = Delays.random(options.timeouts(), new SplittableRandom(SEED));
    timeouts = new Timeout[options.timeouts()];
  }

  private Thread newTimerThread(Runnable work) {
    Thread thread = new Thread(work, "six-million-timer");
    thread.setDaemon(true);
    timerThread = thread;
    return thread;
  }

  Figures run() throws InterruptedException {
    screen.line(
        "Timewheel: %s timeouts from 1 ms to 1 year on one timer\n"
            .formatted(Format.count(timeouts.length)));
    long usedBytes = Heap.usedBytes();
    Figures.Starting starting = start();
    Figures.Memory memory = weigh(usedBytes);
    settle();
    Figures.WakeUps firing = watch();
    long cancelled = cancelEveryTenth();
    long moved = moveTheNear();
    Figures.WakeUps idle = rest();
    long cpuNanos = timerCpuNanos();
    Levels levels = new Levels(TICK.toNanos());
    long returned = stop(levels);
    return new Figures(
        options,
        timeouts.length,
        starting,
        memory,
        expired.sum(),
        cancelled,
        moved,
        returned,
        levels,
        lags,
        firing,
        idle,
        cpuNanos,
        timer.stats());
  }

  private long timerCpuNanos() {
    Thread thread = timerThread;
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    if (thread == null || !threads.isThreadCpuTimeSupported()) {
      return -1;
    }
    return threads.getThreadCpuTime(thread.getId());
  }

  /** Starts all timeouts, from several threads. */
  private Figures.Starting start() throws InterruptedException {
    ExecutorService starters = Executors.newFixedThreadPool(options.threads());
    long collectionMillis = Heap.collectionMillis();
    long beginNanos = System.nanoTime();
    List<Future<?>> parts = new ArrayList<>();
    for (int thread = 0; thread < options.threads(); thread++) {
      int from = border(thread);
      int to = border(thread + 1);
      parts.add(starters.submit(() -> start(from, to)));
    }
    starters.shutdown();
    try (ProgressBar progress = screen.progress("Starting", timeouts.length)) {
      while (!starters.awaitTermination(FRAME_MILLIS, MILLISECONDS)) {
        progress.stepTo(timer.stats().started());
      }
    }
    long tookNanos = System.nanoTime() - beginNanos;
    long collectionNanos = MILLISECONDS.toNanos(Heap.collectionMillis() - collectionMillis);
    for (Future<?> part : parts) {
      check(part);
    }
    report("Starting", timeouts.length, "started", tookNanos, "from 1 ms to 1 year");
    return new Figures.Starting(tookNanos, collectionNanos);
  }

  private int border(int thread) {
    return (int) ((long) timeouts.length * thread / options.threads());
  }

  private void start(int from, int to) {
    for (int i = from; i < to; i++) {
      timeouts[i] = timer.newTimeout(task, delaysNanos[i], NANOSECONDS);
    }
  }

  private static void check(Future<?> part) throws InterruptedException {
    try {
      part.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof OutOfMemoryError error) {
        throw error;
      }
      throw new IllegalStateException("timeouts could not be started", e);
    }
  }

  /**
   * Measures the memory of the timeouts. Releases the handles of expired timeouts first: the timer
   * no longer refers to these timeouts, but their handles do.
   */
  private Figures.Memory weigh(long usedBytesBefore) {
    long held = 0;
    for (int i = 0; i < timeouts.length; i++) {
      Timeout timeout = timeouts[i];
      if (timeout != null && timeout.isExpired()) {
        timeouts[i] = null;
      } else {
        held++;
      }
    }
    return new Figures.Memory(Heap.usedBytes() - usedBytesBefore, held);
  }

  /**
   * Waits until the timer has run all timeouts that became due while the starting threads used the
   * processors.
   */
  private void settle() throws InterruptedException {
    long beginNanos = System.nanoTime();
    long elapsedNanos;
    do {
      Thread.sleep(FRAME_MILLIS);
      elapsedNanos = System.nanoTime() - beginNanos;
    } while (lags.lastNanos() > LATE_NANOS && elapsedNanos < LONGEST_SETTLING_NANOS);
    screen.line("%-11s%7s".formatted("Settling", Format.seconds(elapsedNanos)));
    lags.startingIsOver();
  }

  /** Shows timeouts fire. */
  private Figures.WakeUps watch() throws InterruptedException {
    long wakeUps = timer.stats().wakeups();
    long beginNanos = System.nanoTime();
    long nanos = (long) (options.seconds() * 1e9);
    long elapsedNanos = 0;
    try (ProgressBar progress = screen.progress("Firing", NANOSECONDS.toMillis(nanos))) {
      while (elapsedNanos < nanos) {
        progress.setExtraMessage(" " + Format.count(timer.stats().expired()) + " expired");
        MILLISECONDS.sleep(FRAME_MILLIS);
        elapsedNanos = System.nanoTime() - beginNanos;
        progress.stepTo(NANOSECONDS.toMillis(Math.min(elapsedNanos, nanos)));
      }
    }
    TimerStats stats = timer.stats();
    screen.line(
        phase("Firing", elapsedNanos, stats.expired(), "expired") + pending(stats.pending()));
    return new Figures.WakeUps(stats.wakeups() - wakeUps, elapsedNanos);
  }

  /**
   * Cancels every tenth timeout. For timeouts that have expired meanwhile, the call returns false.
   */
  private long cancelEveryTenth() {
    long beginNanos = System.nanoTime();
    long cancelled = 0;
    for (int i = 0; i < timeouts.length; i += 10) {
      Timeout timeout = timeouts[i];
      if (timeout != null && timeout.cancel()) {
        cancelled++;
      }
    }
    report("Cancelling", cancelled, "cancelled", since(beginNanos), "every tenth");
    return cancelled;
  }

  /**
   * Moves all timeouts that are due within about a minute by an hour, so that nothing is due soon.
   */
  private long moveTheNear() {
    long horizonNanos = MINUTES.toNanos(1) + (long) (options.seconds() * 1e9);
    long beginNanos = System.nanoTime();
    long moved = 0;
    for (int i = 0; i < timeouts.length; i++) {
      Timeout timeout = timeouts[i];
      long delayNanos = delaysNanos[i];
      if (timeout != null
          && delayNanos < horizonNanos
          && timeout.reschedule(HOURS.toNanos(1) + delayNanos, NANOSECONDS)) {
        moved++;
      }
    }
    report("Moving", moved, "moved", since(beginNanos), "by an hour");
    return moved;
  }

  /** Waits for the rest of the last tick, and then for a time in which no timeout is due. */
  private Figures.WakeUps rest() throws InterruptedException {
    Thread.sleep(FRAME_MILLIS);
    long wakeUps = timer.stats().wakeups();
    long beginNanos = System.nanoTime();
    Thread.sleep(Math.min(LONGEST_IDLE_MILLIS, (long) (options.seconds() * 1e3)));
    long elapsedNanos = System.nanoTime() - beginNanos;
    long woken = timer.stats().wakeups() - wakeUps;
    String text = phase("Resting", elapsedNanos, woken, woken == 1 ? "wake-up" : "wake-ups");
    screen.line(text + pending(timer.pendingTimeouts()));
    return new Figures.WakeUps(woken, elapsedNanos);
  }

  /** Stops the timer, and counts the returned timeouts by level. */
  private long stop(Levels levels) {
    long beginNanos = System.nanoTime();
    Set<Timeout> returned = timer.stop();
    report("Stopping", returned.size(), "returned", since(beginNanos), "by stop()");
    for (Timeout timeout : returned) {
      long sinceStopNanos = System.nanoTime() - beginNanos;
      levels.add(timeout.remaining(NANOSECONDS) + sinceStopNanos);
    }
    return returned.size();
  }

  private void report(String title, long count, String what, long tookNanos, String remark) {
    String rate = "%14s   %s".formatted(Format.rate(count, tookNanos), remark);
    screen.line(phase(title, tookNanos, count, what) + rate);
  }

  private static long since(long beginNanos) {
    return System.nanoTime() - beginNanos;
  }

  private static String phase(String title, long nanos, long count, String what) {
    return "%-11s%7s %13s %-10s".formatted(title, Format.seconds(nanos), Format.count(count), what);
  }

  private static String pending(long count) {
    return "%12s pending".formatted(Format.count(count));
  }
}
