// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Wakes the timer thread when a thread starts a timeout, and only if necessary.
 *
 * <p>The timer thread publishes the tick that it plans to sleep until. A thread that starts or
 * moves a timeout releases the lock of the stripe, and compares the deadline with that plan. It
 * wakes the timer thread if the deadline is earlier. It first withdraws the plan: it replaces it
 * with its own deadline, the hint. So other threads see that the timer thread has been woken.
 *
 * <h2>No wake-up is lost</h2>
 *
 * <pre>
 *   producer                             timer thread
 *                                        W0  take the hint, and the engine
 *   P1  lock stripe                      W1  publish the plan
 *   P2  add the timeout                  W2  lock stripe
 *   P3  unlock stripe                    W3  read the next tick of its wheel
 *   P4  read the plan                    W4  unlock stripe
 *   P5  if earlier: withdraw,            W5  if earlier or withdrawn: do not park, else park
 *       pin the engine, unpark
 * </pre>
 *
 * The two critical sections are ordered by the lock.
 *
 * <ul>
 *   <li>Producer first: P3 → W2, so W3 sees the timeout, and W5 does not park.
 *   <li>Timer thread first: W1 precedes W4 → P1, so P4 sees this plan or a later one. If it is this
 *       plan, P5 unparks; if W5 has not parked yet, the permit of {@code unpark} makes it return at
 *       once. A later value has one of two causes. If another producer withdrew the plan, the timer
 *       thread will check all stripes again. If the timer thread published another plan, the
 *       argument holds for that plan and its own W2.
 * </ul>
 *
 * If the compare-and-set in P5 fails, the plan is no longer the one that was read, and the last
 * case applies. The lock orders everything, so the plan itself is read and written opaquely.
 *
 * <p>The permit alone is not sufficient. The timer thread may sleep in W2, while it waits for a
 * lock. That sleep uses up the permit of a P5 for a stripe that it has already checked. But P5 has
 * withdrawn the plan, and W5 reads that after the last sleep. A plan withdrawn later leaves its
 * permit for the park.
 *
 * <h2>Few wake-ups are unnecessary</h2>
 *
 * A timeout that is cancelled at once may be gone before the timer thread checks the stripes. If
 * the thread then slept until the next deadline, each further timeout of the same delay would wake
 * it again. So it plans no later than the hint, until the hint has passed. The next timeouts are
 * later, and do not wake it. A plan that is too early misses nothing. A hint is lost if the timer
 * thread wakes for another reason at the same moment. That costs one wake-up.
 *
 * <h2>No timer is lost</h2>
 *
 * A timer is garbage-collected if it is unreachable and nothing will ever be due on it. So a {@code
 * Worker} that parks forever does not refer to its engine. Any timeout that will be due withdraws
 * that plan, and P5 pins the engine here before the producer drops its reference. W0 unpins only
 * after the timer thread has taken its own reference. If P5 pins after that, it also unparks after
 * that, and the timer thread returns to W0. So no pin remains.
 */
final class WakeUp extends Padding {
  /** The plan while the timer thread is awake: withdrawn, with no hint. */
  private static final long AWAKE = ~Ticks.NEVER;

  private static final VarHandle PLAN;

  static {
    try {
      PLAN = MethodHandles.lookup().findVarHandle(WakeUp.class, "planTick", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /**
   * The tick until which the timer thread sleeps. If the plan is withdrawn, the bitwise complement
   * of the hint.
   */
  @SuppressWarnings("unused") // read through PLAN
  private long planTick = AWAKE;

  /** The thread that parks. It is written before its first plan is published. */
  private volatile @Nullable Thread sleeper;

  /**
   * Never read. It keeps the engine from being collected until the timer thread has a reference.
   */
  @SuppressWarnings("unused")
  private volatile @Nullable Object pinned;

  /** Pins the engine until the timer thread has begun. */
  WakeUp(Object engine) {
    pinned = engine;
  }

  /** Registers the current thread as the one to wake. */
  void bind() {
    sleeper = Thread.currentThread();
  }

  /**
   * W0: records that the timer thread is awake and has its own reference to the engine.
   *
   * @return the hint: the deadline for which the timer thread was woken; {@link Ticks#NEVER} if
   *     none
   */
  long awake() {
    long plan = (long) PLAN.getAndSet(this, AWAKE);
    pinned = null;
    return plan < 0 ? ~plan : Ticks.NEVER;
  }

  /** W1: announces that the timer thread will sleep until {@code tick}, which is not negative. */
  void plan(long tick) {
    PLAN.setOpaque(this, tick);
  }

  /**
   * W5: returns whether a producer has withdrawn the plan, so the timer thread must not park for
   * it.
   */
  boolean isWithdrawn() {
    return (long) PLAN.getOpaque(this) < 0;
  }

  /**
   * P4 and P5: wakes the timer thread if necessary for a timeout of the engine that is due at
   * {@code deadlineTick}, which is not negative.
   */
  void dueAt(long deadlineTick, Object engine) {
    long plan = (long) PLAN.getOpaque(this);
    if (deadlineTick < plan && PLAN.compareAndSet(this, plan, ~deadlineTick)) {
      pinned = engine;
      LockSupport.unpark(sleeper);
    }
  }

  /** Wakes the timer thread without a deadline, so it checks the stripes again. */
  void wake() {
    LockSupport.unpark(sleeper);
  }
}
