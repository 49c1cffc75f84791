// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;

/** The timer that tasks wait on, and what time it is by that timer's clock. */
final class TaskTimer {
  private final Timer timer;
  private final boolean owned;

  /**
   * Cancelled from the beginning. A timer does not show its clock, but every timeout counts the
   * time to its deadline and on, also when it is no longer pending.
   */
  private final Timeout epoch;

  private final long remainingAtStartNanos;

  /**
   * Takes a timer into use.
   *
   * @param timer the timer
   * @param owned whether {@link #release} stops it
   */
  TaskTimer(Timer timer, boolean owned) {
    this.timer = timer;
    this.owned = owned;
    epoch = timer.newTimeout(timeout -> {}, 0, NANOSECONDS);
    epoch.cancel();
    remainingAtStartNanos = epoch.remaining(NANOSECONDS);
  }

  /** The time since this was made, as the timer tells it. */
  long nowNanos() {
    return Math.max(0, remainingAtStartNanos - epoch.remaining(NANOSECONDS));
  }

  /** The sum of two times that are zero or more; never is never exceeded. */
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
        // The last task ran on the timer's own thread, which cannot stop itself.
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
