// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The settings of all timers. A builder can be used more than once; each timer has the settings at
 * the time of its {@code build} call. Not thread-safe.
 *
 * @param <B> the type of the builder itself
 */
public abstract sealed class TimerBuilder<B extends TimerBuilder<B>>
    permits WheelTimer.Builder, PolledTimer.Builder {
  static final Duration MAX_TICK = Duration.ofDays(1);

  long tickNanos;
  long maxPendingTimeouts;
  @Nullable Executor executor;
  @Nullable TimerListener listener;
  RejectionPolicy onRejected = RejectionPolicy.runOnWorker();
  TaskErrorHandler onError = Callbacks::log;
  TimeSource timeSource = TimeSource.system();

  TimerBuilder(Duration tick) {
    tickNanos = tick.toNanos();
  }

  /**
   * Sets the length of a tick. The shorter it is, the closer to its deadline a timeout fires. Ticks
   * at which nothing is due cost nothing, however short they are.
   *
   * @param tick the length of a tick: more than zero, at most a day
   * @return this builder
   * @throws IllegalArgumentException if {@code tick} is not positive, or longer than a day
   */
  public B tick(Duration tick) {
    requireNonNull(tick, "tick");
    if (tick.isNegative() || tick.isZero() || tick.compareTo(MAX_TICK) > 0) {
      throw new IllegalArgumentException(
          "tick: " + tick + " (expected: more than zero, at most " + MAX_TICK + ")");
    }
    tickNanos = tick.toNanos();
    return self();
  }

  /**
   * Sets the maximum number of pending timeouts. Further ones are refused with a {@link
   * java.util.concurrent.RejectedExecutionException}. By default there is no limit. The limit is
   * exact, so all threads share one count, which makes starting and cancelling somewhat slower.
   *
   * @param maxPendingTimeouts the maximum number of pending timeouts; no limit if zero or less
   * @return this builder
   */
  public B maxPendingTimeouts(long maxPendingTimeouts) {
    this.maxPendingTimeouts = maxPendingTimeouts;
    return self();
  }

  /**
   * Sets the executor that runs the tasks. Without an executor, tasks run on the thread that
   * expires the timeouts, where a slow task delays all others. The timer never shuts the executor
   * down.
   *
   * @param executor runs the tasks
   * @return this builder
   */
  public B executor(Executor executor) {
    this.executor = requireNonNull(executor, "executor");
    return self();
  }

  /**
   * Sets the policy for tasks that the executor rejects. By default, they run on the thread that
   * expires the timeouts.
   *
   * @param onRejected decides about rejected tasks
   * @return this builder
   */
  public B onRejected(RejectionPolicy onRejected) {
    this.onRejected = requireNonNull(onRejected, "onRejected");
    return self();
  }

  /**
   * Sets the handler of everything that tasks and other callbacks throw. By default, errors are
   * logged.
   *
   * @param onError handles exceptions and errors of callbacks
   * @return this builder
   */
  public B onError(TaskErrorHandler onError) {
    this.onError = requireNonNull(onError, "onError");
    return self();
  }

  /**
   * Sets the clock. By default, it is {@link TimeSource#system()}.
   *
   * @param timeSource the clock
   * @return this builder
   */
  public B timeSource(TimeSource timeSource) {
    this.timeSource = requireNonNull(timeSource, "timeSource");
    return self();
  }

  /**
   * Sets the listener for all events of timeouts. By default, there is none.
   *
   * @param listener receives the events
   * @return this builder
   */
  public B listener(TimerListener listener) {
    this.listener = requireNonNull(listener, "listener");
    return self();
  }

  abstract B self();
}
