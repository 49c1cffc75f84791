// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.Objects.requireNonNull;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What all timers share: the stripes, the way of a timeout through them, and the running of tasks.
 * It is passive: {@link #runDue} expires what is due, on the thread of whoever calls it.
 *
 * <h2>Who calls what</h2>
 *
 * Any thread starts, moves and cancels timeouts and asks for figures. {@link #runDue} and {@link
 * #idleUntilTick} belong to one thread at a time: the worker, or the caller who polls.
 *
 * <h2>Shutdown</h2>
 *
 * A stripe that is closed takes nothing in and gives nothing out. {@link #shutDown} closes all, and
 * then drains each: a timeout whose addition came before the closing is drained, or had been polled
 * and runs; one that came later is refused.
 */
final class Engine {
  /** How many tasks of one stripe are run before the next stripe has its turn. */
  private static final int TURN = 64;

  private static final System.Logger LOGGER = System.getLogger("io.timewheel");

  final Timer timer;
  final Ticks ticks;
  final WakeUp wakeUp = new WakeUp();
  private final Stripe[] stripes;
  private final int stripeShift;
  private final boolean ownsThread;
  private final @Nullable PendingLimit limit;
  private final @Nullable Executor executor;
  private final @Nullable TimerListener listener;
  private final RejectionPolicy onRejected;
  private final TaskErrorHandler onError;
  private final LongAdder failed = new LongAdder();
  private final LongAdder rejected = new LongAdder();
  private final AtomicLong maxLagNanos = new AtomicLong();
  private volatile boolean closed;
  private volatile @Nullable Throwable failure;

  Engine(
      Timer timer,
      TimerBuilder<?> settings,
      int stripes,
      boolean ownsThread,
      Function<Ticks, Wheel> wheels) {
    this.timer = timer;
    this.ticks = new Ticks(settings.timeSource, settings.tickNanos);
    this.stripes = new Stripe[stripes];
    for (int i = 0; i < stripes; i++) {
      this.stripes[i] = new Stripe(this, wheels.apply(ticks));
    }
    this.stripeShift = Long.numberOfLeadingZeros(stripes) + 1; // leaves as many bits as it takes
    this.ownsThread = ownsThread;
    this.limit =
        settings.maxPendingTimeouts > 0 ? new PendingLimit(settings.maxPendingTimeouts) : null;
    this.executor = settings.executor;
    this.listener = settings.listener;
    this.onRejected = settings.onRejected;
    this.onError = settings.onError;
  }

  // Starting, moving, cancelling: any thread

  Timeout start(TimerTask task, long delay, TimeUnit unit) {
    requireNonNull(task, "task");
    requireNonNull(unit, "unit");
    long elapsedNanos = ticks.elapsedNanos();
    long deadlineNanos = Ticks.deadlineNanos(elapsedNanos, unit.toNanos(delay));
    long deadlineTick = ticks.deadlineTick(deadlineNanos);
    Stripe stripe = stripeOfThread();
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
    wakeUp.dueAt(deadlineTick);
    if (listener != null) {
      notify(timeout, listener::started);
    }
    return timeout;
  }

  boolean reschedule(WheelTimeout timeout, long delayNanos) {
    long elapsedNanos = ticks.elapsedNanos();
    long deadlineNanos = Ticks.deadlineNanos(elapsedNanos, delayNanos);
    long deadlineTick = ticks.deadlineTick(deadlineNanos);
    if (!timeout.stripe.reschedule(timeout, deadlineNanos, deadlineTick, elapsedNanos)) {
      return false;
    }
    wakeUp.dueAt(deadlineTick);
    if (listener != null) {
      notify(timeout, listener::rescheduled);
    }
    return true;
  }

  boolean cancel(WheelTimeout timeout) {
    if (!timeout.stripe.cancel(timeout)) {
      return false;
    }
    releasePermits(1);
    afterCancel(timeout);
    return true;
  }

  /**
   * Threads get their stripe by their id. Multiplied by the golden ratio, ids in sequence fall
   * evenly over the whole range, so that the threads of a pool rarely meet.
   */
  private Stripe stripeOfThread() {
    long spread = Thread.currentThread().getId() * 0x9E3779B97F4A7C15L;
    return stripes[(int) (spread >>> stripeShift) & (stripes.length - 1)];
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

  private void afterCancel(WheelTimeout timeout) {
    try {
      timeout.task().cancelled(timeout);
    } catch (Throwable e) {
      handle(timeout, e);
    }
    if (listener != null) {
      notify(timeout, listener::cancelled);
    }
  }

  // Expiring: one thread at a time

  /**
   * Runs or hands off what is due, at most {@code max} tasks.
   *
   * @return how many
   */
  int runDue(int max) {
    long nowTick = ticks.nowTick();
    int ran = 0;
    boolean more = true;
    while (more && ran < max) {
      more = false;
      for (Stripe stripe : stripes) {
        int turn = runDue(stripe, nowTick, Math.min(TURN, max - ran));
        ran += turn;
        more |= turn == TURN;
      }
    }
    return ran;
  }

  private int runDue(Stripe stripe, long nowTick, int max) {
    int takenState = executor == null ? WheelTimeout.RUN : WheelTimeout.HANDED_OFF;
    for (int ran = 0; ran < max; ran++) {
      WheelTimeout timeout = stripe.poll(nowTick, takenState);
      if (timeout == null) {
        return ran;
      }
      releasePermits(1);
      expire(timeout);
    }
    return max;
  }

  private void expire(WheelTimeout timeout) {
    long lagNanos = ticks.elapsedNanos() - timeout.deadlineNanos();
    if (lagNanos > maxLagNanos.get()) {
      maxLagNanos.accumulateAndGet(lagNanos, Math::max);
    }
    if (listener != null) {
      notify(timeout, t -> listener.expired(t, lagNanos));
    }
    if (executor == null) {
      runTask(timeout);
    } else {
      handOff(timeout, executor);
    }
    if (ownsThread) {
      Thread.interrupted(); // a task's interrupt is not the next one's
    }
  }

  private void handOff(WheelTimeout timeout, Executor executor) {
    try {
      executor.execute(timeout);
    } catch (Throwable e) {
      rejected.increment();
      if (listener != null) {
        notify(timeout, t -> listener.rejected(t, e));
      }
      try {
        onRejected.rejected(timeout, timeout, e);
      } catch (Throwable e2) {
        handle(timeout, e2);
        timeout.run();
      }
    }
  }

  /** Runs the task of a timeout that the current thread has made its own. */
  void runTask(WheelTimeout timeout) {
    long begunNanos = listener == null ? 0 : ticks.elapsedNanos();
    Throwable error = null;
    try {
      timeout.task().run(timeout);
    } catch (Throwable e) {
      error = e;
      failed.increment();
    }
    if (listener != null) {
      notifyOfRun(listener, timeout, error, ticks.elapsedNanos() - begunNanos);
    }
    if (error != null) {
      handle(timeout, error);
    }
  }

  private void notifyOfRun(
      TimerListener listener, Timeout timeout, @Nullable Throwable error, long runNanos) {
    if (error == null) {
      notify(timeout, t -> listener.completed(t, runNanos));
    } else {
      notify(timeout, t -> listener.failed(t, error, runNanos));
    }
  }

  /**
   * The tick until which nothing is due, as the last {@link #runDue} that was not cut short saw it.
   */
  long idleUntilTick() {
    long earliest = Wheel.NEVER;
    for (Stripe stripe : stripes) {
      earliest = Math.min(earliest, stripe.idleUntilTick());
    }
    return earliest;
  }

  // Figures and the end: any thread

  /** The tick at which something is due next, {@link Wheel#NEVER} if nothing is. */
  long nextTick() {
    long earliest = Wheel.NEVER;
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

  TimerStats stats(long wakeups) {
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
        failed.sum(),
        rejected.sum(),
        wakeups,
        maxLagNanos.get());
  }

  /** Refuses timeouts from now on, because nobody would run them; those pending stay so. */
  void fail(Throwable cause) {
    failure = cause;
    close();
  }

  /**
   * Refuses timeouts from now on, and cancels those pending; their callbacks are yet to be called.
   */
  List<WheelTimeout> shutDown() {
    close();
    // Of the right size at once: running out of memory halfway would lose timeouts.
    List<WheelTimeout> drained = new ArrayList<>(Math.toIntExact(pendingTimeouts()));
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

  /** Calls the callbacks of what {@link #shutDown} cancelled. */
  Set<Timeout> afterShutDown(List<WheelTimeout> drained) {
    Set<Timeout> answer = Collections.newSetFromMap(new IdentityHashMap<>(drained.size()));
    for (WheelTimeout timeout : drained) {
      afterCancel(timeout);
      answer.add(timeout);
    }
    return Collections.unmodifiableSet(answer);
  }

  // Foreign code, held off

  private void notify(Timeout timeout, Consumer<Timeout> call) {
    try {
      call.accept(timeout);
    } catch (Throwable e) {
      handle(timeout, e);
    }
  }

  private void handle(Timeout timeout, Throwable error) {
    try {
      onError.handle(timeout, error);
    } catch (Throwable e) {
      try {
        log(timeout, e);
      } catch (Throwable unloggable) {
        // Nobody is left to tell, and the timer must go on.
      }
    }
  }

  /** Names the class of the task and not the task, whose text may hold anything. */
  static void log(Timeout timeout, Throwable error) {
    try {
      LOGGER.log(
          Level.WARNING,
          "a callback of a " + timeout.task().getClass().getName() + " threw",
          error);
    } catch (Throwable e) {
      // A log is foreign code too, as is the text of an error. There is nobody left to tell.
    }
  }
}
