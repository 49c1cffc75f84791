// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.Objects.requireNonNull;

import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What all timers share: the stripes, and the path of a timeout through them. It is passive: {@link
 * #runDue} expires what is due, on the calling thread.
 *
 * <h2>Who calls what</h2>
 *
 * Any thread starts, moves and cancels timeouts and asks for figures. {@link #runDue} and {@link
 * #idleUntilTick} belong to one thread at a time: the timer thread, or the caller that polls.
 *
 * <h2>Shutdown</h2>
 *
 * A closed stripe accepts nothing and releases nothing. {@link #shutDown} closes every stripe, then
 * drains each: a timeout added before the close is drained, or was already polled and runs; a later
 * one is refused.
 */
final class Engine {
  /** How many tasks of one stripe run before the next stripe gets its turn. */
  private static final int TURN = 64;

  final Timer timer;
  final Clock clock;
  final Counters counters = new Counters();
  final Callbacks callbacks;
  final WakeUp wakeUp = new WakeUp(this);
  private final Stripe[] stripes;
  private final Homes homes;
  private final boolean ownsThread;
  private final @Nullable PendingLimit limit;
  private volatile boolean closed;
  private volatile @Nullable Throwable failure;

  Engine(
      Timer timer,
      TimerBuilder<?> settings,
      int stripes,
      boolean ownsThread,
      Function<Ticks, Wheel> wheels) {
    Events.prepare();
    this.timer = timer;
    Ticks ticks = new Ticks(settings.tickNanos);
    this.clock = new Clock(settings.timeSource, ticks);
    this.stripes = new Stripe[stripes];
    for (int i = 0; i < stripes; i++) {
      this.stripes[i] = new Stripe(this, wheels.apply(ticks));
    }
    this.homes = new Homes(stripes);
    this.ownsThread = ownsThread;
    this.limit =
        settings.maxPendingTimeouts > 0 ? new PendingLimit(settings.maxPendingTimeouts) : null;
    this.callbacks = new Callbacks(settings, clock, counters);
    rehearse(ticks);
  }

  /**
   * Links the code that runs between taking the lock and waking the timer thread. {@link
   * StripeLock} makes sure that enough stack is left to run that code, but not to link it.
   */
  private void rehearse(Ticks ticks) {
    Stripe.rehearse(new Stripe(this, new HashedWheel(ticks, 1)));
    wakeUp.plan(1);
    wakeUp.dueAt(0, this); // withdraws the plan
  }

  // Starting, moving, cancelling: any thread

  Timeout start(TimerTask task, long delay, TimeUnit unit) {
    requireNonNull(task, "task");
    requireNonNull(unit, "unit");
    long elapsedNanos = clock.elapsedNanos();
    long deadlineNanos = Ticks.deadlineNanos(elapsedNanos, unit.toNanos(delay));
    long deadlineTick = clock.ticks.deadlineTick(deadlineNanos);
    Stripe stripe = stripes[homes.of(Thread.currentThread())];
    WheelTimeout timeout = new WheelTimeout(task, stripe, deadlineNanos);
    acquirePermit();
    boolean added = false;
    try {
      added = stripe.add(timeout, deadlineTick, elapsedNanos);
    } finally {
      if (!added) {
        releasePermits(1);
      }
    }
    if (!added) {
      throw closedException();
    }
    wakeUp.dueAt(deadlineTick, this);
    callbacks.started(timeout);
    return timeout;
  }

  boolean reschedule(WheelTimeout timeout, long delayNanos) {
    long elapsedNanos = clock.elapsedNanos();
    long deadlineNanos = Ticks.deadlineNanos(elapsedNanos, delayNanos);
    long deadlineTick = clock.ticks.deadlineTick(deadlineNanos);
    if (timeout.isRunningHere()) {
      return rearm(timeout, deadlineNanos, deadlineTick, elapsedNanos);
    }
    if (!timeout.stripe.reschedule(timeout, deadlineNanos, deadlineTick, elapsedNanos)) {
      return false;
    }
    wakeUp.dueAt(deadlineTick, this);
    callbacks.rescheduled(timeout);
    return true;
  }

  /**
   * Starts a timeout again from inside its task. The limit does not apply: the timeout was pending
   * before, and a refusal would end whatever the task repeats.
   */
  private boolean rearm(
      WheelTimeout timeout, long deadlineNanos, long deadlineTick, long elapsedNanos) {
    if (limit != null) {
      limit.acquireBeyond();
    }
    boolean rearmed = false;
    try {
      rearmed = timeout.stripe.rearm(timeout, deadlineNanos, deadlineTick, elapsedNanos);
    } finally {
      if (!rearmed) {
        releasePermits(1);
      }
    }
    if (rearmed) {
      wakeUp.dueAt(deadlineTick, this);
      callbacks.started(timeout);
    }
    return rearmed;
  }

  /** A timeout was cancelled in its stripe. */
  void cancelled(WheelTimeout timeout) {
    releasePermits(1);
    callbacks.cancelled(timeout);
  }

  /** The current thread met another that starts its timeouts on the same stripe. */
  void crowded() {
    homes.move(Thread.currentThread());
  }

  private void acquirePermit() {
    if (limit != null && !limit.tryAcquire()) {
      throw closed ? closedException() : limit.exceeded();
    }
  }

  private void releasePermits(long permits) {
    if (limit != null) {
      limit.release(permits);
    }
  }

  private IllegalStateException closedException() {
    Throwable cause = failure;
    return cause == null
        ? new IllegalStateException("the timer is stopped")
        : new IllegalStateException("the timer has failed and runs no more tasks", cause);
  }

  // Expiring: one thread at a time

  /**
   * Runs or hands off at most {@code max} tasks that are due, and then prepares some that will be
   * due soon.
   *
   * <p>The timer thread reads the clock in each round over the stripes, so a timeout that falls due
   * in one stripe does not wait for everything that was due in the others. A caller that polls
   * wants to return, and gets what is due at the time of the call.
   *
   * @return how many tasks it ran or handed off
   */
  int runDue(int max) {
    long nowTick = clock.nowTick();
    int ran = 0;
    boolean more = true;
    OutOfMemoryError lack = null;
    while (more && ran < max) {
      more = false;
      for (Stripe stripe : stripes) {
        int limit = Math.min(TURN, max - ran);
        try {
          int turn = runDue(stripe, nowTick, limit);
          ran += turn;
          more |= turn == limit || stripe.isCutShort();
        } catch (OutOfMemoryError e) {
          lack = e; // the other stripes may not need memory
        }
      }
      if (lack != null) {
        throw lack;
      }
      if (more && ownsThread) {
        nowTick = Math.max(nowTick, clock.nowTick());
      }
    }
    if (!more) {
      for (Stripe stripe : stripes) {
        stripe.openAhead(nowTick);
      }
    }
    return ran;
  }

  private int runDue(Stripe stripe, long nowTick, int max) {
    for (int ran = 0; ran < max; ran++) {
      WheelTimeout timeout = stripe.poll(nowTick, callbacks.takenState());
      if (timeout == null) {
        return ran;
      }
      releasePermits(1);
      callbacks.expired(timeout);
      if (ownsThread) {
        Thread.interrupted(); // one task's interrupt must not reach the next
      }
    }
    return max;
  }

  /**
   * The tick until which nothing is due, as the last {@link #runDue} that was not cut short saw it.
   */
  long idleUntilTick() {
    long earliest = Ticks.NEVER;
    for (Stripe stripe : stripes) {
      earliest = Math.min(earliest, stripe.idleUntilTick());
    }
    return earliest;
  }

  // Figures and the end: any thread

  /** The tick at which something is next due, {@link Ticks#NEVER} if nothing is. */
  long nextTick() {
    long earliest = Ticks.NEVER;
    for (Stripe stripe : stripes) {
      earliest = Math.min(earliest, stripe.nextTick());
    }
    return earliest;
  }

  long pendingTimeouts() {
    long pending = 0;
    for (Stripe stripe : stripes) {
      pending += stripe.pending();
    }
    return pending;
  }

  TimerStats stats() {
    Stripe.Counts counts = new Stripe.Counts();
    for (Stripe stripe : stripes) {
      stripe.addTo(counts);
    }
    return new TimerStats(
        counts.started - counts.expired - counts.cancelled,
        counts.started,
        counts.rescheduled,
        counts.expired,
        counts.cancelled,
        counters.failed.get(),
        counters.rejected.get(),
        counters.wakeups.get(),
        counters.maxLagNanos());
  }

  /** Refuses timeouts from now on, because no thread would run them; pending ones stay pending. */
  void fail(Throwable cause) {
    failure = cause;
    close();
  }

  /**
   * Refuses timeouts from now on and cancels the pending ones, without calling their callbacks yet.
   *
   * @throws OutOfMemoryError if there is no memory for the answer; then all stay pending
   */
  Drained shutDown() {
    close();
    // Nothing is added any more, so there is room for all of them.
    Drained drained = new Drained(Math.toIntExact(pendingTimeouts()));
    for (Stripe stripe : stripes) {
      stripe.drainTo(drained);
    }
    releasePermits(drained.size());
    return drained;
  }

  private void close() {
    closed = true;
    for (Stripe stripe : stripes) {
      stripe.close();
    }
  }

  /** Calls the callbacks of the timeouts that {@link #shutDown} cancelled. */
  Set<Timeout> afterShutDown(Drained drained) {
    return drained.answer(callbacks);
  }
}
