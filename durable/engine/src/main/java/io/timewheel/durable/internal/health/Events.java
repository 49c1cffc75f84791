// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.health;

import io.timewheel.durable.spi.record.TimerRecord;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Reports events to Flight Recorder, if the JVM has it. Only {@link JfrEvents} uses {@code
 * jdk.jfr}, and only these methods call it. A failure loses the event and has no other effect.
 *
 * <p>Loading the event classes takes 0.2 to 0.4 s, so they are loaded only when the recorder is in
 * use. The thread that creates the next scheduler loads them, or a separate thread at the first
 * event.
 */
public final class Events {
  private static final boolean PRESENT = isPresent();

  /** True once a thread was started to load the events. */
  private static final AtomicBoolean LOADING = new AtomicBoolean();

  /** True once the events are loaded. */
  private static volatile boolean loaded;

  private Events() {}

  private static boolean isPresent() {
    try {
      JfrEvents.Recorder.isInitialized();
      return true;
    } catch (Throwable e) {
      return false; // the module jdk.jfr is absent, or not readable by this library
    }
  }

  /** Loads the events on the thread that creates a scheduler, if the recorder is already in use. */
  public static void prepare() {
    if (PRESENT && !loaded && JfrEvents.Recorder.isInitialized()) {
      load();
    }
  }

  private static void load() {
    try {
      loaded = JfrEvents.load();
    } catch (Throwable e) {
      // no memory for the events, so none are recorded
    }
  }

  /** Returns whether the events are loaded. If the recorder is in use, this starts to load them. */
  private static boolean areLoaded() {
    if (PRESENT
        && !loaded
        && JfrEvents.Recorder.isInitialized()
        && LOADING.compareAndSet(false, true)) {
      startLoading();
    }
    return loaded;
  }

  /**
   * Starts a thread that loads the events. If no thread can be started, the next event tries again.
   */
  private static void startLoading() {
    boolean started = false;
    try {
      Thread loader = new Thread(null, Events::load, "timewheel-durable-events", 0, false);
      loader.setDaemon(true);
      loader.start();
      started = true;
    } finally {
      if (!started) {
        LOADING.set(false);
      }
    }
  }

  /** {@return the event for {@link #attemptEnded}; null if no recording needs it} */
  public static @Nullable Object attemptBegins() {
    try {
      return areLoaded() ? JfrEvents.attemptBegins() : null;
    } catch (Throwable e) {
      return null;
    }
  }

  public static void attemptEnded(
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

  /** {@return the event for {@link #commitEnded}; null if no recording needs it} */
  public static @Nullable Object commitBegins() {
    try {
      return areLoaded() ? JfrEvents.commitBegins() : null;
    } catch (Throwable e) {
      return null;
    }
  }

  public static void commitEnded(@Nullable Object begun, int changes, @Nullable Throwable error) {
    if (begun != null) {
      try {
        JfrEvents.commitEnded(begun, changes, error);
      } catch (Throwable e) {
        // one event is lost
      }
    }
  }
}
