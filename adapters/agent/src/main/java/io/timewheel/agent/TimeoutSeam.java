// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The members that {@link Weaver} adds to a {@code HashedWheelTimeout}; see {@link TimerSeam}. The
 * engine is in another class loader, and calls the timeout through these interfaces of the JDK.
 */
@SuppressWarnings({"unused", "NullAway"})
final class TimeoutSeam
    implements LongSupplier, BooleanSupplier, Consumer<Object>, Supplier<Object> {
  /**
   * The final states of a timeout. {@link Shape} checks that the application's class has the same
   * constants.
   */
  static final int ST_CANCELLED = 1;

  static final int ST_EXPIRED = 2;

  private TimerSeam timer;
  private long deadline;

  /** The engine's timeout for this one. */
  @Woven private Object timewheelHandle;

  public void expire() {}

  public boolean isCancelled() {
    return false;
  }

  /** Generated: decrements the count of pending timeouts if {@link #expire} does not. */
  void timewheelExpiring() {}

  /** Generated: calls the task's {@code cancelled}, which versions before Netty 4.2 lack. */
  void timewheelCancelled() {}

  /** Generated: returns the task. */
  @Override
  public Object get() {
    return null;
  }

  /** Returns the nanoseconds from now to the deadline. */
  @Override
  @Woven
  public long getAsLong() {
    return timer.timewheelRemaining(deadline);
  }

  /**
   * Called by the timer's thread. Runs the task, or notifies the task if the timeout was cancelled.
   */
  @Override
  @Woven
  public boolean getAsBoolean() {
    expire();
    boolean cancelled = isCancelled();
    if (cancelled) {
      timewheelCancelled();
    }
    return cancelled;
  }

  /** Records the engine's timeout. */
  @Override
  @Woven
  public void accept(Object handle) {
    timewheelHandle = handle;
  }

  /**
   * Called with the outcome of each attempt to change the state. Only one attempt succeeds. Returns
   * {@code changed}, which is then the result of the attempt.
   */
  @Woven
  private boolean timewheelSettled(boolean changed, int state) {
    if (changed && state == ST_EXPIRED) {
      timer.timewheelExpired(deadline);
      if (timer.timewheelDrives) {
        timewheelExpiring();
      }
    } else if (changed && state == ST_CANCELLED && timer.timewheelDrives) {
      timer.timewheelCancel(timewheelHandle);
      timer.timewheelNotPending();
    }
    return changed;
  }
}
