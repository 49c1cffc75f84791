// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Reports slow tasks and late wake-ups to Flight Recorder, which a JVM may lack.
 *
 * <p>Only {@link JfrEvents} refers to {@code jdk.jfr}, and these static methods call it only if it
 * could be loaded. No other class notices whether the module is present.
 *
 * <p>Loading the events takes longer than loading all other classes for the first timer of a JVM.
 * So they are loaded only once the recorder is in use. The thread that makes the next timer loads
 * them. If a timer has an event to report before that, a separate thread loads them. No timeout
 * waits for it.
 *
 * <p>A recording must not harm the application. If an event fails, even for lack of memory, only
 * that event is lost.
 */
final class Events {
  /**
   * False if the module is missing. The JIT compiler treats it as a constant and then removes the
   * calls.
   */
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
      return false; // jdk.jfr is missing or not visible to this library, or memory is full
    }
  }

  /** Loads the events on the thread that makes a timer, if the recorder is already in use. */
  static void prepare() {
    if (PRESENT && !loaded && JfrEvents.Recorder.isInitialized()) {
      load();
    }
  }

  /**
   * Loads the events without the access control context of the calling thread. On JDK 17, the
   * recorder retains that context, and with it the class loader of the application.
   */
  @SuppressWarnings("removal") // a JDK without the method has no events
  private static void load() {
    try {
      loaded =
          AccessController.doPrivileged(
              new PrivilegedAction<Boolean>() {
                @Override
                public Boolean run() {
                  return JfrEvents.load();
                }
              });
    } catch (Throwable e) {
      // no memory for the events: this timer has none
    }
  }

  /** Returns whether the events are loaded. Starts to load them if the recorder is in use. */
  static boolean areLoaded() {
    if (PRESENT
        && !loaded
        && JfrEvents.Recorder.isInitialized()
        && LOADING.compareAndSet(false, true)) {
      startLoading();
    }
    return loaded;
  }

  /** Starts a thread that loads the events. If that fails, the next event tries again. */
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

  /**
   * Reports that a timeout was taken from its wheel, and is about to be run or handed to the
   * executor.
   */
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
   * Reports that a task is about to begin.
   *
   * @return the argument for {@link #taskEnded}; null if no recording wants the event
   */
  static @Nullable Object taskBegins() {
    try {
      return areLoaded() ? JfrEvents.taskBegins() : null;
    } catch (Throwable e) {
      return null;
    }
  }

  /** Reports that a task has ended. */
  static void taskEnded(@Nullable Object begun, Timeout timeout) {
    if (begun != null) {
      try {
        JfrEvents.taskEnded(begun, timeout);
      } catch (Throwable e) {
        // one event is lost
      }
    }
  }

  /** Reports that the timer thread is awake again: its tick has come, or another thread woke it. */
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
