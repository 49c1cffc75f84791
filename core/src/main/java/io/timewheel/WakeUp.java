// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * How threads that start timeouts wake the worker, and only if they must.
 *
 * <p>The worker publishes the tick that it is going to sleep until. Who starts or moves a timeout
 * compares its deadline with that plan, after leaving the lock of the stripe, and wakes the worker
 * if the deadline is earlier. The plan says {@link #AWAKE} while the worker is up, and for the
 * first thread that wakes it to tell the others that it has been done.
 *
 * <h2>No wake-up is lost</h2>
 *
 * <pre>
 *   producer                             worker
 *   P1  lock stripe                      W1  publish the plan
 *   P2  add the timeout                  W2  lock stripe
 *   P3  unlock stripe                    W3  read the next tick of its wheel
 *   P4  read the plan                    W4  unlock stripe
 *   P5  if earlier: withdraw, unpark     W5  if earlier or withdrawn: do not park, else park
 * </pre>
 *
 * The two critical sections are ordered by the lock.
 *
 * <ul>
 *   <li>Producer first: P3 → W2, so W3 sees the timeout, and W5 does not park.
 *   <li>Worker first: W1 precedes W4 → P1, so P4 sees this plan or a later one. If it is this plan,
 *       P5 unparks; that W5 has not parked yet does no harm, since the permit of {@code unpark}
 *       makes it return at once. If it is a later one, either another producer withdrew the plan,
 *       and the worker is going to look at all stripes again, or the worker published it, and the
 *       argument holds for that plan and its own W2.
 * </ul>
 *
 * A compare-and-set that fails in P5 means that the plan is not the one that was read, and the last
 * case applies. The lock orders everything, so the plan itself is read and written opaquely.
 *
 * <p>The permit alone would not do: if the worker has to wait for a lock in W2, it naps there, and
 * a nap uses up the permit of a P5 that concerns a stripe which has been looked at before. But then
 * that plan has been withdrawn, which W5 reads after the last of these naps. A plan that is
 * withdrawn after that leaves its permit for the park.
 */
final class WakeUp extends Padding {
  /** The plan of a worker that is not about to park: earlier than any deadline. */
  static final long AWAKE = Long.MIN_VALUE;

  private static final VarHandle PLAN;

  static {
    try {
      PLAN = MethodHandles.lookup().findVarHandle(WakeUp.class, "planTick", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused") // read through PLAN
  private long planTick = AWAKE;

  /** The thread that parks; written before its first plan is published. */
  private volatile @Nullable Thread sleeper;

  /** Names the current thread as the one to wake. */
  void bind() {
    sleeper = Thread.currentThread();
  }

  /** W1: the worker will sleep until {@code tick}, or is up, if that is {@link #AWAKE}. */
  void plan(long tick) {
    PLAN.setOpaque(this, tick);
  }

  /** W5: whether someone has withdrawn the plan, and the worker is not to park for it. */
  boolean isWithdrawn() {
    return (long) PLAN.getOpaque(this) == AWAKE;
  }

  /** P4 and P5: a timeout is due at {@code deadlineTick}. */
  void dueAt(long deadlineTick) {
    long plan = (long) PLAN.getOpaque(this);
    if (deadlineTick < plan && PLAN.compareAndSet(this, plan, AWAKE)) {
      LockSupport.unpark(sleeper);
    }
  }

  /** Makes the worker look around, whatever its plan is. */
  void wake() {
    LockSupport.unpark(sleeper);
  }
}
