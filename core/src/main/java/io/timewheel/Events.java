// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Reports to Flight Recorder what went slowly, in a JVM that may not have it.
 *
 * <p>Only {@link JfrEvents} names {@code jdk.jfr}, and these static methods call it only where it
 * could be loaded. So nothing else notices whether the module is there.
 *
 * <p>Loading the events takes longer than all else that the first timer of a JVM loads, so they are
 * loaded once the recorder is in use, and not before: by the thread that makes the next timer, or
 * by a thread of its own when a timer would have made an event. No timeout waits for that.
 *
 * <p>A recording must not harm what it records: whatever goes wrong with an event, running out of
 * memory included, costs that event and nothing more.
 */
final class Events {
  /** A constant for the compiler, which removes the calls if the module is missing. */
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
      return false; // no module jdk.jfr, one that this library cannot see, or no memory for it
    }
  }

  /** Loads the events on the thread that makes a timer, if the recorder is in use by then. */
  static void prepare() {
    if (PRESENT && !loaded && JfrEvents.Recorder.isInitialized()) {
      load();
    }
  }

  private static void load() {
    try {
      loaded = JfrEvents.load();
    } catch (Throwable e) {
      // no memory for the events: there are none
    }
  }

  /** Whether the events are loaded. If the recorder is in use, they will be soon. */
  static boolean areLoaded() {
    if (PRESENT
        && !loaded
        && JfrEvents.Recorder.isInitialized()
        && LOADING.compareAndSet(false, true)) {
      startLoading();
    }
    return loaded;
  }

  /** If no thread can be started, the next event tries again. */
  private static void startLoading() {
    boolean started = false;
    try {
      Thread loader = new Thread(null, Events::load, "timewheel-events", 0, false);
      loader.setDaemon(true);
      loader.start();
      started = true;
    } finally {
      if (!started) {
        LOADING.set(false);
      }
    }
  }

  /** A timeout was taken from its wheel: it is about to be run or handed to the executor. */
  static void taken(WheelTimeout timeout, Ticks ticks, long elapsedNanos) {
    try {
      if (areLoaded()) {
        JfrEvents.taken(timeout, ticks, elapsedNanos);
      }
    } catch (Throwable e) {
      // one event is lost
    }
  }

  /**
   * A task is about to begin.
   *
   * @return what to pass to {@link #taskEnded}; null if no recording wants the event
   */
  static @Nullable Object taskBegins() {
    try {
      return areLoaded() ? JfrEvents.taskBegins() : null;
    } catch (Throwable e) {
      return null;
    }
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
    try {
      if (areLoaded()) {
        JfrEvents.woken(engine, planTick);
      }
    } catch (Throwable e) {
      // one event is lost
    }
  }
}
