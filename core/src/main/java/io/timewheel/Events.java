// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import org.jspecify.annotations.Nullable;

/**
 * Where the mechanism tells Flight Recorder what went slowly, in a JVM that may not have it.
 *
 * <p>{@link JfrEvents}, the one class that names {@code jdk.jfr}, is behind static methods that are
 * called only where it could be loaded. So nothing else notices whether the module is there.
 *
 * <p>A recording must not harm what it records: whatever goes wrong with an event, the lack of
 * memory for it included, costs that event and nothing more.
 */
final class Events {
  /** A constant for the compiler: without the module, nothing is left of the calls. */
  private static final boolean PRESENT = isPresent();

  private Events() {}

  private static boolean isPresent() {
    try {
      return JfrEvents.load();
    } catch (Throwable e) {
      return false; // no module jdk.jfr, one that this library cannot see, or no memory for it
    }
  }

  /** Looks for the recorder, once: on the thread that makes a timer, and not on the timer's. */
  static void prepare() {}

  /** A timeout was taken from its wheel: it is about to be run or handed to the executor. */
  static void taken(WheelTimeout timeout, Ticks ticks, long elapsedNanos) {
    if (PRESENT) {
      try {
        JfrEvents.taken(timeout, ticks, elapsedNanos);
      } catch (Throwable e) {
        // an event less
      }
    }
  }

  /**
   * A task is about to begin.
   *
   * @return what {@link #taskEnded} is to be given, null if nobody wants to know
   */
  static @Nullable Object taskBegins() {
    if (PRESENT) {
      try {
        return JfrEvents.taskBegins();
      } catch (Throwable e) {
        // an event less
      }
    }
    return null;
  }

  /** A task has ended. */
  static void taskEnded(@Nullable Object begun, Timeout timeout) {
    if (begun != null) {
      try {
        JfrEvents.taskEnded(begun, timeout);
      } catch (Throwable e) {
        // an event less
      }
    }
  }

  /** The worker is up again, having parked until a tick or until somebody woke it. */
  static void woken(Engine engine, long planTick) {
    if (PRESENT) {
      try {
        JfrEvents.woken(engine, planTick);
      } catch (Throwable e) {
        // an event less
      }
    }
  }
}
