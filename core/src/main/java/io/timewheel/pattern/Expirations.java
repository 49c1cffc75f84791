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
 * Values that wait under a key for something to happen, each with its timeout: sessions, events,
 * requests. It replaces a map and a timer combined by hand.
 *
 * <pre>{@code
 * Expirations<String, Session> sessions =
 *     Expirations.create(timer, (id, session) -> session.logOut());
 *
 * sessions.add(id, session, Duration.ofMinutes(30));
 * sessions.touch(id);                     // something came in: 30 minutes from now
 * Session ended = sessions.complete(id);  // null if it had expired
 * }</pre>
 *
 * <h2>One outcome</h2>
 *
 * Every value that was added ends in one of two ways: it is returned, once, by {@link #complete},
 * {@link #replace}, {@link #removeAll()} or {@link #stop} (or removed by {@link #remove}); or it
 * expires, and the listener is notified, once. The thread that removes it from the map decides.
 * What is returned is gone: its timeout is cancelled, and nothing refers to it.
 *
 * <h2>Touching</h2>
 *
 * A touch looks up the key, reads the clock and writes one field; the timer does not notice. When
 * the timeout fires and the entry was touched, the timeout is re-armed for the rest, in its place,
 * so the timer's limit cannot make a touched entry expire. An entry expires at the first tick at or
 * after the time of its last touch plus its timeout, never earlier, with two exceptions. A touch at
 * the very moment of the expiry may find its entry and still be too late. And of two threads that
 * touch an entry at the same moment, the one that writes last counts, though the other may have
 * read the clock later. A touch publishes nothing else: what a thread did before it need not be
 * visible to the listener.
 *
 * <h2>The listener</h2>
 *
 * It runs on the executor, or on its own thread, one batch at a time, and on the timer thread only
 * if the queue of expired entries overflows. What does not fit into the queue goes one of three
 * ways:
 *
 * <ul>
 *   <li>By default the timer thread runs the listener, which then may run twice at a time: the
 *       timer is late, but nothing is lost.
 *   <li>With {@link Builder#onOverflow}, the timer thread gives it to another listener, which may
 *       count it and drop it: the timer is not late.
 *   <li>With {@link Builder#blockOnOverflow}, the timer thread waits until there is room: the timer
 *       is late, nothing is lost, and the listener runs once at a time. But an interrupt ends the
 *       wait, and a thread that calls {@link #expire} does not wait; what then does not fit goes
 *       one of the two other ways.
 * </ul>
 *
 * <p>If the executor drops a run of the listener silently, what is queued waits until more entries
 * expire. If the timer is stopped, nothing expires any more, but can still be completed.
 *
 * <p>An entry takes 128 bytes plus key and value, including its timeout and the map's node.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class Expirations<K, V> implements AutoCloseable {
  /** Why a value has expired. */
  public enum Cause {
    /** Its time was up. */
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
   * @param timer where the timeouts are pending
   * @param onExpired receives key and value of each entry that expires, on its own thread
   * @return new expirations
   * @param <K> the type of the keys
   * @param <V> the type of the values
   */
  public static <K, V> Expirations<K, V> create(
      Timer timer, BiConsumer<? super K, ? super V> onExpired) {
    return Expirations.<K, V>builder(timer, onExpired).build();
  }

  /**
   * A builder of expirations whose listener receives one entry after the other. If it throws, it
   * still receives the others.
   *
   * @param timer where the timeouts are pending
   * @param onExpired receives key and value of each entry that expires
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
   * A builder of expirations whose listener receives many entries at a time: all that have expired
   * since it was last called, each with its cause.
   *
   * @param timer where the timeouts are pending
   * @param maxBatch how many entries a batch may have at most
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
   * @param timeout the time after which it expires
   * @return whether it was added
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
   * Adds a value, or replaces the one that its key has. A replacement takes no place in the timer,
   * so the timer's limit never refuses it.
   *
   * @param key its key
   * @param value the value
   * @param timeout the time after which it expires
   * @return the former value, which will not expire any more; null if there was none
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
   * Comes before the entry is in the map, so no other thread relies on an entry that is then
   * refused.
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

  /** The entry is in the map. If it can be taken out again, it was not added after all. */
  private void added(Expiring<K, V> entry) {
    if (stopped && take(entry, e -> true)) { // after adding: otherwise a stop may miss it
      throw new IllegalStateException(whyStopped);
    }
  }

  /**
   * Looks up a value, without taking it out.
   *
   * @param key its key
   * @return the value; null if there is none
   */
  public @Nullable V get(K key) {
    Expiring<K, V> entry = entries.get(key);
    return entry == null ? null : entry.value();
  }

  /**
   * Takes a value out before it expires.
   *
   * @param key its key
   * @return the value; null if it has expired, was taken out before, or never was there
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
   * Takes a given value out before it expires, and leaves any other value of its key.
   *
   * @param key its key
   * @param value a value that is equal to it
   * @return whether it was taken out
   */
  public boolean remove(K key, V value) {
    requireNonNull(value, "value");
    Expiring<K, V> entry = entries.get(key);
    return entry != null && take(entry, e -> e.value().equals(value));
  }

  /**
   * Makes a value expire now, as if its time were up.
   *
   * @param key its key
   * @return whether it was there, and the listener will be notified
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

  /** Expires the entries that are there now, and none that the listener adds meanwhile. */
  void expireAll() {
    List.copyOf(entries.values()).forEach(this::expire);
  }

  /**
   * Postpones the expiry of a value to its timeout from now. Cheap enough for every message: see
   * above.
   *
   * @param key its key
   * @return whether it is there
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
   * Gives a value another timeout, from now on. This takes no place in the timer, but a shorter
   * timeout moves the pending one.
   *
   * @param key its key
   * @param timeout the time from now, and from every later touch, after which it expires
   * @return whether it is there
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
   * Takes out all values. They are the caller's, for instance to fail what waits for them.
   *
   * @return the values with their keys; none of them expires
   */
  public List<Map.Entry<K, V>> removeAll() {
    return removeAll((key, value) -> true);
  }

  /**
   * Takes out all values that match a condition. Looks at every one.
   *
   * @param condition which ones
   * @return the values with their keys; none of them expires
   */
  public List<Map.Entry<K, V>> removeAll(BiPredicate<? super K, ? super V> condition) {
    requireNonNull(condition, "condition");
    // Evaluate the condition before taking anything: if it throws, nothing is lost.
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

  /** {@return how many values are there; exact when no other thread adds or takes any} */
  public long size() {
    return entries.mappingCount();
  }

  /**
   * A copy of what is there: each value that is there throughout the call, and perhaps some that
   * come or go meanwhile.
   *
   * @return the values by their keys, in no order; the caller's own
   */
  public Map<K, V> snapshot() {
    Map<K, V> copy = new HashMap<>();
    entries.forEach((key, entry) -> copy.put(key, entry.value()));
    return copy;
  }

  /**
   * How long the value least recently added or touched has been waiting. Looks at every one.
   *
   * @return the time; empty if there are no values
   */
  public Optional<Duration> oldest() {
    return entries.values().stream()
        .map(entry -> Duration.ofNanos(entry.idleNanos()))
        .max(Duration::compareTo);
  }

  /**
   * Refuses values from now on, and takes out all that there are. What expired before still goes to
   * the listener.
   *
   * @return the values with their keys; none of them expires
   */
  public List<Map.Entry<K, V>> stop() {
    refuse();
    return removeAll();
  }

  /**
   * Comes before anything is taken out: a thread that adds later sees this, and takes out its own.
   */
  void refuse() {
    stopped = true;
  }

  /** Stops, as {@link #stop} does, and forgets which values were left. */
  @Override
  public void close() {
    stop();
  }

  /**
   * If the entry is not due, or not yet in the map, re-arms its timeout. The timer refuses that
   * only when it is stopped; then the entry stays, and can be completed.
   */
  void fired(Expiring<K, V> entry) {
    if (entry.remainingNanos() <= 0 && take(entry, e -> e.remainingNanos() <= 0)) {
      expired.put(new Expired<>(entry.key, entry.value(), Cause.TIMEOUT));
    } else if (!entry.isSettled()) {
      entry.rearm(entry::delayNanos);
    }
  }

  /** The one way out of the map for a given entry: returns whether this call took it. */
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

    /** The pattern named to {@link #onError}. */
    Class<?> pattern = Expirations.class;

    private Builder(Timer timer, int maxBatch, Consumer<? super List<Expired<K, V>>> listener) {
      this.timer = requireNonNull(timer, "timer");
      this.maxBatch = Checks.positive("maxBatch", maxBatch);
      this.listener = listener;
    }

    /**
     * Sets the executor that runs the listener: by default its own daemon thread.
     *
     * @param executor runs the listener, a batch at a time
     * @return this builder
     */
    public Builder<K, V> executor(Executor executor) {
      this.executor = requireNonNull(executor, "executor");
      return this;
    }

    /**
     * Sets how many expired entries may wait for the listener: 65,536 by default.
     *
     * @param capacity how many
     * @return this builder
     */
    public Builder<K, V> capacity(int capacity) {
      this.capacity = Checks.positive("capacity", capacity);
      return this;
    }

    /**
     * Sets the listener for expired entries that do not fit into the queue, or that the executor
     * rejects: by default the usual listener. The timer thread calls it.
     *
     * @param onOverflow receives what does not fit
     * @return this builder
     */
    public Builder<K, V> onOverflow(Consumer<? super List<Expired<K, V>>> onOverflow) {
      overflow = requireNonNull(onOverflow, "onOverflow");
      return this;
    }

    /**
     * Makes the timer thread wait when the queue is full, until the listener has made room. The
     * timer is then late for everything, so use this only for a timer that does nothing else. The
     * executor must run what it accepts, on threads other than the one that waits, or that waits
     * for ever. An interrupt, such as that of a stop that has run out of patience, ends the wait:
     * the entry then goes to the overflow listener.
     *
     * @return this builder
     */
    public Builder<K, V> blockOnOverflow() {
      blocks = true;
      return this;
    }

    /**
     * Sets the handler of what listeners and executor throw: by default a log.
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
