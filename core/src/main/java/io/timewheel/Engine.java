// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.Objects.requireNonNull;

import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Holds the stripes of a timer, and moves timeouts through them. All kinds of timers share it. It
 * is passive: {@link #runDue} expires due timeouts on the calling thread.
 *
 * <h2>Threads</h2>
 *
 * Any thread may start, move and cancel timeouts and read the counts. Only one thread at a time may
 * call {@link #runDue} and {@link #idleUntilTick}: the timer thread, or the thread that polls.
 *
 * <h2>Shutdown</h2>
 *
 * A closed stripe accepts no timeouts and expires none. {@link #shutDown} closes every stripe, then
 * drains each. A timeout added before the close is drained, unless it was already polled; then it
 * runs. A later timeout is refused.
 */
final class Engine {
  /** The number of tasks of one stripe that run before the next stripe is served. */
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
   * StripeLock} reserves enough stack to run that code, but not enough to link it.
   */
  private void rehearse(Ticks ticks) {
    Stripe.rehearse(new Stripe(this, new HashedWheel(ticks, 1)));
    wakeUp.plan(1);
    wakeUp.dueAt(0, this); // withdraws the plan
  }

  // Starting, moving, cancelling: called by any thread

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
   * before, and a refusal would end a repeating task.
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

  /** Counts a timeout that was cancelled in its stripe. */
  void cancelled(WheelTimeout timeout) {
    releasePermits(1);
    callbacks.cancelled(timeout);
  }

  /**
   * Assigns the current thread to another stripe, because it contended with a thread that also adds
   * timeouts to this one.
   */
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

  // Expiring: called by one thread at a time

  /**
   * Runs or hands off at most {@code max} due tasks, and then prepares some timeouts that will be
   * due soon.
   *
   * <p>The timer thread reads the clock in each pass over the stripes. So a timeout that falls due
   * in one stripe does not wait for all the due timeouts of the others. A thread that polls must be
   * able to return, so it gets only the timeouts that were due at the time of the call.
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
        Thread.interrupted(); // the interrupt of one task must not reach the next
      }
    }
    return max;
  }

  /**
   * Returns the tick until which nothing is due, as seen by the last {@link #runDue} that was not
   * cut short.
   */
  long idleUntilTick() {
    long earliest = Ticks.NEVER;
    for (Stripe stripe : stripes) {
      earliest = Math.min(earliest, stripe.idleUntilTick());
    }
    return earliest;
  }

  // Counts and shutdown: called by any thread

  /** Returns the tick at which something is next due; {@link Ticks#NEVER} if nothing is. */
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

  /**
   * Refuses timeouts from now on, because no thread would run them. Pending timeouts stay pending.
   */
  void fail(Throwable cause) {
    failure = cause;
    close();
  }

  /**
   * Refuses timeouts from now on, and cancels the pending ones without notifying them yet.
   *
   * @throws OutOfMemoryError if there is no memory for the result; then all timeouts stay pending
   */
  Drained shutDown() {
    close();
    // No more timeouts are added, so there is room for all of them.
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

  /** Notifies the timeouts that {@link #shutDown} cancelled. */
  Set<Timeout> afterShutDown(Drained drained) {
    return drained.answer(callbacks);
  }
}
