// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timer;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * An action that is done once for all calls of an interval: a user's last visit that is written to
 * the database once a minute and not for every click, a progress that is sent ten times a second.
 * It replaces a table of what has changed, and a task that looks through all of it.
 *
 * <pre>{@code
 * Throttle<UserId> visits = new Throttle<>(timer, executor, ofMinutes(1), user -> store(user));
 *
 * visits.call(user); // stored within a minute, with whatever else has happened by then
 * }</pre>
 *
 * <p>The first call of a key begins an interval; at its end the action begins, and the next call
 * begins the next. So an action begins after every call, and sees what was done before it, at most
 * one interval later, and those of one key begin an interval apart. Actions run on the executor,
 * one at a time for all keys, as the listener of {@link Expirations} does, and with its overflow;
 * what they throw is logged.
 *
 * @param <K> the type of the keys
 */
public final class Throttle<K> implements AutoCloseable {
  private final Expirations<K, Boolean> called;

  /** Written by every call before it looks for its key, read by every action after it was taken. */
  private volatile boolean published;

  private final Duration interval;

  /**
   * An action for each key.
   *
   * @param timer the timer to use
   * @param executor runs the action
   * @param interval the time between actions, more than zero
   * @param action what to do
   */
  public Throttle(Timer timer, Executor executor, Duration interval, Consumer<? super K> action) {
    Checks.positiveNanos("interval", interval);
    requireNonNull(action, "action");
    this.interval = interval;
    called =
        Expirations.builder(timer, (K key, Boolean value) -> act(action, key))
            .executor(executor)
            .build();
  }

  private void act(Consumer<? super K> action, K key) {
    boolean unused = published;
    action.accept(key);
  }

  /**
   * Has the action begin at the end of the interval, which begins now unless it has begun before.
   *
   * @param key which
   * @throws IllegalStateException if this object or its timer is stopped
   * @throws java.util.concurrent.RejectedExecutionException if the timer is at its limit
   */
  public void call(K key) {
    published = true;
    called.add(key, true, interval);
  }

  /**
   * Has the action not begin after all.
   *
   * @param key which
   * @return whether it was to
   */
  public boolean cancel(K key) {
    return called.complete(key) != null;
  }

  /** {@return how many keys wait for their action} */
  public long size() {
    return called.size();
  }

  /** Begins no action any more that waits for its time, and refuses calls. */
  @Override
  public void close() {
    called.close();
  }
}
