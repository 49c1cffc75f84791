// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.TimerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Reports to Flight Recorder, in a JVM that may not have it: only {@link JfrEvents} names {@code
 * jdk.jfr}, and only these methods call it. Whatever goes wrong with an event costs that event.
 */
final class Events {
  private static final boolean PRESENT = isPresent();

  private Events() {}

  private static boolean isPresent() {
    try {
      return JfrEvents.load();
    } catch (Throwable e) {
      return false; // no module jdk.jfr, or one that this library cannot see
    }
  }

  /** {@return what to pass to {@link #attemptEnded}; null if no recording wants the event} */
  static @Nullable Object attemptBegins() {
    try {
      return PRESENT ? JfrEvents.attemptBegins() : null;
    } catch (Throwable e) {
      return null;
    }
  }

  static void attemptEnded(
      @Nullable Object begun,
      TimerRecord record,
      String handler,
      long lagMillis,
      @Nullable Throwable error) {
    if (begun != null) {
      try {
        JfrEvents.attemptEnded(begun, record, handler, lagMillis, error);
      } catch (Throwable e) {
        // one event is lost
      }
    }
  }

  /** {@return what to pass to {@link #commitEnded}; null if no recording wants the event} */
  static @Nullable Object commitBegins() {
    try {
      return PRESENT ? JfrEvents.commitBegins() : null;
    } catch (Throwable e) {
      return null;
    }
  }

  static void commitEnded(@Nullable Object begun, int changes, @Nullable Throwable error) {
    if (begun != null) {
      try {
        JfrEvents.commitEnded(begun, changes, error);
      } catch (Throwable e) {
        // one event is lost
      }
    }
  }
}
