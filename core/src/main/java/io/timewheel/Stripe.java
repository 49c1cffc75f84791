// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One of the independent parts of a timer: a lock, the wheel that it guards, and the counts of what
 * became of the timeouts of that wheel. A timeout stays in one stripe all its life.
 *
 * <p>The stripe settles all races: whether a timeout runs, is cancelled or is moved is decided
 * once, by whoever takes the lock first.
 *
 * <h2>The lock</h2>
 *
 * It is held for a handful of instructions, at most for {@link Wheel#POLL_BUDGET} moves, and never
 * while foreign code runs. That allows a lock with no queue: one compare-and-set to take it, one
 * release to leave it. Who finds it taken spins, then yields, then sleeps for short times, because
 * the owner may have lost its processor; as nobody waits to be woken, leaving needs no fence to
 * look for waiters. docs/adr/0002 has the figures against the locks of the JDK.
 */
final class Stripe extends Padding {
  private static final int SPINS = 64;
  private static final int YIELDS = 64;
  private static final long NAP_NANOS = 50_000;

  /** Long enough for somebody on another processor to see that the lock is free, and to take it. */
  private static final int COURTESY_SPINS = 16;

  // Who holds the lock.
  private static final int NOBODY = 0;
  static final int ADDING = 1;
  static final int OTHERS = 2;

  private static final VarHandle LOCK;

  static {
    try {
      LOCK = MethodHandles.lookup().findVarHandle(Stripe.class, "lock", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final Engine engine;
  private final Wheel wheel;

  @SuppressWarnings("unused") // read and written through LOCK
  private int lock;

  private boolean closed;
  private long started;
  private long rescheduled;
  private long expired;
  private long cancelled;

  /**
   * The next tick of the wheel as the last poll that found nothing left it. For the worker alone.
   */
  private long idleUntilTick;

  /** Keeps what lies behind off the line of the fields above; see {@link Padding}. */
  @SuppressWarnings("unused")
  private @Nullable
  Object t00, t01, t02, t03, t04, t05, t06, t07, t10, t11, t12, t13, t14, t15, t16, t17;

  Stripe(Engine engine, Wheel wheel) {
    this.engine = engine;
    this.wheel = wheel;
  }

  /** Adds a timeout; false, without a trace, if this stripe is closed. */
  boolean add(WheelTimeout timeout, long deadlineTick, long elapsedNanos) {
    lockForAdding();
    try {
      if (closed) {
        return false;
      }
      wheel.add(timeout, deadlineTick, elapsedNanos);
      started++;
      return true;
    } finally {
      unlock();
    }
  }

  /** Cancels a timeout of this stripe if it is pending. */
  boolean cancel(WheelTimeout timeout) {
    lock();
    try {
      if (!timeout.isPending()) {
        return false;
      }
      wheel.remove(timeout);
      timeout.settle(WheelTimeout.CANCELLED);
      cancelled++;
      return true;
    } finally {
      unlock();
    }
  }

  /** Moves a timeout of this stripe if it is pending. */
  boolean reschedule(
      WheelTimeout timeout, long deadlineNanos, long deadlineTick, long elapsedNanos) {
    lock();
    try {
      if (!timeout.isPending()) {
        return false;
      }
      wheel.move(timeout, deadlineNanos, deadlineTick, elapsedNanos);
      rescheduled++;
      return true;
    } finally {
      unlock();
    }
  }

  /** Makes a timeout of this stripe pending again, whose task runs; false if closed. */
  boolean rearm(WheelTimeout timeout, long deadlineNanos, long deadlineTick, long elapsedNanos) {
    lock();
    try {
      if (closed) {
        return false;
      }
      timeout.deadlineNanos(deadlineNanos);
      wheel.add(timeout, deadlineTick, elapsedNanos);
      started++;
      return true;
    } finally {
      unlock();
    }
  }

  /**
   * Takes a timeout that is due at {@code nowTick}, leaving it in the given state, or returns null
   * if there is none. Lets go of the lock whenever the wheel's budget is spent.
   */
  @Nullable WheelTimeout poll(long nowTick, int takenState) {
    while (true) {
      lock();
      try {
        if (closed) {
          idleUntilTick = Ticks.NEVER;
          return null;
        }
        WheelTimeout timeout = (WheelTimeout) wheel.poll(nowTick);
        if (timeout != null) {
          timeout.settle(takenState);
          expired++;
          return timeout;
        }
        idleUntilTick = wheel.nextTick();
        if (idleUntilTick > Math.max(nowTick, wheel.nowTick)) {
          return null;
        }
      } finally {
        unlock();
      }
      // The budget is spent: now it is the turn of those who wait for the lock. But the processor
      // stays: on a busy machine it would be back a time slice later, each time.
      for (int i = 0; i < COURTESY_SPINS; i++) {
        Thread.onSpinWait();
      }
    }
  }

  /** What the last {@link #poll} that returned null knew of {@link #nextTick}. */
  long idleUntilTick() {
    return idleUntilTick;
  }

  /**
   * The tick at which a poll next has something to do; the first one if it has something to do now.
   * What is due by the time that the wheel has reached is due now, although the clock may have
   * fallen behind that time, and other stripes may have never reached it.
   */
  long nextTick() {
    lock();
    try {
      if (closed) {
        return Ticks.NEVER;
      }
      long tick = wheel.nextTick();
      return tick > wheel.nowTick ? tick : 0;
    } finally {
      unlock();
    }
  }

  /** From now on nothing is added and nothing expires. */
  void close() {
    lock();
    closed = true;
    unlock();
  }

  /**
   * Cancels what is pending and appends it to {@code sink}, letting go of the lock now and then.
   * The sink must have room: running out of memory halfway would lose timeouts.
   */
  void drainTo(List<WheelTimeout> sink) {
    int before;
    do {
      before = sink.size();
      lock();
      try {
        wheel.drain(
            node -> {
              sink.add((WheelTimeout) node);
              node.settle(WheelTimeout.CANCELLED);
              cancelled++;
            },
            Wheel.POLL_BUDGET);
      } finally {
        unlock();
      }
    } while (sink.size() > before);
  }

  long pending() {
    lock();
    try {
      return started - expired - cancelled;
    } finally {
      unlock();
    }
  }

  /** Adds the counts of this stripe to those of others. */
  void addTo(Counts counts) {
    lock();
    try {
      counts.started += started;
      counts.rescheduled += rescheduled;
      counts.expired += expired;
      counts.cancelled += cancelled;
    } finally {
      unlock();
    }
  }

  private void lock() {
    if (!LOCK.compareAndSet(this, NOBODY, OTHERS)) {
      lockContended(OTHERS);
    }
  }

  /**
   * Two threads that meet while both are adding have the same home, and would go on meeting. Who
   * meets a cancel, a move or the worker has met it in passing, and stays: if it went elsewhere,
   * the cancels of what it leaves behind would be in the way of the next one.
   */
  private void lockForAdding() {
    int holder = (int) LOCK.compareAndExchange(this, NOBODY, ADDING);
    if (holder != NOBODY) {
      if (holder == ADDING) {
        engine.crowded();
      }
      lockContended(ADDING);
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // the owner may be waiting for this very processor
  private void lockContended(int holder) {
    for (int tries = 0; ; tries++) {
      if ((int) LOCK.getOpaque(this) == NOBODY && LOCK.compareAndSet(this, NOBODY, holder)) {
        return;
      }
      if (tries < SPINS) {
        Thread.onSpinWait();
      } else if (tries < SPINS + YIELDS) {
        Thread.yield();
      } else {
        LockSupport.parkNanos(this, NAP_NANOS);
        if (Thread.currentThread().isInterrupted()) {
          Thread.yield(); // an interrupted thread cannot nap
        }
      }
    }
  }

  private void unlock() {
    LOCK.setRelease(this, NOBODY);
  }

  /** Sums over the stripes of a timer. */
  static final class Counts {
    long started;
    long rescheduled;
    long expired;
    long cancelled;
  }
}
