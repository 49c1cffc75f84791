// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.lang.reflect.InvocationTargetException;
import java.util.Collection;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/**
 * The members that {@link Weaver} adds to a {@code HashedWheelTimer}. The agent reads the class
 * file, but never makes an instance.
 *
 * <p>The code must fit into a class file of Java 6. It has no lambdas, no string concatenation by
 * {@code +}, and no access to private members of other classes. Its only types are those of the JDK
 * and the seams.
 */
@SuppressWarnings({"unused", "NullAway", "unchecked"})
final class TimerSeam {
  private WorkerSeam worker;
  private Thread workerThread;
  private long tickDuration;
  private int mask;
  private Queue<Object> timeouts;
  private Queue<Object> cancelledTimeouts;
  private volatile long startTime;
  private CountDownLatch startTimeInitialized;

  /** The engine; null if none is attached, so the timer runs unchanged. */
  @Woven private Object timewheel;

  /** Receives the lag of each timeout that expires; null unless the agent reports it. */
  @Woven private LongConsumer timewheelLag;

  /** True if the engine runs the timeouts; false if the application's own wheel does. */
  @Woven boolean timewheelDrives;

  /** Generated: returns the count of pending timeouts, null in versions without it. */
  AtomicLong timewheelPending() {
    return null;
  }

  /** Called at the end of the constructor. */
  @Woven
  private void timewheelAttach() {
    try {
      Object[] parts =
          (Object[])
              ClassLoader.getSystemClassLoader()
                  .loadClass("io.timewheel.agent.Bridge")
                  .getMethod("attach", Object.class, long.class, int.class, AtomicLong.class)
                  .invoke(null, this, tickDuration, mask + 1, timewheelPending());
      timewheel = parts[0];
      timewheelLag = (LongConsumer) parts[1];
      if (parts.length == 4) {
        timeouts = (Queue<Object>) parts[2];
        cancelledTimeouts = (Queue<Object>) parts[3];
        timewheelDrives = true;
      }
    } catch (Throwable e) {
      Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
      System.err.println(
          "[timewheel-agent] a timer keeps its own wheel: ".concat(cause.toString()));
    }
  }

  /**
   * Called by the worker. Runs the engine's loop, or returns false if the application's own loop
   * must run.
   */
  @Woven
  boolean timewheelRun() {
    Object engine = timewheel;
    if (engine == null || !((BooleanSupplier) engine).getAsBoolean()) {
      return false;
    }
    long start = System.nanoTime();
    startTime = start == 0 ? 1 : start; // zero means that the timer has not started
    startTimeInitialized.countDown();
    ((Runnable) engine).run();
    return true;
  }

  /**
   * Called at the start of {@code stop()}. Stops the engine, and passes the pending timeouts to the
   * worker. Holds the lock of the engine, so only one of two concurrent callers receives the
   * timeouts.
   */
  @Woven
  private void timewheelStop() {
    Object engine = timewheel;
    if (engine != null && Thread.currentThread() != workerThread) {
      synchronized (engine) {
        worker.timewheelLeft(((Supplier<Collection<Object>>) engine).get());
      }
    }
  }

  /**
   * Returns the nanoseconds from now to a deadline, which is relative to the start of the timer. A
   * deadline before the start, from a negative delay, counts as the start.
   */
  @Woven
  long timewheelRemaining(long deadline) {
    return (deadline < 0 ? 0 : deadline) - (System.nanoTime() - startTime);
  }

  /** Called when a timeout expires, before its task runs. */
  @Woven
  void timewheelExpired(long deadline) {
    LongConsumer lag = timewheelLag;
    if (lag != null && deadline >= 0) {
      lag.accept(-timewheelRemaining(deadline));
    }
  }

  /** Decrements the count of pending timeouts. */
  @Woven
  void timewheelNotPending() {
    AtomicLong pending = timewheelPending();
    if (pending != null) {
      pending.decrementAndGet();
    }
  }

  /** Passes the handle of a cancelled timeout to the engine, which removes the timeout. */
  @Woven
  void timewheelCancel(Object handle) {
    ((Consumer<Object>) timewheel).accept(handle);
  }

  @Override
  @Woven
  public String toString() {
    Object engine = timewheel;
    String text = super.toString();
    return engine == null ? text : text.concat(" ").concat(engine.toString());
  }
}
