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
 * Adds timeouts to {@link CompletableFuture}s, on a {@link Timer}. Does the same as {@link
 * CompletableFuture#orTimeout}, {@link CompletableFuture#completeOnTimeout} and {@link
 * CompletableFuture#delayedExecutor}, for millions of futures.
 *
 * <p>A future that completes cancels its timeout at once. From then on, the timer neither counts
 * the timeout nor refers to the future. A future that times out is completed on an executor, so its
 * dependents do not run on the timer thread. If that executor rejects the task, the timer thread
 * completes the future, because no other thread would.
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
   * Returns timeouts on a timer, with the executor that {@code CompletableFuture} uses for
   * asynchronous work: usually the common pool.
   *
   * @param timer the timer that measures the delays
   * @return the timeouts
   */
  public static FutureTimeouts on(Timer timer) {
    return on(timer, new CompletableFuture<>().defaultExecutor());
  }

  /**
   * Returns timeouts on a timer, with an executor.
   *
   * @param timer the timer that measures the delays
   * @param executor completes the futures that time out, and runs delayed tasks
   * @return the timeouts
   */
  public static FutureTimeouts on(Timer timer, Executor executor) {
    return new FutureTimeouts(requireNonNull(timer, "timer"), requireNonNull(executor, "executor"));
  }

  /**
   * Fails a future with a {@link TimeoutException} after a delay, unless it completes earlier.
   *
   * @param <T> the type of its result
   * @param future the future
   * @param delay the time from now; zero or less means the next tick of the timer
   * @return the same future
   * @throws IllegalStateException if the timer is stopped
   * @throws RejectedExecutionException if the timer's limit on pending timeouts is reached
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
   * Completes a future with a value after a delay, unless it completes earlier.
   *
   * @param <T> the type of its result
   * @param future the future
   * @param value the result if the future times out
   * @param delay the time from now; zero or less means the next tick of the timer
   * @return the same future
   * @throws IllegalStateException if the timer is stopped
   * @throws RejectedExecutionException if the timer's limit on pending timeouts is reached
   */
  public <T extends @Nullable Object> CompletableFuture<T> completeOnTimeout(
      CompletableFuture<T> future, T value, Duration delay) {
    requireNonNull(future, "future");
    requireNonNull(delay, "delay");
    return watch(future, delay, () -> future.complete(value));
  }

  /**
   * Returns an executor that delays each task, for {@link CompletableFuture#supplyAsync} and
   * similar methods. If the underlying executor rejects a task when it is due, the task is lost and
   * the error handler of the timer is notified. A task that still waits when the timer is stopped
   * is lost too.
   *
   * @param delay the delay of each task; zero or less means the next tick of the timer
   * @return the executor; it throws a {@link RejectedExecutionException} if the timer is stopped
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

  @SuppressWarnings("FutureReturnValueIgnored") // the future of whenComplete is not needed
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

    /** Fails the future if the timer was stopped. Otherwise the future has completed. */
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
        throw e; // to the error handler of the timer
      }
    }
  }
}
