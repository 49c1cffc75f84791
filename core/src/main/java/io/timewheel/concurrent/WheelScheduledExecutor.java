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
 * A {@link ScheduledExecutorService} on a {@link Timer}: the contract of {@link
 * java.util.concurrent.ScheduledThreadPoolExecutor}, but it starts and cancels tasks in constant
 * time, however many wait.
 *
 * <pre>{@code
 * ScheduledExecutorService scheduler = WheelScheduledExecutor.create();
 * scheduler.scheduleAtFixedRate(this::report, 1, 1, TimeUnit.MINUTES);
 * }</pre>
 *
 * <h2>Where tasks run</h2>
 *
 * On the workers: the given {@link Builder#executor executor}; by default a virtual thread for each
 * task, or, on a JVM without them, a pool of as many daemon threads as there are processors. The
 * timer thread only hands tasks over. A task that is due at once, such as one given to {@link
 * #execute} or {@code submit}, goes to the workers directly. All threads that this class makes are
 * daemons: waiting tasks do not keep a JVM alive.
 *
 * <h2>When tasks run</h2>
 *
 * Never early; late by what the timer's contract allows, plus the time until a worker is free. A
 * delay of zero or less means at once; one that leads beyond 292 years means never. The runs of a
 * periodic task never overlap: the wait for the next run begins when the last has ended. A fixed
 * delay counts from that end. With a fixed rate the deadlines are {@code initialDelay}, {@code
 * initialDelay + period} and so on, without drift. Runs that were missed, because one took longer
 * than the period or the machine stood still, are made up for at once, one after the other, or
 * skipped: see {@link Builder#skipMissedRuns}.
 *
 * <h2>How tasks end</h2>
 *
 * A cancelled task has left the timer when {@code cancel} returns. A periodic task ends when it is
 * cancelled, when it throws, and when the executor is shut down without the policy that keeps it.
 *
 * <p>No future waits for a run that cannot come: if the workers reject a task when it is due, or
 * the timer is stopped, the future fails with what was thrown, or with a {@link
 * RejectedExecutionException}. This class notices that a timer has failed when it next starts a
 * timeout; all tasks that wait for it fail then. What workers accept and silently drop is lost.
 *
 * <p>A periodic task takes one place in the timer for life, even while it runs. The timer's limit
 * can refuse it only when it is scheduled.
 *
 * <h2>Shutdown</h2>
 *
 * As in the JDK: after {@link #shutdown} nothing is accepted, periodic tasks are cancelled after
 * their current run and delayed ones still run, unless the policies of the builder say otherwise.
 * {@link #shutdownNow} returns waiting tasks, neither run nor cancelled, and interrupts running
 * ones. The executor is terminated when no task waits or runs any more. It leaves a timer and
 * workers that it borrowed alone, and stops its own before it counts as terminated.
 *
 * <p>Delays are counted by the timer's clock; {@link #awaitTermination}, and {@code invokeAll} and
 * {@code invokeAny} with a timeout, wait by the machine's.
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
   * Makes an executor with its own timer and workers: a hierarchical wheel with a tick of 1 ms, and
   * virtual threads where the JVM has them.
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

  // Tasks

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

  /** Runs a task at once. As in the JDK, what it throws ends up in a future that nobody has. */
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

  /** Starts a callable that wraps what the user passed: {@code given}. */
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
      // Otherwise it was accepted after all: it runs or has run, or a shutdown has taken it.
    }
    return task;
  }

  // For the tasks

  long nextSequence() {
    return sequencer.getAndIncrement();
  }

  /** The timer has refused a task for good: that ends all waits for it. */
  RejectedExecutionException failOnTimer(IllegalStateException cause) {
    RejectedExecutionException lost = timerLost(cause);
    timerIsLost = true; // before the tasks: a running one sees this before it waits again
    live.failOnTimer(lost);
    return lost;
  }

  boolean timerIsLost() {
    return timerIsLost;
  }

  static RejectedExecutionException timerLost(@Nullable Throwable cause) {
    return new RejectedExecutionException("the timer runs no more tasks", cause);
  }

  // The end

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
   * it was given a timer or an executor to own. Not thread-safe.
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
     * Sets the timer on which tasks wait: by default the executor makes its own. The given one is
     * borrowed: it may serve others too, and is not stopped.
     *
     * @param timer where tasks wait
     * @return this builder
     */
    public Builder timer(Timer timer) {
      this.timer = requireNonNull(timer, "timer");
      ownsTimer = false;
      return this;
    }

    /**
     * Sets the timer on which tasks wait, and hands it to the executor, which stops it when it
     * terminates.
     *
     * @param timer where tasks wait
     * @return this builder
     */
    public Builder ownTimer(Timer timer) {
      this.timer = requireNonNull(timer, "timer");
      ownsTimer = true;
      return this;
    }

    /**
     * Sets the workers that run the tasks: by default the executor makes its own, virtual threads
     * or a pool. The given ones are borrowed: they may serve others too, and are not shut down.
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
     * Sets the workers that run the tasks, and hands them to the executor, which shuts them down
     * when it terminates.
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
     * Sets whether missed runs at a fixed rate are skipped: those whose deadlines passed before the
     * previous run ended. By default they are made up for, one after the other, as in the JDK. If
     * they are skipped, the next run is at the first deadline that has not passed.
     *
     * @param skip whether missed runs are skipped
     * @return this builder
     */
    public Builder skipMissedRuns(boolean skip) {
      skipMissedRuns = skip;
      return this;
    }

    /**
     * Sets whether periodic tasks continue after {@link #shutdown}, until they are cancelled or
     * throw: by default they do not.
     *
     * @param goOn whether they continue
     * @return this builder
     */
    public Builder continueExistingPeriodicTasksAfterShutdown(boolean goOn) {
      keepsPeriodic = goOn;
      return this;
    }

    /**
     * Sets whether tasks that are neither periodic nor due yet still run after {@link #shutdown}:
     * by default they do.
     *
     * @param run whether they are run
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
