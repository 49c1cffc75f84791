// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import io.timewheel.testing.Await;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A clock that a test moves, and on which a timer thread can sleep. A parked thread is woken when
 * the clock reaches the time for which it parked.
 *
 * <p>No wake-up is lost: a sleeper is registered before it reads the time, and the time is moved
 * before the sleepers are read.
 */
public final class TestClock implements TimeSource {
  private final AtomicLong nowNanos;
  private final Map<Thread, Long> sleepers = new ConcurrentHashMap<>();
  private final AtomicLong parks = new AtomicLong();
  private volatile RuntimeException parkFailure;

  public TestClock() {
    this(0);
  }

  public TestClock(long originNanos) {
    nowNanos = new AtomicLong(originNanos);
  }

  @Override
  public long nanoTime() {
    return nowNanos.get();
  }

  @Override
  public void parkUntil(long deadlineNanos, Object blocker) {
    if (parkFailure != null) {
      throw parkFailure;
    }
    parks.incrementAndGet();
    sleepers.put(Thread.currentThread(), deadlineNanos);
    try {
      if (deadlineNanos - nanoTime() > 0) {
        LockSupport.park(blocker);
      }
    } finally {
      sleepers.remove(Thread.currentThread());
    }
  }

  public void advance(long nanos) {
    long now = nowNanos.addAndGet(nanos);
    sleepers.forEach(
        (sleeper, deadlineNanos) -> {
          if (deadlineNanos - now <= 0 && sleepers.remove(sleeper, deadlineNanos)) {
            LockSupport.unpark(sleeper);
          }
        });
  }

  public void advance(Duration time) {
    advance(time.toNanos());
  }

  /** Sets the clock, even back, and wakes no thread. */
  public void set(long nanos) {
    nowNanos.set(nanos);
  }

  /** Makes each further attempt to park throw. */
  public void failToPark(RuntimeException failure) {
    parkFailure = failure;
  }

  /** Returns the only thread that sleeps. */
  Thread sleeper() {
    return sleepers.keySet().iterator().next();
  }

  /** Returns how often a thread parked. */
  long parks() {
    return parks.get();
  }

  /** Waits until a thread sleeps until the given reading of this clock. */
  void awaitSleepUntil(long deadlineNanos) {
    Await.until(
        "a sleeper until " + deadlineNanos + ", not " + sleepers,
        () ->
            sleepers.entrySet().stream()
                .anyMatch(
                    entry ->
                        entry.getValue() == deadlineNanos
                            && entry.getKey().getState() == Thread.State.WAITING));
  }

  /** Waits until a thread sleeps until the given time, counted from zero of this clock. */
  void awaitSleepUntil(Duration time) {
    awaitSleepUntil(time.toNanos());
  }

  /** Waits until a thread sleeps forever, given that its timer was made when this clock was 0. */
  public void awaitSleepForever() {
    awaitSleepUntil(Long.MAX_VALUE);
  }
}
