// SPDX-License-Identifier: Apache-2.0
package io.timewheel.dropin;

import io.timewheel.Timer;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Connects the contract tests to a library's timer that runs on a {@link Timer}. The tests create
 * and use the library's timer through this interface.
 *
 * @param <M> the library's timer
 * @param <T> its timeout
 * @param <K> its task
 */
public interface DropIn<M, T, K> {
  /** The action of a task when its timeout fires. */
  @FunctionalInterface
  interface Body<T> {
    void run(T timeout) throws Exception;
  }

  /** Makes the library's timer on top of a timer. */
  M on(Timer timer);

  /** Makes a task, of a class like those that users write. */
  K task(Body<T> body);

  T newTimeout(M timer, K task, long delay, TimeUnit unit);

  /** Starts a timeout with a new task. */
  default T start(M timer, Body<T> body, long delay, TimeUnit unit) {
    return newTimeout(timer, task(body), delay, unit);
  }

  Set<T> stop(M timer);

  long pendingTimeouts(M timer);

  M timerOf(T timeout);

  K taskOf(T timeout);

  boolean isExpired(T timeout);

  boolean isCancelled(T timeout);

  boolean cancel(T timeout);
}
