// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timer;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A {@link ScheduledExecutorService} on a {@link Timer}. It has the contract of {@link
 * java.util.concurrent.ScheduledThreadPoolExecutor}, but starts and cancels tasks in constant time,
 * however many wait.
 *
 * <pre>{@code
 * ScheduledExecutorService scheduler = WheelScheduledExecutor.create();
 * scheduler.scheduleAtFixedRate(this::report, 1, 1, TimeUnit.MINUTES);
 * }</pre>
 *
 * <h2>Where tasks run</h2>
 *
 * Tasks run on the workers: the given {@link Builder#executor executor}. By default, each task has
 * a virtual thread. On a JVM without virtual threads, the default is a pool with one daemon thread
 * per processor, at least two. The timer thread only hands tasks over. A task that is due at once,
 * such as one passed to {@link #execute} or {@code submit}, goes to the workers directly. All
 * threads that this class makes are daemons: waiting tasks do not keep a JVM alive.
 *
 * <h2>When tasks run</h2>
 *
 * A task is never early. It is late by at most the lag that the timer's contract allows, plus the
 * time until a worker is free. A task with a delay of zero or less runs at once. A task with a
 * deadline more than 292 years ahead never runs. The runs of a periodic task never overlap: the
 * wait for the next run begins when the previous one has ended. A fixed delay counts from that end.
 * With a fixed rate, the deadlines are {@code initialDelay}, {@code initialDelay + period} and so
 * on, without drift. Runs are missed if one takes longer than the period, or if the machine stalls.
 * By default, the catch-up runs follow at once, one after the other. See {@link
 * Builder#skipMissedRuns}.
 *
 * <h2>How tasks end</h2>
 *
 * When {@code cancel} returns, the task is no longer in the timer. A periodic task ends when it is
 * cancelled, when it throws, or when the executor is shut down without the policy that continues
 * it.
 *
 * <p>A future whose task can no longer run fails. If the workers reject a due task, or the timer is
 * stopped, the future fails with the exception that was thrown, or with a {@link
 * RejectedExecutionException}. This class detects a failed timer when it next starts a timeout. All
 * tasks that wait for that timer then fail. A task that the workers accept and silently drop is
 * lost.
 *
 * <p>A periodic task counts as one pending timeout for its whole life, even while it runs. The
 * timer's limit can refuse it only when it is scheduled.
 *
 * <h2>Shutdown</h2>
 *
 * As in the JDK, the executor accepts no tasks after {@link #shutdown}. Periodic tasks are
 * cancelled after their current run and delayed tasks still run, unless the policies of the builder
 * differ. {@link #shutdownNow} returns waiting tasks, without running or cancelling them, and
 * interrupts running ones. The executor is terminated when no task waits or runs. It does not stop
 * a borrowed timer or borrowed workers. It stops its own before it counts as terminated.
 *
 * <p>Delays are measured by the timer's clock. {@link #awaitTermination}, and {@code invokeAll} and
 * {@code invokeAny} with a timeout, wait by the machine's clock.
 */
public final class WheelScheduledExecutor extends AbstractExecutorService
    implements ScheduledExecutorService {
  private final @Nullable ExecutorService ownWorkers;
  private final AtomicLong sequencer = new AtomicLong();
  private volatile boolean timerIsLost;

  final TaskTimer timer;
  final Executor workers;
  final boolean skipsMissedRuns;
  final LiveTasks live;

  private WheelScheduledExecutor(Builder settings) {
    if (settings.workers == null) {
      ownWorkers = DefaultWorkers.create();
      workers = ownWorkers;
    } else {
      ownWorkers = settings.ownWorkers;
      workers = settings.workers;
    }
    timer =
        settings.timer == null
            ? new TaskTimer(HierarchicalWheelTimer.create(), true)
            : new TaskTimer(settings.timer, settings.ownsTimer);
    skipsMissedRuns = settings.skipMissedRuns;
    live = new LiveTasks(settings.keepsPeriodic, settings.keepsDelayed, this::release);
  }

  /**
   * Makes an executor with its own timer and workers. The timer is a hierarchical wheel with a tick
   * of 1 ms. The workers are virtual threads if the JVM has them.
   *
   * @return a new executor
   */
  public static WheelScheduledExecutor create() {
    return builder().build();
  }

  /** {@return a builder with the settings of {@link #create}} */
  public static Builder builder() {
    return new Builder();
  }

  // Submission

  @Override
  public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
    requireNonNull(command, "command");
    return start(Executors.callable(command), command, delay, unit, 0);
  }

  @Override
  public <V> ScheduledFuture<V> schedule(Callable<V> callable, long delay, TimeUnit unit) {
    requireNonNull(callable, "callable");
    return start(callable, callable, delay, unit, 0);
  }

  @Override
  public ScheduledFuture<?> scheduleAtFixedRate(
      Runnable command, long initialDelay, long period, TimeUnit unit) {
    requireNonNull(command, "command");
    requireNonNull(unit, "unit");
    requirePositive(period, "period");
    return start(Executors.callable(command), command, initialDelay, unit, unit.toNanos(period));
  }

  @Override
  public ScheduledFuture<?> scheduleWithFixedDelay(
      Runnable command, long initialDelay, long delay, TimeUnit unit) {
    requireNonNull(command, "command");
    requireNonNull(unit, "unit");
    requirePositive(delay, "delay");
    return start(Executors.callable(command), command, initialDelay, unit, -unit.toNanos(delay));
  }

  /**
   * Runs a task at once. As in the JDK, an exception of the task is stored in a future that is not
   * returned.
   */
  @Override
  @SuppressWarnings("FutureReturnValueIgnored")
  public void execute(Runnable command) {
    schedule(command, 0, NANOSECONDS);
  }

  @Override
  public Future<?> submit(Runnable task) {
    return schedule(task, 0, NANOSECONDS);
  }

  @Override
  public <T> Future<T> submit(Runnable task, T result) {
    requireNonNull(task, "task");
    return start(Executors.callable(task, result), task, 0, NANOSECONDS, 0);
  }

  @Override
  public <T> Future<T> submit(Callable<T> task) {
    return schedule(task, 0, NANOSECONDS);
  }

  private static void requirePositive(long value, String name) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: more than zero)");
    }
  }

  /** Starts a callable that wraps {@code given}, the object that the user passed. */
  private <V> ScheduledFuture<V> start(
      Callable<V> callable, Object given, long delay, TimeUnit unit, long periodNanos) {
    requireNonNull(unit, "unit");
    long deadlineNanos = TaskTimer.saturatedSum(timer.nowNanos(), Math.max(0, unit.toNanos(delay)));
    ScheduledTask<V> task =
        new ScheduledTask<>(this, callable, given.getClass(), deadlineNanos, periodNanos);
    if (!live.add(task)) {
      throw new RejectedExecutionException("the executor is shut down");
    }
    try {
      task.start();
    } catch (Throwable e) {
      if (task.leave()) {
        live.remove(task);
        throw e;
      }
      // Otherwise, the task was accepted: it runs, has run, or was removed by a shutdown.
    }
    return task;
  }

  // Called by the tasks

  long nextSequence() {
    return sequencer.getAndIncrement();
  }

  /** Fails all tasks that wait on the timer, because the timer has refused a task permanently. */
  RejectedExecutionException failOnTimer(IllegalStateException cause) {
    RejectedExecutionException lost = timerLost(cause);
    timerIsLost = true; // before failing the tasks: a running task reads this before it waits again
    live.failOnTimer(lost);
    return lost;
  }

  boolean timerIsLost() {
    return timerIsLost;
  }

  static RejectedExecutionException timerLost(@Nullable Throwable cause) {
    return new RejectedExecutionException("the timer runs no more tasks", cause);
  }

  // Shutdown

  @Override
  public void shutdown() {
    live.shutdown();
  }

  @Override
  public List<Runnable> shutdownNow() {
    return live.shutdownNow();
  }

  @Override
  public boolean isShutdown() {
    return live.isShutdown();
  }

  @Override
  public boolean isTerminated() {
    return live.isTerminated();
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
    return live.awaitTermination(timeout, unit);
  }

  /** Stops the timer and the workers that this executor owns. */
  private void release() {
    if (ownWorkers != null) {
      ownWorkers.shutdown();
    }
    timer.release();
  }

  @Override
  public String toString() {
    return "WheelScheduledExecutor(" + timer + ", " + live + ")";
  }

  /**
   * The settings of a {@link WheelScheduledExecutor}. A builder can be used more than once, unless
   * it owns the given timer or executor. Not thread-safe.
   */
  public static final class Builder {
    private @Nullable Timer timer;
    private boolean ownsTimer;
    private @Nullable Executor workers;
    private @Nullable ExecutorService ownWorkers;
    private boolean skipMissedRuns;
    private boolean keepsPeriodic;
    private boolean keepsDelayed = true;

    private Builder() {}

    /**
     * Sets the timer on which tasks wait. By default, the executor makes its own. The given timer
     * is borrowed: other code may share it, and the executor does not stop it.
     *
     * @param timer the timer on which tasks wait
     * @return this builder
     */
    public Builder timer(Timer timer) {
      this.timer = requireNonNull(timer, "timer");
      ownsTimer = false;
      return this;
    }

    /**
     * Sets the timer on which tasks wait, and passes ownership to the executor, which stops the
     * timer when it terminates.
     *
     * @param timer the timer on which tasks wait
     * @return this builder
     */
    public Builder ownTimer(Timer timer) {
      this.timer = requireNonNull(timer, "timer");
      ownsTimer = true;
      return this;
    }

    /**
     * Sets the workers that run the tasks. By default, the executor makes its own: virtual threads
     * or a pool. The given workers are borrowed: other code may share them, and the executor does
     * not shut them down.
     *
     * @param executor runs the tasks
     * @return this builder
     */
    public Builder executor(Executor executor) {
      workers = requireNonNull(executor, "executor");
      ownWorkers = null;
      return this;
    }

    /**
     * Sets the workers that run the tasks, and passes ownership to the executor, which shuts them
     * down when it terminates.
     *
     * @param executor runs the tasks
     * @return this builder
     */
    public Builder ownExecutor(ExecutorService executor) {
      workers = requireNonNull(executor, "executor");
      ownWorkers = executor;
      return this;
    }

    /**
     * Sets whether missed runs at a fixed rate are skipped. A run is missed if its deadline passes
     * before the previous run ends. By default, the catch-up runs follow one after the other, as in
     * the JDK. If missed runs are skipped, the next run is at the first deadline that has not
     * passed.
     *
     * @param skip true to skip missed runs
     * @return this builder
     */
    public Builder skipMissedRuns(boolean skip) {
      skipMissedRuns = skip;
      return this;
    }

    /**
     * Sets whether periodic tasks continue after {@link #shutdown}, until they are cancelled or
     * throw. By default, they do not.
     *
     * @param goOn true to continue them
     * @return this builder
     */
    public Builder continueExistingPeriodicTasksAfterShutdown(boolean goOn) {
      keepsPeriodic = goOn;
      return this;
    }

    /**
     * Sets whether tasks that are neither periodic nor due yet still run after {@link #shutdown}.
     * By default, they do.
     *
     * @param run true to run them
     * @return this builder
     */
    public Builder executeExistingDelayedTasksAfterShutdown(boolean run) {
      keepsDelayed = run;
      return this;
    }

    /**
     * Makes an executor.
     *
     * @return a new executor with these settings
     * @throws IllegalStateException if the timer is stopped
     */
    public WheelScheduledExecutor build() {
      return new WheelScheduledExecutor(this);
    }
  }
}
