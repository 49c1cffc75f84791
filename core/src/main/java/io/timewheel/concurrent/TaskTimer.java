// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.timewheel.TimeSource;
import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;

/** The timer on which tasks wait, and the time by its clock. */
final class TaskTimer {
  private final Timer timer;
  private final boolean owned;

  private final TimeSource clock;
  private final long originNanos;

  /**
   * Wraps a timer.
   *
   * @param timer the timer
   * @param owned whether {@link #release} stops it
   */
  TaskTimer(Timer timer, boolean owned) {
    this.timer = timer;
    this.owned = owned;
    if (timer.isStopped()) {
      throw new IllegalStateException("the timer is stopped");
    }
    clock = timer.timeSource();
    originNanos = clock.nanoTime();
  }

  /**
   * Returns the time since this object was made, in nanoseconds. If the clock falls behind that
   * moment, the result is zero.
   */
  long nowNanos() {
    return Math.max(0, clock.nanoTime() - originNanos);
  }

  /**
   * Returns the sum of two times that are not negative, saturated at {@code Long.MAX_VALUE}, which
   * means never.
   */
  static long saturatedSum(long nanos, long moreNanos) {
    long sum = nanos + moreNanos;
    return sum < 0 ? Long.MAX_VALUE : sum;
  }

  Timeout newTimeout(TimerTask task, long delayNanos) {
    return timer.newTimeout(task, delayNanos, NANOSECONDS);
  }

  /** Stops the timer if it is owned. */
  void release() {
    if (owned) {
      try {
        timer.close();
      } catch (IllegalStateException e) {
        // The last task ran on the timer thread, which cannot stop itself.
        Thread closer = new Thread(timer::close, "timewheel-close");
        closer.setDaemon(true);
        closer.start();
      }
    }
  }

  @Override
  public String toString() {
    return timer.toString();
  }
}
