// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.concurrent.locks.LockSupport;

/**
 * The clock of a timer: what time it is, and a way to wait until it is later. Nothing else in this
 * library reads the time, so a test that brings its own time source controls the time.
 */
public interface TimeSource {
  /**
   * The current time in nanoseconds, from an arbitrary origin, as {@link System#nanoTime()}: only
   * the difference of two readings means anything, and readings may be negative and may wrap
   * around. It should not go back; if it does, to the timer it stands still.
   *
   * <p>Called for each timeout that is started or moved, and by the timer thread between deciding
   * to park and parking: it must be quick, and must neither lock nor park.
   *
   * @return the reading
   */
  long nanoTime();

  /**
   * Parks the current thread until {@link #nanoTime} has reached {@code deadlineNanos}, compared by
   * difference, or the thread is unparked or interrupted; may return early for no reason. As with
   * {@link LockSupport#park(Object)}, an unpark that comes first makes the call return at once.
   *
   * <p>The default assumes that this clock runs as fast as {@link System#nanoTime()}. A clock that
   * does not must override it, or a timer with a thread will not notice that its time has come.
   *
   * @param deadlineNanos the reading of this clock to wait for
   * @param blocker shown in thread dumps as what the thread waits for
   */
  default void parkUntil(long deadlineNanos, Object blocker) {
    LockSupport.parkNanos(blocker, deadlineNanos - nanoTime());
  }

  /** {@return the clock of the machine, {@link System#nanoTime()}} */
  static TimeSource system() {
    return System::nanoTime;
  }
}
