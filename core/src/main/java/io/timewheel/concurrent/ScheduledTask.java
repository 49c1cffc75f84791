// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.timewheel.Timeout;
import io.timewheel.TimerTask;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A task, one-shot or periodic. One object is the future that the user holds, the task that the
 * timer fires, and the task that a worker runs. {@link FutureTask} handles the result; this class
 * decides when to run.
 *
 * <h2>Stages</h2>
 *
 * <pre>
 *              ┌─────── periodic ────────┐
 *              ▼                         │
 *   ──────► WAITING ──────► the thread that runs it ◄──► INTERRUPTING
 *              │                         │
 *              └──────► LEFT ◄───────────┘
 * </pre>
 *
 * A task is live until its stage is LEFT. Every change of stage is a compare-and-set: of all
 * threads that want to begin, cancel, fail or drain a waiting task, one succeeds. The thread that
 * moves the task to LEFT removes it from the live tasks once its future is done. So a task that is
 * cancelled during a run is live until the run returns. INTERRUPTING holds the runner back until
 * {@code shutdownNow} has interrupted it, so the interrupt cannot reach later work of the thread.
 * If the run ignored the interrupt, the interrupt status stays set, as after {@link
 * FutureTask#cancel}. Pools clear it.
 *
 * <h2>The timeout</h2>
 *
 * A periodic task has one timeout for its whole life, so it counts once towards the timer's limit.
 * When the timeout fires, it is <i>parked</i> before the run is handed over: it is re-armed with a
 * deadline that never comes. The end of the run moves it to the next deadline. So the timer's limit
 * can refuse a task only when it is scheduled, and runs do not overlap.
 *
 * <h2>Races</h2>
 *
 * <ul>
 *   <li>Completion writes the result and then reads the stage. The end of a periodic run writes
 *       WAITING and then reads the result. At least one of them sees the other, so a cancelled task
 *       does not wait for another run. The state of the shutdown is checked in the same way.
 *   <li>Arming and parking read the stage and make the timeout pending, under a lock. Leaving
 *       writes LEFT and then takes that lock to read the timeout. So it finds the timeout pending,
 *       or the timeout can no longer become pending: no timeout of a task that has left stays in
 *       the timer. The lock is held during the call of the timer, which runs no task but calls its
 *       listener. A thread that cancels therefore waits for a start in progress. So a listener must
 *       not wait for a thread that cancels or fails a task that is being armed.
 *   <li>Moving the parked timeout takes no lock. If the task has left, the timeout is cancelled,
 *       and a cancelled timeout cannot be moved.
 * </ul>
 */
final class ScheduledTask<V> extends FutureTask<V>
    implements RunnableScheduledFuture<V>, TimerTask {
  /** The delay of a parked timeout. */
  private static final long NEVER = Long.MAX_VALUE;

  private static final Object WAITING = new Object();
  private static final Object INTERRUPTING = new Object();
  private static final Object LEFT = new Object();

  private static final VarHandle STAGE;

  static {
    try {
      STAGE = MethodHandles.lookup().findVarHandle(ScheduledTask.class, "stage", Object.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final WheelScheduledExecutor executor;
  private final Class<?> taskClass;
  private final long sequence;

  /** Positive for a fixed rate, negative for a fixed delay, zero for one run. */
  private final long periodNanos;

  /** The deadline of the current run, or of the next one, in the time of the executor. */
  private volatile long deadlineNanos;

  private volatile Object stage = WAITING;

  /**
   * The lock of {@link #arm} and {@link #park}; not the task itself, which users may lock. Held
   * during calls of the timer's listener.
   */
  private final Object arming = new Object();

  // Guarded by {@code arming}.
  private @Nullable Timeout timeout;

  /** True if a run was handed over and has not ended, so the task does not wait on the timer. */
  private boolean parked;

  ScheduledTask(
      WheelScheduledExecutor executor,
      Callable<V> callable,
      Class<?> taskClass,
      long deadlineNanos,
      long periodNanos) {
    super(callable);
    this.executor = executor;
    this.taskClass = taskClass;
    this.deadlineNanos = deadlineNanos;
    this.periodNanos = periodNanos;
    this.sequence = executor.nextSequence();
  }

  // Waiting

  /** Begins to wait for the first run; throws if the timer or the workers refuse. */
  void start() {
    long delayNanos = deadlineNanos - executor.timer.nowNanos();
    if (delayNanos > 0) {
      arm(delayNanos, false);
      return;
    }
    if (isPeriodic()) {
      arm(NEVER, true); // the timer may refuse it now, but not after its first run
    }
    executor.workers.execute(new HandedOver(this));
  }

  private void arm(long delayNanos, boolean park) {
    try {
      synchronized (arming) {
        if (stage != LEFT) {
          parked = park;
          Timeout armed = executor.timer.newTimeout(this, delayNanos);
          timeout = armed;
          if (stage == LEFT) {
            armed.cancel(); // the timer's listener, called by newTimeout, ended the wait
          }
        }
      }
    } catch (IllegalStateException e) {
      throw executor.failOnTimer(e); // not under the lock: this call takes the locks of other tasks
    }
  }

  /** Parks the timeout of a periodic task that has fired. Returns whether the task still waits. */
  private boolean park(Timeout fired) {
    synchronized (arming) {
      boolean waits = stage != LEFT;
      if (waits && isPeriodic()) {
        timeout = fired; // a listener can make it fire before the arming thread stores it
        parked = true;
        fired.reschedule(NEVER, NANOSECONDS); // false if the timer is stopped, as is the move
      }
      return waits;
    }
  }

  /** Moves the parked timeout to the next deadline. */
  private void unpark(long delayNanos) {
    Timeout held;
    synchronized (arming) {
      held = timeout;
      parked = false;
    }
    boolean moved = held != null && held.reschedule(delayNanos, NANOSECONDS);
    if (!moved || executor.timerIsLost()) {
      fail(WheelScheduledExecutor.timerLost(null)); // unless the task has left
    }
  }

  /** Hands the due run to the workers. Called by the timer. */
  @Override
  public void run(Timeout expired) {
    if (!park(expired)) {
      return; // cancelled while it was in the queue of the timer's executor
    }
    try {
      executor.workers.execute(new HandedOver(this));
    } catch (Throwable e) {
      fail(e);
      throw e; // for the timer's error handler: the future may be unreferenced
    }
  }

  /** Called when the timeout was cancelled, by this task or by a thread that stops the timer. */
  @Override
  public void cancelled(Timeout cancelled) {
    if (stage == WAITING && cancelled.timer().isStopped() && !isParked()) {
      fail(WheelScheduledExecutor.timerLost(null));
    }
  }

  @Override
  public Class<?> taskClass() {
    return taskClass;
  }

  /** Ends the wait permanently. Returns true to one caller, which must then complete the future. */
  boolean leave() {
    if (!STAGE.compareAndSet(this, WAITING, LEFT)) {
      return false;
    }
    cancelTimeout();
    return true;
  }

  private void cancelTimeout() {
    Timeout pending;
    synchronized (arming) {
      pending = timeout;
    }
    if (pending != null) {
      pending.cancel();
    }
  }

  /** Fails the task, unless it runs or has left. */
  void fail(Throwable cause) {
    if (leave()) {
      setException(cause);
      executor.live.remove(this);
    }
  }

  /** Fails the task if it waits on the timer, which will not fire again. */
  void failIfOnTimer(Throwable cause) {
    boolean onTimer;
    synchronized (arming) {
      onTimer = timeout != null && !timeout.isExpired() && !parked;
    }
    if (onTimer) {
      fail(cause);
    }
  }

  private boolean isParked() {
    synchronized (arming) {
      return parked;
    }
  }

  /** Cancels the task unless it runs: a current run may complete. */
  void cancelIfWaiting() {
    if (leave()) {
      cancel(false);
      executor.live.remove(this);
    }
  }

  /** Called when the future is done. If it was cancelled during a run, there is no next run. */
  @Override
  protected void done() {
    if (leave()) {
      executor.live.remove(this);
    } else if (isPeriodic()) {
      cancelTimeout();
    }
  }

  // Running

  /**
   * Runs the task for a user, who may have received it from {@code shutdownNow}. As in the JDK, a
   * task that may no longer run is cancelled. A worker calls {@link #work}.
   */
  @Override
  public void run() {
    if (executor.live.mayRun(this)) {
      work();
    } else {
      cancel(false);
    }
  }

  /** Runs the task once, and then again for each missed run that this thread must catch up. */
  void work() {
    boolean again = true;
    while (again) {
      again = runOnce() && awaitNext();
    }
  }

  /**
   * Runs the task if it waits. Returns whether it now waits for another run. A waiting task that
   * may not run is left to the shutdown, which cancels or returns it.
   */
  private boolean runOnce() {
    if (!executor.live.mayRun(this)) {
      return false;
    }
    Object runner = Thread.currentThread();
    if (!STAGE.compareAndSet(this, WAITING, runner)) {
      return false;
    }
    boolean again = false;
    if (isPeriodic()) {
      again = runAndReset();
    } else {
      super.run();
    }
    while (!STAGE.compareAndSet(this, runner, again ? WAITING : LEFT)) {
      Thread.onSpinWait(); // the stage is INTERRUPTING
    }
    if (!again) {
      executor.live.remove(this);
    }
    return again;
  }

  /**
   * Begins the wait for the next run. Returns true if the next run is due and this thread must run
   * it.
   */
  private boolean awaitNext() {
    if (isDone()) {
      done(); // the first call found the task running
      return false;
    }
    if (!executor.live.mayRun(this)) {
      cancelIfWaiting(); // unless shutdownNow returns it
      return false;
    }
    long nowNanos = executor.timer.nowNanos();
    long nextNanos = nextDeadlineNanos(nowNanos);
    deadlineNanos = nextNanos;
    try {
      if (nextNanos <= nowNanos) {
        MissedRun missed = new MissedRun(this);
        executor.workers.execute(missed);
        return missed.isLeftToCaller();
      }
      unpark(nextNanos - nowNanos);
    } catch (Throwable e) {
      fail(e);
    }
    return false;
  }

  private long nextDeadlineNanos(long nowNanos) {
    if (periodNanos < 0) {
      return TaskTimer.saturatedSum(nowNanos, -periodNanos);
    }
    long nextNanos = TaskTimer.saturatedSum(deadlineNanos, periodNanos);
    if (executor.skipsMissedRuns && nextNanos < nowNanos) {
      long missed = (nowNanos - nextNanos - 1) / periodNanos + 1;
      nextNanos = TaskTimer.saturatedSum(nextNanos, missed * periodNanos);
    }
    return nextNanos;
  }

  /** Interrupts the thread that runs the task, if any. There is no next run. */
  void interrupt() {
    cancelTimeout();
    Object runner = stage;
    if (runner instanceof Thread thread && STAGE.compareAndSet(this, runner, INTERRUPTING)) {
      try {
        thread.interrupt();
      } finally {
        stage = runner;
      }
    }
  }

  /**
   * A due run that was handed to the workers. It is not the task itself, because the two differ
   * after {@code shutdownNow} has returned the task. A worker ignores such a task, whereas a user
   * who runs one cancels it.
   */
  private static final class HandedOver extends FutureTask<Void> {
    private final ScheduledTask<?> task;

    HandedOver(ScheduledTask<?> task) {
      super(() -> null);
      this.task = task;
    }

    @Override
    public void run() {
      task.work();
    }

    /** Called by users who cancel the tasks that a pool has returned. */
    @Override
    public boolean cancel(boolean mayInterrupt) {
      return task.cancel(mayInterrupt);
    }

    @Override
    public String toString() {
      return task.toString();
    }
  }

  // Time

  @Override
  public boolean isPeriodic() {
    return periodNanos != 0;
  }

  @Override
  public long getDelay(TimeUnit unit) {
    return unit.convert(deadlineNanos - executor.timer.nowNanos(), NANOSECONDS);
  }

  @Override
  public int compareTo(Delayed other) {
    if (other instanceof ScheduledTask<?> task && task.executor == executor) {
      int byDeadline = Long.compare(deadlineNanos, task.deadlineNanos);
      return byDeadline != 0 ? byDeadline : Long.compare(sequence, task.sequence);
    }
    return Long.compare(getDelay(NANOSECONDS), other.getDelay(NANOSECONDS));
  }
}
