// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import org.jspecify.annotations.Nullable;

/**
 * Reports to Flight Recorder what went slowly, in a JVM that may not have it.
 *
 * <p>Only {@link JfrEvents} names {@code jdk.jfr}, and these static methods call it only where it
 * could be loaded. So nothing else notices whether the module is there.
 *
 * <p>A recording must not harm what it records: whatever goes wrong with an event, running out of
 * memory included, costs that event and nothing more.
 */
final class Events {
  /** A constant for the compiler, which removes the calls if the module is missing. */
  private static final boolean PRESENT = isPresent();

  private Events() {}

  private static boolean isPresent() {
    try {
      return JfrEvents.load();
    } catch (Throwable e) {
      return false; // no module jdk.jfr, one that this library cannot see, or no memory for it
    }
  }

  /**
   * Looks for the recorder once, on the thread that makes a timer rather than on the timer thread.
   */
  static void prepare() {}

  /** A timeout was taken from its wheel: it is about to be run or handed to the executor. */
  static void taken(WheelTimeout timeout, Ticks ticks, long elapsedNanos) {
    if (PRESENT) {
      try {
        JfrEvents.taken(timeout, ticks, elapsedNanos);
      } catch (Throwable e) {
        // one event is lost
      }
    }
  }

  /**
   * A task is about to begin.
   *
   * @return what to pass to {@link #taskEnded}; null if no recording wants the event
   */
  static @Nullable Object taskBegins() {
    if (PRESENT) {
      try {
        return JfrEvents.taskBegins();
      } catch (Throwable e) {
        // one event is lost
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
        // one event is lost
      }
    }
  }

  /** The timer thread is up again: its tick has come, or another thread woke it. */
  static void woken(Engine engine, long planTick) {
    if (PRESENT) {
      try {
        JfrEvents.woken(engine, planTick);
      } catch (Throwable e) {
        // one event is lost
      }
    }
  }
}
