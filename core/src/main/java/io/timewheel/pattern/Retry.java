// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import io.timewheel.Timeout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A key that is tried until it is taken out of the map, one attempt at a time.
 *
 * @param <K> the type of the key
 */
final class Retry<K> extends Filed {
  private static final VarHandle STEP;

  static {
    try {
      STEP = MethodHandles.lookup().findVarHandle(Retry.class, "step", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final Retries<K> owner;
  final K key;
  final long addedNanos;

  /**
   * Twice the number of attempts that have ended, and one more while one is running. Each attempt
   * begins once, though an executor may run what it then rejects, and ends once, though a stage may
   * say so twice.
   */
  private volatile int step;

  Retry(Retries<K> owner, K key, long addedNanos) {
    this.owner = owner;
    this.key = key;
    this.addedNanos = addedNanos;
  }

  int attemptsEnded() {
    return step / 2;
  }

  @Override
  public void run(Timeout timeout) {
    int waiting = step;
    try {
      owner.executor.execute(() -> attempt(waiting));
    } catch (Throwable e) {
      if (begin(waiting)) {
        ended(waiting + 1, e);
      }
    }
  }

  private boolean begin(int waiting) {
    return STEP.compareAndSet(this, waiting, waiting + 1);
  }

  private void attempt(int waiting) {
    if (isSettled() || !begin(waiting)) {
      return;
    }
    try {
      CompletionStage<?> stage = owner.attempt.begin(key);
      // Not by whenComplete: that wraps the error of every failed attempt, for nobody.
      stage.handle((result, error) -> ended(waiting + 1, error));
    } catch (Throwable e) {
      ended(waiting + 1, e);
    }
  }

  /** Returns whether it had not ended before. */
  private boolean ended(int running, @Nullable Throwable error) {
    boolean first = STEP.compareAndSet(this, running, running + 1);
    if (first) {
      if (error == null) {
        owner.take(this);
      } else {
        owner.schedule(this, Errors.causeOf(error));
      }
    }
    return first;
  }

  /** By the stopping timer; our own cancellations have taken it before. */
  @Override
  public void cancelled(Timeout timeout) {
    owner.take(this);
  }
}
