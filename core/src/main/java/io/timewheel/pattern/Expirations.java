// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.TimeSource;
import io.timewheel.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A map whose values expire, each after its own timeout: sessions, events, requests. It replaces a
 * map and a timer combined by hand.
 *
 * <pre>{@code
 * Expirations<String, Session> sessions =
 *     Expirations.create(timer, (id, session) -> session.logOut());
 *
 * sessions.add(id, session, Duration.ofMinutes(30));
 * sessions.touch(id);                     // on a message: 30 minutes from now
 * Session ended = sessions.complete(id);  // null if it had expired
 * }</pre>
 *
 * <h2>One outcome</h2>
 *
 * Every added value has exactly one of two outcomes. {@link #complete}, {@link #replace}, {@link
 * #removeAll()} or {@link #stop} returns it once (or {@link #remove} removes it). Or it expires,
 * and the listener is notified once. The thread that removes the value from the map decides. A
 * returned value is no longer in the map: its timeout is cancelled, and nothing refers to it.
 *
 * <h2>Touching</h2>
 *
 * A touch looks up the key, reads the clock and writes one field. It does not call the timer. If
 * the entry was touched when the timeout fires, the same timeout is re-armed for the remaining
 * time. So the timer's limit cannot make a touched entry expire. An entry expires at the first tick
 * at or after the time of its last touch plus its timeout, never earlier, with two exceptions. A
 * touch at the exact moment of the expiry may find its entry and still be too late. If two threads
 * touch an entry at the same moment, the last write counts, although the other thread may have read
 * the clock later. A touch publishes only the time: the listener may not see earlier writes of the
 * touching thread.
 *
 * <h2>The listener</h2>
 *
 * The listener runs on the executor, or on its own thread, one batch at a time. It runs on the
 * timer thread only if the queue of expired entries overflows. There are three ways to handle
 * entries that exceed the queue:
 *
 * <ul>
 *   <li>By default, the timer thread runs the listener, which may then run on two threads at once.
 *       The timer is late, but nothing is lost.
 *   <li>With {@link Builder#onOverflow}, the timer thread passes them to another listener, which
 *       may count and drop them. The timer is not late.
 *   <li>With {@link Builder#blockOnOverflow}, the timer thread waits until there is room. The timer
 *       is late, nothing is lost, and the listener runs on one thread at a time. But an interrupt
 *       ends the wait, and a thread that calls {@link #expire} does not wait. Entries that then
 *       exceed the queue are handled in one of the two other ways.
 * </ul>
 *
 * <p>If the executor silently drops a run of the listener, the queued entries wait until more
 * entries expire. If the timer is stopped, entries no longer expire, but can still be completed.
 *
 * <p>An entry takes 128 bytes plus key and value, including its timeout and the map's node.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class Expirations<K, V> implements AutoCloseable {
  /** The reason why a value expired. */
  public enum Cause {
    /** The timeout of the value elapsed. */
    TIMEOUT,
    /** {@link Expirations#expire} was called. */
    EXPLICIT
  }

  /**
   * A value that has expired.
   *
   * @param key its key
   * @param value the value
   * @param cause why it expired
   * @param <K> the type of the key
   * @param <V> the type of the value
   */
  public record Expired<K, V>(K key, V value, Cause cause) {}

  private final Timer timer;
  final TimeSource clock;
  private final String whyStopped;
  private final HandOff<Expired<K, V>> expired;
  private final ConcurrentHashMap<K, Expiring<K, V>> entries = new ConcurrentHashMap<>();
  private volatile boolean stopped;

  private Expirations(Builder<K, V> settings) {
    timer = settings.timer;
    clock = timer.timeSource();
    whyStopped = "this " + settings.pattern.getSimpleName() + " is stopped";
    Errors errors = new Errors(settings.pattern, settings.onError);
    Executor executor = settings.executor;
    Consumer<List<Expired<K, V>>> listener = guarded(settings.listener, errors);
    expired =
        new HandOff<>(
            executor == null ? OwnThreads.create("timewheel-expirations", 1) : executor,
            settings.capacity,
            settings.blocks,
            settings.maxBatch,
            listener,
            settings.overflow == null ? listener : guarded(settings.overflow, errors),
            errors);
  }

  private static <K, V> Consumer<List<Expired<K, V>>> guarded(
      Consumer<? super List<Expired<K, V>>> listener, Errors errors) {
    return batch -> {
      try {
        listener.accept(batch);
      } catch (Throwable e) {
        List<K> keys = batch.stream().map(Expired::key).toList();
        errors.handle(keys.size() == 1 ? keys.get(0) : keys, e);
      }
    };
  }

  /**
   * Makes expirations with the defaults of {@link #builder}.
   *
   * @param timer the timer for the timeouts
   * @param onExpired receives key and value of each expired entry, on its own thread
   * @return new expirations
   * @param <K> the type of the keys
   * @param <V> the type of the values
   */
  public static <K, V> Expirations<K, V> create(
      Timer timer, BiConsumer<? super K, ? super V> onExpired) {
    return Expirations.<K, V>builder(timer, onExpired).build();
  }

  /**
   * Returns a builder of expirations whose listener receives one entry after the other. If the
   * listener throws, it still receives the other entries.
   *
   * @param timer the timer for the timeouts
   * @param onExpired receives key and value of each expired entry
   * @return a builder
   * @param <K> the type of the keys
   * @param <V> the type of the values
   */
  public static <K, V> Builder<K, V> builder(
      Timer timer, BiConsumer<? super K, ? super V> onExpired) {
    requireNonNull(onExpired, "onExpired");
    return new Builder<>(
        timer, 1, batch -> batch.forEach(e -> onExpired.accept(e.key(), e.value())));
  }

  /**
   * Returns a builder of expirations whose listener receives entries in batches. A batch contains
   * all entries that have expired since the last call, each with its cause.
   *
   * @param timer the timer for the timeouts
   * @param maxBatch the maximum number of entries in a batch, more than 0
   * @param onExpired receives each batch, and may keep it
   * @return a builder
   * @param <K> the type of the keys
   * @param <V> the type of the values
   */
  public static <K, V> Builder<K, V> builder(
      Timer timer, int maxBatch, Consumer<? super List<Expired<K, V>>> onExpired) {
    return new Builder<>(timer, maxBatch, requireNonNull(onExpired, "onExpired"));
  }

  /**
   * Adds a value, unless its key has one.
   *
   * @param key its key
   * @param value the value
   * @param timeout the time after which the value expires
   * @return whether the value was added
   * @throws IllegalStateException if this object or its timer is stopped
   * @throws java.util.concurrent.RejectedExecutionException if the timer is at its limit
   */
  public boolean add(K key, V value, Duration timeout) {
    Expiring<K, V> entry = new Expiring<>(this, key, value, timeout);
    if (entries.containsKey(key)) {
      return false;
    }
    start(entry);
    if (entries.putIfAbsent(key, entry) != null) {
      entry.settle();
      return false;
    }
    added(entry);
    return true;
  }

  /**
   * Adds a value, or replaces the value of its key. A replacement starts no timeout, so the timer's
   * limit never refuses it.
   *
   * @param key its key
   * @param value the value
   * @param timeout the time after which the value expires
   * @return the former value, which will no longer expire; null if there was none
   * @throws IllegalStateException if this object or its timer is stopped
   * @throws java.util.concurrent.RejectedExecutionException if there was no value, and the timer is
   *     at its limit
   */
  public @Nullable V replace(K key, V value, Duration timeout) {
    Expiring<K, V> entry = new Expiring<>(this, key, value, timeout);
    while (true) {
      refuseIfStopped();
      Expiring<K, V> present =
          entries.computeIfPresent(
              key,
              (k, former) -> {
                former.exchange(entry);
                return former;
              });
      if (present != null) {
        present.hasten(present.delayNanos());
        return entry.value();
      }
      start(entry);
      if (entries.putIfAbsent(key, entry) == null) {
        added(entry);
        return null;
      }
      entry.settle();
    }
  }

  /**
   * Starts the timeout. Called before the entry is in the map, so no other thread relies on an
   * entry that is then refused.
   */
  private void start(Expiring<K, V> entry) {
    refuseIfStopped();
    entry.start(timer, entry::delayNanos);
  }

  private void refuseIfStopped() {
    if (stopped || timer.isStopped()) {
      throw new IllegalStateException(stopped ? whyStopped : "the timer is stopped");
    }
  }

  /**
   * Checks for a stop after the entry was put in the map. If this object is stopped and this call
   * removes the entry, the addition is refused.
   */
  private void added(Expiring<K, V> entry) {
    if (stopped && take(entry, e -> true)) { // after adding: otherwise, a stop may miss the entry
      throw new IllegalStateException(whyStopped);
    }
  }

  /**
   * Returns the value of a key, without removing it.
   *
   * @param key its key
   * @return the value; null if there is none
   */
  public @Nullable V get(K key) {
    Expiring<K, V> entry = entries.get(key);
    return entry == null ? null : entry.value();
  }

  /**
   * Removes a value before it expires.
   *
   * @param key its key
   * @return the value; null if it has expired, was removed before, or was never added
   */
  public @Nullable V complete(K key) {
    Expiring<K, V> entry = entries.remove(key);
    if (entry == null) {
      return null;
    }
    entry.settle();
    return entry.value();
  }

  /**
   * Removes a given value before it expires. If the key has another value, keeps it.
   *
   * @param key its key
   * @param value a value that is equal to it
   * @return whether the value was removed
   */
  public boolean remove(K key, V value) {
    requireNonNull(value, "value");
    Expiring<K, V> entry = entries.get(key);
    return entry != null && take(entry, e -> e.value().equals(value));
  }

  /**
   * Expires a value now, as if its timeout had elapsed.
   *
   * @param key its key
   * @return whether there was a value, and the listener will be notified
   */
  public boolean expire(K key) {
    Expiring<K, V> entry = entries.get(key);
    return entry != null && expire(entry);
  }

  private boolean expire(Expiring<K, V> entry) {
    boolean taken = take(entry, e -> true);
    if (taken) {
      expired.putAtOnce(new Expired<>(entry.key, entry.value(), Cause.EXPLICIT));
    }
    return taken;
  }

  /**
   * Expires the entries that exist at the time of the call, but not those that the listener adds
   * meanwhile.
   */
  void expireAll() {
    List.copyOf(entries.values()).forEach(this::expire);
  }

  /**
   * Postpones the expiry of a value to its timeout from now. Cheap enough to call for every
   * message; see the description of this class.
   *
   * @param key its key
   * @return whether the key has a value
   */
  public boolean touch(K key) {
    Expiring<K, V> entry = entries.get(key);
    if (entry == null) {
      return false;
    }
    entry.touch(clock.nanoTime());
    return true;
  }

  /**
   * Sets another timeout for a value, counted from now. This starts no new timeout in the timer. It
   * moves the pending timeout if that is due later.
   *
   * @param key its key
   * @param timeout the time from now, and from every later touch, after which the value expires
   * @return whether the key has a value
   */
  public boolean touch(K key, Duration timeout) {
    long timeoutNanos = Checks.timeoutNanos(timeout);
    Expiring<K, V> entry =
        entries.computeIfPresent(
            key,
            (k, present) -> {
              present.prolong(timeoutNanos, clock.nanoTime());
              return present;
            });
    if (entry == null) {
      return false;
    }
    entry.hasten(timeoutNanos);
    return true;
  }

  /**
   * Removes all values. The caller may, for instance, fail the operations that wait for them.
   *
   * @return the values with their keys; none of them expires
   */
  public List<Map.Entry<K, V>> removeAll() {
    return removeAll((key, value) -> true);
  }

  /**
   * Removes all values that match a condition. Reads every value.
   *
   * @param condition selects the values
   * @return the values with their keys; none of them expires
   */
  public List<Map.Entry<K, V>> removeAll(BiPredicate<? super K, ? super V> condition) {
    requireNonNull(condition, "condition");
    // Evaluate the condition before removing anything: if it throws, nothing is lost.
    Map<Expiring<K, V>, V> wanted = new HashMap<>();
    for (Expiring<K, V> entry : entries.values()) {
      V value = entry.value();
      if (condition.test(entry.key, value)) {
        wanted.put(entry, value);
      }
    }
    List<Map.Entry<K, V>> taken = new ArrayList<>(wanted.size());
    wanted.forEach(
        (entry, value) -> {
          if (take(entry, e -> e.value() == value)) {
            taken.add(entry.asMapEntry());
          }
        });
    return taken;
  }

  /** {@return the number of values; exact if no other thread adds or removes any} */
  public long size() {
    return entries.mappingCount();
  }

  /**
   * Returns a copy of the values. It contains each value that is present throughout the call. It
   * may contain values that are added or removed meanwhile.
   *
   * @return the values by their keys, in no order; owned by the caller
   */
  public Map<K, V> snapshot() {
    Map<K, V> copy = new HashMap<>();
    entries.forEach((key, entry) -> copy.put(key, entry.value()));
    return copy;
  }

  /**
   * Returns how long ago the least recently added or touched value was added or touched. Reads
   * every value.
   *
   * @return the time; empty if there are no values
   */
  public Optional<Duration> oldest() {
    return entries.values().stream()
        .map(entry -> Duration.ofNanos(entry.idleNanos()))
        .max(Duration::compareTo);
  }

  /**
   * Refuses values from now on, and removes all values. Values that expired before still go to the
   * listener.
   *
   * @return the values with their keys; none of them expires
   */
  public List<Map.Entry<K, V>> stop() {
    refuse();
    return removeAll();
  }

  /**
   * Refuses values from now on. Called before any value is removed: a thread that adds a value
   * later sees this, and removes its own.
   */
  void refuse() {
    stopped = true;
  }

  /** Stops, as {@link #stop} does, without returning the values. */
  @Override
  public void close() {
    stop();
  }

  /**
   * Expires the entry if it is due. If it is not due, or not yet in the map, re-arms its timeout.
   * Only a stopped timer refuses that; then the entry stays, and can be completed.
   */
  void fired(Expiring<K, V> entry) {
    if (entry.remainingNanos() <= 0 && take(entry, e -> e.remainingNanos() <= 0)) {
      expired.put(new Expired<>(entry.key, entry.value(), Cause.TIMEOUT));
    } else if (!entry.isSettled()) {
      entry.rearm(entry::delayNanos);
    }
  }

  /**
   * Removes a given entry from the map. All removals use this method. Returns whether this call
   * removed it.
   */
  private boolean take(Expiring<K, V> entry, Predicate<Expiring<K, V>> condition) {
    boolean[] taken = {false};
    entries.computeIfPresent(
        entry.key,
        (key, present) -> {
          taken[0] = present == entry && condition.test(entry);
          return taken[0] ? null : present;
        });
    if (taken[0]) {
      entry.settle();
    }
    return taken[0];
  }

  /**
   * The settings of {@link Expirations}. Not thread-safe.
   *
   * @param <K> the type of the keys
   * @param <V> the type of the values
   */
  public static final class Builder<K, V> {
    private final Timer timer;
    private final int maxBatch;
    private final Consumer<? super List<Expired<K, V>>> listener;
    private @Nullable Consumer<? super List<Expired<K, V>>> overflow;
    private @Nullable Executor executor;
    private int capacity = 65_536;
    private boolean blocks;
    private PatternErrorHandler onError = Errors::log;

    /** The pattern that is passed to {@link #onError}. */
    Class<?> pattern = Expirations.class;

    private Builder(Timer timer, int maxBatch, Consumer<? super List<Expired<K, V>>> listener) {
      this.timer = requireNonNull(timer, "timer");
      this.maxBatch = Checks.positive("maxBatch", maxBatch);
      this.listener = listener;
    }

    /**
     * Sets the executor that runs the listener. By default, the listener has its own daemon thread.
     *
     * @param executor runs the listener, a batch at a time
     * @return this builder
     */
    public Builder<K, V> executor(Executor executor) {
      this.executor = requireNonNull(executor, "executor");
      return this;
    }

    /**
     * Sets the capacity of the queue of expired entries that wait for the listener. The default is
     * 65,536.
     *
     * @param capacity the number of entries, more than 0
     * @return this builder
     */
    public Builder<K, V> capacity(int capacity) {
      this.capacity = Checks.positive("capacity", capacity);
      return this;
    }

    /**
     * Sets the listener for expired entries that exceed the queue, or that the executor rejects.
     * The timer thread calls it. The default is the usual listener.
     *
     * @param onOverflow receives these entries
     * @return this builder
     */
    public Builder<K, V> onOverflow(Consumer<? super List<Expired<K, V>>> onOverflow) {
      overflow = requireNonNull(onOverflow, "onOverflow");
      return this;
    }

    /**
     * Makes the timer thread wait if the queue is full, until the listener has made room. All
     * timeouts of the timer are then late, so use this only for a timer that has no other use. The
     * executor must run all accepted tasks on threads other than the waiting one. Otherwise, the
     * timer thread waits forever. An interrupt ends the wait, such as that of a stop whose shutdown
     * timeout has elapsed. The entry then goes to the overflow listener.
     *
     * @return this builder
     */
    public Builder<K, V> blockOnOverflow() {
      blocks = true;
      return this;
    }

    /**
     * Sets the handler of everything that listeners and the executor throw. By default, errors are
     * logged.
     *
     * @param onError the handler
     * @return this builder
     */
    public Builder<K, V> onError(PatternErrorHandler onError) {
      this.onError = requireNonNull(onError, "onError");
      return this;
    }

    /** {@return new expirations with these settings} */
    public Expirations<K, V> build() {
      return new Expirations<>(this);
    }
  }
}
