// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/**
 * The environment of the stress tests: the real engine, with a tick of 1 ns on a clock that stands
 * still until a test sets it. So ticks and nanoseconds since the start are the same numbers.
 *
 * <p>The wheels have one slot, because a jcstress run makes millions of engines. The tests concern
 * races in the stripe, which are the same for any wheel.
 */
class Rig implements TimeSource {
  /** The result of an operation that found a list corrupted by another thread. */
  static final int BROKEN = -1;

  /** The timer that handles of the engine return. It is never started or used. */
  private static final Timer NAMED = PolledTimer.create();

  /** Not volatile: as with {@link System#nanoTime}, reading it orders nothing. */
  long nowNanos;

  final Task task = new Task();

  final Engine engine;

  /** True if an expiry has found a list corrupted by another thread. Arbiters read it. */
  boolean broken;

  Rig() {
    this(1, settings -> {});
  }

  Rig(int stripes, Consumer<PolledTimer.Builder> more) {
    PolledTimer.Builder settings = PolledTimer.builder();
    settings.timeSource(this);
    settings.tickNanos = 1;
    more.accept(settings);
    engine = new Engine(NAMED, settings, stripes, false, ticks -> new HashedWheel(ticks, 1));
  }

  @Override
  public long nanoTime() {
    return nowNanos;
  }

  WheelTimeout start(TimerTask task, long delayNanos) {
    return (WheelTimeout) engine.start(task, delayNanos, TimeUnit.NANOSECONDS);
  }

  WheelTimeout start(long delayNanos) {
    return start(task, delayNanos);
  }

  /** Starts a timeout. Returns 1 if it was started, 0 if the timer was stopped or had failed. */
  int tryStart(long delayNanos) {
    try {
      start(delayNanos);
      return 1;
    } catch (IllegalStateException e) {
      return 0;
    }
  }

  /** Runs due tasks, and returns their number. */
  int runDue() {
    int ran = orBroken(() -> engine.runDue(Integer.MAX_VALUE));
    broken |= ran == BROKEN;
    return ran;
  }

  /**
   * Returns the calls of the task, or {@link #BROKEN} if {@link #runDue} has ever returned that.
   */
  int calls() {
    return broken ? BROKEN : task.calls();
  }

  /** Sets the clock and runs due tasks. */
  int runDueAt(long nowNanos) {
    this.nowNanos = nowNanos;
    return runDue();
  }

  /** Stops the engine as a timer would, and returns the number of cancelled timeouts. */
  int stop() {
    return orBroken(() -> engine.afterShutDown(engine.shutDown()).size());
  }

  /** Cancels a timeout. Returns 1 if this call cancelled it, else 0. */
  static int cancel(WheelTimeout timeout) {
    return orBroken(() -> asInt(timeout.cancel()));
  }

  /**
   * Returns the result of an operation, or {@link #BROKEN} if it failed because another operation
   * had corrupted a list.
   */
  static int orBroken(IntSupplier operation) {
    try {
      return operation.getAsInt();
    } catch (ClassCastException
        | NullPointerException
        | IndexOutOfBoundsException
        | IllegalStateException e) {
      return BROKEN;
    }
  }

  static int asInt(boolean flag) {
    return flag ? 1 : 0;
  }

  /** Returns a handle of a private field of core, for state that no method returns. */
  static VarHandle field(Class<?> owner, String name, Class<?> type) {
    try {
      return MethodHandles.privateLookupIn(owner, MethodHandles.lookup())
          .findVarHandle(owner, name, type);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Counts its calls. */
  static final class Task implements TimerTask {
    final AtomicInteger runs = new AtomicInteger();
    final AtomicInteger cancels = new AtomicInteger();

    @Override
    public void run(Timeout timeout) {
      runs.incrementAndGet();
    }

    @Override
    public void cancelled(Timeout timeout) {
      cancels.incrementAndGet();
    }

    /** Returns ten for each run, plus one for each call of {@code cancelled}. */
    int calls() {
      return 10 * runs.get() + cancels.get();
    }
  }
}
