// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timer;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The settings of {@link Retries}: unless set, every second for ever. Not thread-safe.
 *
 * @param <K> the type of the keys
 */
public final class RetriesBuilder<K> {
  final Timer timer;
  final Executor executor;
  final Retries.AsyncAttempt<? super K> attempt;
  Backoff backoff = Backoff.fixed(Duration.ofSeconds(1));
  int maxAttempts = Integer.MAX_VALUE / 2;
  long deadlineNanos = Long.MAX_VALUE;
  BiConsumer<? super K, ? super Throwable> onExhausted = (key, error) -> {};
  Consumer<? super Throwable> onError = Errors::log;

  RetriesBuilder(Timer timer, Executor executor, Retries.AsyncAttempt<? super K> attempt) {
    this.timer = requireNonNull(timer, "timer");
    this.executor = requireNonNull(executor, "executor");
    this.attempt = attempt;
  }

  /**
   * Sets how long to wait before each attempt.
   *
   * @param backoff gives the delays
   * @return this builder
   */
  public RetriesBuilder<K> backoff(Backoff backoff) {
    this.backoff = requireNonNull(backoff, "backoff");
    return this;
  }

  /**
   * Sets how often a key is tried at most.
   *
   * @param maxAttempts how often, more than 0
   * @return this builder
   */
  public RetriesBuilder<K> maxAttempts(int maxAttempts) {
    // Half of what an int can count: see Retry#step.
    this.maxAttempts = Math.min(Checks.positive("maxAttempts", maxAttempts), Integer.MAX_VALUE / 2);
    return this;
  }

  /**
   * Sets for how long a key is tried at most: no attempt is due later than this after {@link
   * Retries#add}. An attempt in progress is not cut short.
   *
   * @param deadline how long, more than zero
   * @return this builder
   */
  public RetriesBuilder<K> deadline(Duration deadline) {
    deadlineNanos = Checks.positiveNanos("deadline", deadline);
    return this;
  }

  /**
   * Sets who is told of keys that are not tried any more, and of their last error.
   *
   * @param onExhausted is told, and may add the key again
   * @return this builder
   */
  public RetriesBuilder<K> onExhausted(BiConsumer<? super K, ? super Throwable> onExhausted) {
    this.onExhausted = requireNonNull(onExhausted, "onExhausted");
    return this;
  }

  /**
   * Sets who is told of what {@code onExhausted} throws: by default a log. What attempts throw is
   * not told here.
   *
   * @param onError is told
   * @return this builder
   */
  public RetriesBuilder<K> onError(Consumer<? super Throwable> onError) {
    this.onError = requireNonNull(onError, "onError");
    return this;
  }

  /** {@return new retries with these settings} */
  public Retries<K> build() {
    return new Retries<>(this);
  }
}
