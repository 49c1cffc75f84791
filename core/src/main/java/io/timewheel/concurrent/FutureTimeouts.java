// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Timeouts for {@link CompletableFuture}s, on a {@link Timer}: what {@link
 * CompletableFuture#orTimeout}, {@link CompletableFuture#completeOnTimeout} and {@link
 * CompletableFuture#delayedExecutor} do, for millions of futures.
 *
 * <p>A future that completes cancels its timeout at once: from then on the timer neither counts it
 * nor refers to the future. A future that times out is completed on an executor, so its dependents
 * do not run on the timer thread; unless that executor rejects, because then there is no other way
 * to complete the future.
 *
 * <p>If the timer is stopped, the futures that wait for it fail with a {@link
 * RejectedExecutionException}, on the executor too.
 */
public final class FutureTimeouts {
  private final Timer timer;
  private final Executor executor;

  private FutureTimeouts(Timer timer, Executor executor) {
    this.timer = timer;
    this.executor = executor;
  }

  /**
   * Timeouts on a timer, with the executor that {@code CompletableFuture} uses for asynchronous
   * work: usually the common pool.
   *
   * @param timer where the timeouts are pending
   * @return the timeouts
   */
  public static FutureTimeouts on(Timer timer) {
    return on(timer, new CompletableFuture<>().defaultExecutor());
  }

  /**
   * Timeouts on a timer, with an executor.
   *
   * @param timer where the timeouts are pending
   * @param executor completes the futures that time out, and runs what was delayed
   * @return the timeouts
   */
  public static FutureTimeouts on(Timer timer, Executor executor) {
    return new FutureTimeouts(requireNonNull(timer, "timer"), requireNonNull(executor, "executor"));
  }

  /**
   * Completes a future with a {@link TimeoutException}, unless it completes before.
   *
   * @param <T> the type of its result
   * @param future the future
   * @param delay how long from now; zero or less is the next tick of the timer
   * @return the same future
   * @throws IllegalStateException if the timer is stopped
   * @throws RejectedExecutionException if as many timeouts are pending as the timer allows
   */
  public <T> CompletableFuture<T> orTimeout(CompletableFuture<T> future, Duration delay) {
    requireNonNull(future, "future");
    requireNonNull(delay, "delay");
    return watch(
        future,
        delay,
        () -> future.completeExceptionally(new TimeoutException("not complete after " + delay)));
  }

  /**
   * Completes a future with a value, unless it completes before.
   *
   * @param <T> the type of its result
   * @param future the future
   * @param value what it is completed with
   * @param delay how long from now; zero or less is the next tick of the timer
   * @return the same future
   * @throws IllegalStateException if the timer is stopped
   * @throws RejectedExecutionException if as many timeouts are pending as the timer allows
   */
  public <T extends @Nullable Object> CompletableFuture<T> completeOnTimeout(
      CompletableFuture<T> future, T value, Duration delay) {
    requireNonNull(future, "future");
    requireNonNull(delay, "delay");
    return watch(future, delay, () -> future.complete(value));
  }

  /**
   * An executor that waits before it hands a task on, for {@link CompletableFuture#supplyAsync} and
   * the like. A task that the executor rejects when it is due is lost, and the error handler of the
   * timer is notified; a task still waiting when the timer is stopped is lost too.
   *
   * @param delay how long each task waits; zero or less is until the next tick of the timer
   * @return the executor; it throws a {@link RejectedExecutionException} when the timer is stopped
   */
  public Executor delayedExecutor(Duration delay) {
    requireNonNull(delay, "delay");
    return command -> {
      requireNonNull(command, "command");
      try {
        timer.newTimeout(new Delayed(command, executor), delay);
      } catch (IllegalStateException e) {
        throw WheelScheduledExecutor.timerLost(e);
      }
    };
  }

  @SuppressWarnings("FutureReturnValueIgnored") // the future of whenComplete adds nothing
  private <T extends @Nullable Object> CompletableFuture<T> watch(
      CompletableFuture<T> future, Duration delay, Runnable atTheDeadline) {
    if (!future.isDone()) {
      Timeout timeout = timer.newTimeout(new Watch(future, atTheDeadline, executor), delay);
      future.whenComplete((result, error) -> timeout.cancel());
    }
    return future;
  }

  /** Hands a command to an executor. */
  private record Delayed(Runnable command, Executor executor) implements TimerTask {
    @Override
    public void run(Timeout timeout) {
      executor.execute(command);
    }

    @Override
    public Class<?> taskClass() {
      return command.getClass();
    }
  }

  /** Completes a future that has not completed in time. */
  private record Watch(CompletableFuture<?> future, Runnable atTheDeadline, Executor executor)
      implements TimerTask {
    @Override
    public void run(Timeout timeout) {
      complete(atTheDeadline);
    }

    /** The future has completed, or else the timer is stopped. */
    @Override
    public void cancelled(Timeout timeout) {
      if (!future.isDone()) {
        complete(() -> future.completeExceptionally(WheelScheduledExecutor.timerLost(null)));
      }
    }

    private void complete(Runnable completion) {
      try {
        executor.execute(completion);
      } catch (Throwable e) {
        completion.run();
        throw e; // to the handler of the timer
      }
    }
  }
}
