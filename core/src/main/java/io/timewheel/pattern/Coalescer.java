// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timer;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Combines many calls for a key into one action, debounced or throttled. It replaces a timer task
 * that every event cancels and restarts, and a table of changes that a task scans.
 *
 * <pre>{@code
 * Coalescer<Path> reload = Coalescer.debounced(timer, executor, ofMillis(200), config::load).build();
 *
 * watcher.onChange(path -> reload.call(path)); // a hundred changes, one load
 * reload.cancel(path);                         // deleted: nothing to load
 *
 * Coalescer<UserId> visits = Coalescer.throttled(timer, executor, ofMinutes(1), this::store).build();
 *
 * visits.call(user); // stored in a minute, with all later visits of that minute
 * visits.flushAndClose(); // at shutdown: waiting visits are stored now
 * }</pre>
 *
 * <h2>When</h2>
 *
 * <ul>
 *   <li>A debounced action waits until its key has been quiet, that is without calls, for a time.
 *       Example: an index that is built when an editor pauses. If calls for a key keep coming
 *       within that time, its action waits forever. A call at the exact moment when the time is up
 *       may be too late to postpone the action, like a touch of {@link Expirations}.
 *   <li>For a throttled action, the first call for a key begins an interval. At its end, the action
 *       is handed to the executor, and the next call begins the next interval. Example: progress
 *       that is sent ten times a second. So the actions of one key are handed over at least an
 *       interval apart, unless they are flushed.
 * </ul>
 *
 * <p>Every call is followed by an action that sees the earlier writes of the caller, unless the
 * action is cancelled or the coalescer is closed. The executor decides when the action runs.
 * Actions run one at a time for all keys, like the listener of {@link Expirations}. If the queue is
 * full, the timer thread runs the action.
 *
 * @param <K> the type of the keys
 */
public final class Coalescer<K> implements AutoCloseable {
  private final Expirations<K, Boolean> called;
  private final Duration delay;
  private final boolean debounced;

  private Coalescer(Builder<K> settings) {
    delay = settings.delay;
    debounced = settings.debounced;
    Consumer<? super K> action = settings.action;
    Expirations.Builder<K, Boolean> builder =
        Expirations.builder(
            settings.timer,
            (K key, Boolean value) -> {
              VarHandle.fullFence(); // see call
              action.accept(key);
            });
    builder.pattern = Coalescer.class;
    called = builder.executor(settings.executor).onError(settings.onError).build();
  }

  /**
   * Returns a builder of a coalescer whose actions begin once their key is quiet.
   *
   * @param timer the timer that measures the quiet time
   * @param executor runs the actions
   * @param quiet how long a key must be quiet, more than zero
   * @param action the action, which receives the key
   * @return a builder
   * @param <K> the type of the keys
   */
  public static <K> Builder<K> debounced(
      Timer timer, Executor executor, Duration quiet, Consumer<? super K> action) {
    Checks.positiveNanos("quiet", quiet);
    return new Builder<>(timer, executor, quiet, action, true);
  }

  /**
   * Returns a builder of a coalescer whose actions begin at the end of an interval.
   *
   * @param timer the timer that measures the interval
   * @param executor runs the actions
   * @param interval the time between the actions of a key, more than zero
   * @param action the action, which receives the key
   * @return a builder
   * @param <K> the type of the keys
   */
  public static <K> Builder<K> throttled(
      Timer timer, Executor executor, Duration interval, Consumer<? super K> action) {
    Checks.positiveNanos("interval", interval);
    return new Builder<>(timer, executor, interval, action, false);
  }

  /**
   * Requests the action. If debounced, it begins once the key has been quiet for the set time from
   * now. If throttled, it begins at the end of the interval, which begins now unless one is in
   * progress.
   *
   * @param key the key
   * @throws IllegalStateException if this object or its timer is stopped
   * @throws java.util.concurrent.RejectedExecutionException if the timer is at its limit
   */
  public void call(K key) {
    // A caller that finds its key in the map writes nothing to it that the action would read. But
    // it found the key before the timer took it, and the action begins after that:
    //
    //   caller                             timer, then executor
    //   1 its work before the call         1 takes the key
    //   2 fence                            2 fence
    //   3 looks for the key                3 the action reads that work
    //
    // With a full fence on both sides, at least one sees the other. The map alone does not keep the
    // order of 1 and 3: it is read without a lock, and with acquire.
    VarHandle.fullFence();
    if (!debounced || !called.touch(key)) {
      called.add(key, true, delay); // if the key is there now, another call has added it
    }
  }

  /**
   * Cancels the action that waits for a key.
   *
   * @param key the key
   * @return whether the action was waiting for its time; if false, it may already be with the
   *     executor
   */
  public boolean cancel(K key) {
    return called.complete(key) != null;
  }

  /** {@return a copy of the keys whose action waits for its time} */
  public List<K> pending() {
    return List.copyOf(called.snapshot().keySet());
  }

  /** {@return how many actions wait for their time} */
  public long size() {
    return called.size();
  }

  /**
   * Hands over every action that waits for its time, at once and once each. An action that is
   * requested during this call, by another action or another thread, may wait for its own time.
   */
  public void flush() {
    called.expireAll();
  }

  /** Refuses calls from now on, and hands over every waiting action at once. */
  public void flushAndClose() {
    called.refuse();
    called.expireAll();
  }

  /** Refuses calls from now on, and cancels every waiting action. */
  @Override
  public void close() {
    called.close();
  }

  /**
   * The settings of a {@link Coalescer}. Not thread-safe.
   *
   * @param <K> the type of the keys
   */
  public static final class Builder<K> {
    private final Timer timer;
    private final Executor executor;
    private final Duration delay;
    private final Consumer<? super K> action;
    private final boolean debounced;
    private PatternErrorHandler onError = Errors::log;

    private Builder(
        Timer timer,
        Executor executor,
        Duration delay,
        Consumer<? super K> action,
        boolean debounced) {
      this.timer = requireNonNull(timer, "timer");
      this.executor = requireNonNull(executor, "executor");
      this.delay = delay;
      this.action = requireNonNull(action, "action");
      this.debounced = debounced;
    }

    /**
     * Sets the handler of everything that actions and the executor throw. By default, errors are
     * logged.
     *
     * @param onError the handler
     * @return this builder
     */
    public Builder<K> onError(PatternErrorHandler onError) {
      this.onError = requireNonNull(onError, "onError");
      return this;
    }

    /** {@return a new coalescer with these settings} */
    public Coalescer<K> build() {
      return new Coalescer<>(this);
    }
  }
}
