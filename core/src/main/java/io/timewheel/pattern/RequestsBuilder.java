// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timer;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The settings of {@link Requests}. Not thread-safe.
 *
 * @param <V> the type of the answers
 */
public final class RequestsBuilder<V> {
  final Timer timer;
  @Nullable Executor executor;
  Requests.LateAnswers<? super V> lateAnswers = (id, answer) -> {};
  Consumer<? super Throwable> onError = Errors::log;

  RequestsBuilder(Timer timer) {
    this.timer = requireNonNull(timer, "timer");
  }

  /**
   * Sets where futures time out: by default on a daemon thread of their own.
   *
   * @param executor completes the futures of requests that time out
   * @return this builder
   */
  public RequestsBuilder<V> executor(Executor executor) {
    this.executor = requireNonNull(executor, "executor");
    return this;
  }

  /**
   * Sets the hook for late answers, which is called by whoever brings the answer.
   *
   * @param lateAnswers is told of each
   * @return this builder
   */
  public RequestsBuilder<V> onLate(Requests.LateAnswers<? super V> lateAnswers) {
    this.lateAnswers = requireNonNull(lateAnswers, "lateAnswers");
    return this;
  }

  /**
   * Sets who is told of what the hook and the executor throw: by default a log.
   *
   * @param onError is told
   * @return this builder
   */
  public RequestsBuilder<V> onError(Consumer<? super Throwable> onError) {
    this.onError = requireNonNull(onError, "onError");
    return this;
  }

  /** {@return the keeper of requests with these settings} */
  public Requests<V> build() {
    return new Requests<>(this);
  }
}
