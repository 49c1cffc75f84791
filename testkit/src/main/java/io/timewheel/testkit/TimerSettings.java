// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static java.util.Objects.requireNonNull;

import io.timewheel.TaskErrorHandler;
import io.timewheel.TimerBuilder;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The settings that a test of the {@link TimerContract} needs in a timer.
 *
 * @param tick the length of a tick
 * @param maxPendingTimeouts the maximum number of pending timeouts; 0 means no limit
 * @param executor runs the tasks; null if the timer runs them itself
 * @param onError handles exceptions of tasks and their callbacks
 */
public record TimerSettings(
    Duration tick, long maxPendingTimeouts, @Nullable Executor executor, TaskErrorHandler onError) {

  /**
   * Makes settings.
   *
   * @param tick the length of a tick
   * @param maxPendingTimeouts the maximum number of pending timeouts; 0 means no limit
   * @param executor runs the tasks; null if the timer runs them itself
   * @param onError handles exceptions of tasks and their callbacks
   */
  public TimerSettings {
    requireNonNull(tick, "tick");
    requireNonNull(onError, "onError");
  }

  /**
   * Applies these settings to the builder of a timer, and keeps its other settings.
   *
   * @param <B> the type of the builder
   * @param builder the builder
   * @return the builder
   */
  public <B extends TimerBuilder<B>> B applyTo(B builder) {
    B set = builder.tick(tick).maxPendingTimeouts(maxPendingTimeouts).onError(onError);
    return executor == null ? set : set.executor(executor);
  }

  TimerSettings withTick(Duration tick) {
    return new TimerSettings(tick, maxPendingTimeouts, executor, onError);
  }

  TimerSettings withLimit(long maxPendingTimeouts) {
    return new TimerSettings(tick, maxPendingTimeouts, executor, onError);
  }

  TimerSettings withExecutor(Executor executor) {
    return new TimerSettings(tick, maxPendingTimeouts, executor, onError);
  }

  TimerSettings withOnError(TaskErrorHandler onError) {
    return new TimerSettings(tick, maxPendingTimeouts, executor, onError);
  }
}
