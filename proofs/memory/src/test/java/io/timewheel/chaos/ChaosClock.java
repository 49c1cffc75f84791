// SPDX-License-Identifier: Apache-2.0
package io.timewheel.chaos;

import io.timewheel.TimeSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A clock that jumps forward and back, from any origin, and wraps around.
 *
 * <p>It wakes a sleeper only when it reaches the time for which the sleeper parked. So a timer that
 * parks too long, or is not woken by an earlier timeout, stays asleep, and the test detects it.
 */
final class ChaosClock implements TimeSource {
  /** The end of time: deadlines beyond it are never. */
  static final long END = Long.MAX_VALUE - 1;

  /** The maximum time by which this clock may fall behind the start of the timer. */
  private static final long EARLIEST = -1_000_000_000_000L;

  private final long originNanos;
  private final Map<Thread, Long> sleepers = new ConcurrentHashMap<>();

  /** A thread that needs the time to stand still for a moment holds the read lock. */
  private final ReentrantReadWriteLock moving = new ReentrantReadWriteLock(true);

  private volatile long offsetNanos;
  private volatile long latestNanos;
  private final AtomicLong moves = new AtomicLong();

  ChaosClock(long originNanos) {
    this.originNanos = originNanos;
  }

  @Override
  public long nanoTime() {
    return originNanos + offsetNanos;
  }

  @Override
  public void parkUntil(long deadlineNanos, Object blocker) {
    sleepers.put(Thread.currentThread(), deadlineNanos);
    try {
      if (deadlineNanos - nanoTime() > 0) {
        LockSupport.park(blocker);
      }
    } finally {
      sleepers.remove(Thread.currentThread());
    }
  }

  /** Sets the clock to a time since the timer was made, limited to the range of this clock. */
  void set(long nanos) {
    moving.writeLock().lock();
    try {
      long to = Math.min(Math.max(EARLIEST, nanos), END);
      // First, because a task that is then due would otherwise count as early.
      latestNanos = Math.max(latestNanos, to);
      offsetNanos = to;
      moves.incrementAndGet();
    } finally {
      moving.writeLock().unlock();
    }
    sleepers.forEach(
        (sleeper, deadlineNanos) -> {
          if (deadlineNanos - nanoTime() <= 0) {
            LockSupport.unpark(sleeper);
          }
        });
  }

  /** Advances the clock; at the end of time it stays. */
  void advance(long nanos) {
    long to = offsetNanos + nanos;
    set(nanos > 0 && to < offsetNanos ? END : to);
  }

  /** Runs an action while the clock stands still. */
  void still(Runnable something) {
    moving.readLock().lock();
    try {
      something.run();
    } finally {
      moving.readLock().unlock();
    }
  }

  /** Returns the time since the timer was made, as the timer sees it. */
  long elapsedNanos() {
    return Math.max(0, offsetNanos);
  }

  /** Returns the latest time that the clock has ever shown. */
  long latestNanos() {
    return latestNanos;
  }

  long moves() {
    return moves.get();
  }

  /** Returns the deadline of a delay that starts now. */
  long deadlineNanos(long delayNanos) {
    long sum = elapsedNanos() + Math.max(1, delayNanos);
    return sum < 0 ? Long.MAX_VALUE : sum;
  }
}
