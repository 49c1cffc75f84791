// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static java.util.Objects.requireNonNull;

import io.timewheel.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * A clock that stands still until a test moves it. A {@link ManualTimer} already has one. Use this
 * class to control the time of a timer with a thread:
 *
 * <pre>{@code
 * ManualTimeSource clock = new ManualTimeSource();
 * AtomicReference<Thread> thread = new AtomicReference<>();
 * Timer timer =
 *     HierarchicalWheelTimer.builder()
 *         .timeSource(clock)
 *         .threadFactory(work -> { thread.set(new Thread(work)); return thread.get(); })
 *         .build();
 * timer.newTimeout(task, 100, TimeUnit.MILLISECONDS);
 *
 * clock.advanceBy(Duration.ofMillis(100)); // wakes the thread
 * clock.awaitParked(thread.get());         // the task has run
 * }</pre>
 *
 * <p>All methods may be called from any thread.
 */
public final class ManualTimeSource implements TimeSource {
  /**
   * The interval at which {@link #awaitParked} checks whether the thread has ended. A thread that
   * ends sends no signal.
   */
  private static final long LIFE_SIGN_MILLIS = 1;

  /**
   * The maximum elapsed time of the clock. Readings are compared by their difference, which must
   * stay positive and below 292 years, the value for never.
   */
  private static final long MAX_ELAPSED_NANOS = Long.MAX_VALUE - 1;

  private final long startNanos;
  private volatile long elapsedNanos;

  /** The threads that park on this clock, with the reading until which they park. */
  private final Map<Thread, Long> parked = new HashMap<>();

  private final List<Lap> laps = new ArrayList<>();

  /** Makes a clock at zero. */
  public ManualTimeSource() {
    this(0);
  }

  /**
   * Makes a clock at the given reading, which may be any value. The clock wraps around from {@link
   * Long#MAX_VALUE} to {@link Long#MIN_VALUE}, like {@link System#nanoTime()}.
   *
   * @param nanoTime the first reading of the clock, in nanoseconds
   */
  public ManualTimeSource(long nanoTime) {
    startNanos = nanoTime;
  }

  @Override
  public long nanoTime() {
    return startNanos + elapsedNanos;
  }

  /**
   * Moves the clock forward, and wakes the threads whose parking time is now reached. Other threads
   * are not woken. Does not wait for the work of the woken threads.
   *
   * @param duration the time to advance by; zero does not move the clock
   * @throws IllegalArgumentException if {@code duration} is negative, or ends more than 292 years
   *     after the first reading
   */
  public void advanceBy(Duration duration) {
    synchronized (this) {
      elapsedNanos += nanos(duration);
      parked.forEach(
          (thread, deadlineNanos) -> {
            if (isReached(deadlineNanos)) {
              LockSupport.unpark(thread);
            }
          });
    }
  }

  /** Returns a duration in nanoseconds, after checking that this clock can move by it. */
  synchronized long nanos(Duration duration) {
    requireNonNull(duration, "duration");
    if (duration.isNegative()) {
      throw new IllegalArgumentException("duration: " + duration + " (expected: zero or more)");
    }
    Duration left = Duration.ofNanos(MAX_ELAPSED_NANOS - elapsedNanos);
    if (duration.compareTo(left) > 0) {
      throw new IllegalArgumentException(
          "duration: "
              + duration
              + " (expected: at most "
              + left
              + ", which is 292 years from the start of the clock)");
    }
    return duration.toNanos();
  }

  /**
   * Parks the current thread until a test has moved this clock to {@code deadlineNanos}, or the
   * thread is unparked or interrupted.
   *
   * <p>No wake-up is lost. One critical section registers the thread and reads the clock. Another,
   * of the same lock, moves the clock and unparks the registered threads. If the move comes first,
   * the thread sees the new time and does not park. If it comes second, it finds the thread
   * registered and unparks it. If the thread has not parked yet, the permit of {@code unpark} makes
   * it return at once.
   */
  @Override
  public void parkUntil(long deadlineNanos, Object blocker) {
    Thread thread = Thread.currentThread();
    synchronized (this) {
      if (beginLaps(thread) || isReached(deadlineNanos)) {
        return;
      }
      endLaps(thread);
      parked.put(thread, deadlineNanos);
    }
    LockSupport.park(blocker);
    synchronized (this) {
      parked.remove(thread);
      beginLaps(thread);
    }
  }

  private boolean isReached(long deadlineNanos) {
    return deadlineNanos - nanoTime() <= 0;
  }

  /**
   * Waits until a thread is idle: it has read the clock after this call began, has completed all
   * due work, and is parked until a later time. Returns at once if the thread has ended or was not
   * started yet.
   *
   * <p>It is not sufficient that the thread is parked. Another thread may have unparked it for a
   * new timeout, and it may not have returned yet. So this method makes the thread return from
   * {@link #parkUntil} and park again. In between, the thread sees the current time and all
   * timeouts that the caller has started. This adds one wake-up to the statistics of its timer.
   *
   * @param thread a thread that parks on this clock whenever it has nothing to do
   * @throws IllegalStateException if called by the thread itself, which would wait forever
   * @throws InterruptedException if the caller is interrupted while it waits
   */
  public void awaitParked(Thread thread) throws InterruptedException {
    if (requireNonNull(thread, "thread") == Thread.currentThread()) {
      throw new IllegalStateException("a thread cannot wait until it is parked itself");
    }
    Lap lap = new Lap(thread);
    synchronized (this) {
      laps.add(lap);
      try {
        if (parked.containsKey(thread)) {
          // If it has not parked yet, its next park returns at once, because of the lap.
          LockSupport.unpark(thread);
        }
        while (!lap.ended && thread.isAlive()) {
          wait(LIFE_SIGN_MILLIS);
        }
      } finally {
        laps.remove(lap);
      }
    }
  }

  /**
   * Begins the next lap of the thread for each caller of {@link #awaitParked} whose lap has not
   * begun. Returns whether there is such a caller.
   */
  private boolean beginLaps(Thread thread) {
    boolean begun = false;
    for (Lap lap : laps) {
      if (lap.thread == thread && !lap.begun) {
        lap.begun = true;
        begun = true;
      }
    }
    return begun;
  }

  private void endLaps(Thread thread) {
    for (Lap lap : laps) {
      if (lap.thread == thread) {
        lap.ended = true;
      }
    }
    notifyAll();
  }

  @Override
  public String toString() {
    return "ManualTimeSource(" + nanoTime() + " ns)";
  }

  /**
   * One pass of a thread through its work, from a return of {@link #parkUntil} to its next park.
   */
  private static final class Lap {
    final Thread thread;
    boolean begun;
    boolean ended;

    Lap(Thread thread) {
      this.thread = thread;
    }
  }
}
