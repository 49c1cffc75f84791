// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/**
 * What the stress tests work on: the real engine, with a tick of 1 ns on a clock that stands still
 * until a test sets it, so that ticks and nanoseconds since the start are the same numbers.
 *
 * <p>The wheels are of one slot, unless a test asks for more, because a jcstress run makes millions
 * of engines. The races are those of the stripe, and the same for any wheel.
 */
class Rig implements TimeSource {
  /** The answer of an operation that met a list which somebody had taken apart. */
  static final int BROKEN = -1;

  /** What handles of the engine name as their timer; never started, and used by nobody. */
  private static final Timer NAMED = PolledTimer.create();

  /** Not volatile: as with {@link System#nanoTime}, reading it orders nothing. */
  long nowNanos;

  final Task task = new Task();

  final Engine engine;

  /** Whether what expires has met a list which somebody had taken apart; for arbiters. */
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

  /** 1 if a timeout could be started, 0 if the timer said that it is stopped or has failed. */
  int tryStart(long delayNanos) {
    try {
      start(delayNanos);
      return 1;
    } catch (IllegalStateException e) {
      return 0;
    }
  }

  /** Runs what is due, and tells how many tasks that were. */
  int runDue() {
    int ran = orBroken(() -> engine.runDue(Integer.MAX_VALUE));
    broken |= ran == BROKEN;
    return ran;
  }

  /** The calls of the task, or {@link #BROKEN} if {@link #runDue} has ever answered that. */
  int calls() {
    return broken ? BROKEN : task.calls();
  }

  /** Sets the clock and runs what is due. */
  int runDueAt(long nowNanos) {
    this.nowNanos = nowNanos;
    return runDue();
  }

  /** Stops the engine as a timer would, and tells how many timeouts that cancelled. */
  int stop() {
    return orBroken(() -> engine.afterShutDown(engine.shutDown()).size());
  }

  /** 1 if this cancelled the timeout, else 0. */
  static int cancel(WheelTimeout timeout) {
    return orBroken(() -> asInt(timeout.cancel()));
  }

  /** The answer of an operation, or {@link #BROKEN} if it stumbled over what another one did. */
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

  /** A private field of the core, for what cannot be seen from outside. */
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

    /** Ten for each run, one for each call of {@code cancelled}. */
    int calls() {
      return 10 * runs.get() + cancels.get();
    }
  }
}
