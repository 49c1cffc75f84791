// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timer;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * An action that is put off until its key has been quiet for a while: a configuration that is read
 * anew when the last of many changes has been written, an index that is built when an editor
 * pauses. It replaces a timer task that is cancelled and started for every event.
 *
 * <pre>{@code
 * Debounce<Path> reload = new Debounce<>(timer, executor, ofMillis(200), config::load);
 *
 * watcher.onChange(path -> reload.call(path)); // a hundred changes, one load
 * reload.cancel(path);                         // deleted: nothing to load
 * }</pre>
 *
 * <p>An action begins after every call, and sees what was done before it; but not before its key
 * was quiet for the time: a key that is called again and again in less than that waits for ever. If
 * that must not be, take {@link Throttle}. Actions run on the executor, one at a time for all keys,
 * as the listener of {@link Expirations} does, and with its overflow; what they throw is logged.
 *
 * @param <K> the type of the keys
 */
public final class Debounce<K> implements AutoCloseable {
  private final Expirations<K, Boolean> called;

  /** Written by every call before it looks for its key, read by every action after it was taken. */
  private volatile boolean published;

  private final Duration quiet;

  /**
   * An action for each key.
   *
   * @param timer the timer to use
   * @param executor runs the action
   * @param quiet for how long a key must not be called, more than zero
   * @param action what to do
   */
  public Debounce(Timer timer, Executor executor, Duration quiet, Consumer<? super K> action) {
    Checks.positiveNanos("quiet", quiet);
    requireNonNull(action, "action");
    this.quiet = quiet;
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
   * Has the action begin when the key was quiet for the time from now on.
   *
   * @param key which
   * @throws IllegalStateException if this object or its timer is stopped
   * @throws java.util.concurrent.RejectedExecutionException if the timer is at its limit
   */
  public void call(K key) {
    published = true;
    // What is touched is still there, and so is told of later; what is not is added, or was by
    // another call, just now.
    if (!called.touch(key)) {
      called.add(key, true, quiet);
    }
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
