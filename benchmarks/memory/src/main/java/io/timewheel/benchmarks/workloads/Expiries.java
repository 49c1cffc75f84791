// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import io.timewheel.benchmarks.subjects.Subject;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Observes the expiry of timeouts on any threads. Counts them and the early ones, and waits for the
 * last one.
 */
final class Expiries {
  private final int expected;
  private final AtomicInteger remaining;
  private final AtomicInteger early = new AtomicInteger();
  private final CountDownLatch done = new CountDownLatch(1);
  private volatile long lastNanos;

  Expiries(int expected) {
    this.expected = expected;
    remaining = new AtomicInteger(expected);
  }

  /** The task of a timeout. Several timeouts with the same deadline may share it. */
  final class Body implements Runnable {
    final long deadlineNanos;

    /** How late the last run was. Written before {@link #await} returns. */
    long lateNanos;

    Body(long deadlineNanos) {
      this.deadlineNanos = deadlineNanos;
    }

    @Override
    public void run() {
      long nowNanos = System.nanoTime();
      lateNanos = nowNanos - deadlineNanos;
      if (lateNanos < 0) {
        early.incrementAndGet();
      }
      if (remaining.decrementAndGet() == 0) {
        lastNanos = nowNanos;
        done.countDown();
      }
    }
  }

  double early() {
    return early.get();
  }

  long lastNanos() {
    return lastNanos;
  }

  boolean areAllIn() {
    return done.getCount() == 0;
  }

  /**
   * Waits until all have run, or until a deadline.
   *
   * @param subject polled if it requires that
   */
  void await(Subject subject, boolean polled, long endNanos) throws InterruptedException {
    if (polled) {
      poll(subject, endNanos);
    } else if (done.getCount() > 0) {
      boolean ignored = done.await(endNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    }
  }

  private void poll(Subject subject, long endNanos) {
    while (!areAllIn()) {
      long idleNanos = Math.min(subject.poll(), endNanos - System.nanoTime());
      if (endNanos - System.nanoTime() <= 0) {
        return;
      }
      if (idleNanos > 0 && !areAllIn()) {
        LockSupport.parkNanos(idleNanos);
      }
    }
  }

  void requireAllIn() {
    if (!areAllIn()) {
      throw new IllegalStateException(
          remaining.get() + " of " + expected + " have not run in time");
    }
  }
}
