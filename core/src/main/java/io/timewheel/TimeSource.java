// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.concurrent.locks.LockSupport;

/**
 * The clock of a timer: the current time, and a way to wait for a later time. Nothing else in this
 * library reads the time. So a test that injects its own time source controls the time.
 */
public interface TimeSource {
  /**
   * Returns the current time in nanoseconds, from an arbitrary origin, like {@link
   * System#nanoTime()}. Only the difference of two readings has a meaning. Readings may be negative
   * and may wrap around. The time should not go back; if it does, the timer treats it as standing
   * still.
   *
   * <p>Called for each timeout that is started or moved, and by the timer thread just before it
   * parks. So it must be quick, and must neither lock nor park.
   *
   * @return the reading
   */
  long nanoTime();

  /**
   * Parks the current thread until {@link #nanoTime} reaches {@code deadlineNanos}, compared by
   * difference, or the thread is unparked or interrupted. May also return early, without a reason.
   * As with {@link LockSupport#park(Object)}, an earlier unpark makes the call return at once.
   *
   * <p>The default implementation assumes that this clock runs as fast as {@link
   * System#nanoTime()}. Any other clock must override it; otherwise, a timer with a thread does not
   * notice that a deadline is reached.
   *
   * @param deadlineNanos the reading of this clock to wait for
   * @param blocker the object that thread dumps show as the reason for waiting
   */
  default void parkUntil(long deadlineNanos, Object blocker) {
    LockSupport.parkNanos(blocker, deadlineNanos - nanoTime());
  }

  /** {@return the clock of the machine, {@link System#nanoTime()}} */
  static TimeSource system() {
    return System::nanoTime;
  }
}
