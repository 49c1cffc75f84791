// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Values that wait under a key for something to happen, each for its time: sessions, events,
 * requests. It replaces a map and a timer joined by hand.
 *
 * <pre>{@code
 * Expirations<String, Session> sessions =
 *     Expirations.builder(timer, (String id, Session session) -> session.logOut()).build();
 *
 * sessions.add(id, session, Duration.ofMinutes(30));
 * sessions.touch(id);                     // something came in: 30 minutes from now
 * Session ended = sessions.complete(id);  // null if it had expired
 * }</pre>
 *
 * <h2>One outcome</h2>
 *
 * Every value that was added ends in one of two ways: it is returned, once, by {@link #complete},
 * {@link #replace}, {@link #failAll()} or {@link #stop}, or the listener is told, once, that it
 * expired. Whoever removes it from the map decides. What is returned is gone: its timeout is
 * cancelled, and nothing refers to it.
 *
 * <h2>Touching</h2>
 *
 * A touch looks up the key, reads the clock and writes one field; the timer does not notice. When
 * the timeout fires and the entry was touched, it is filed anew for what remains. So an entry
 * expires at the first tick at or after the time of its last touch plus its timeout, and never
 * earlier; with two exceptions. A touch at the very moment of the expiry may find its entry and
 * still be too late for it. And of two threads that touch an entry at the same moment, the one that
 * writes last counts, though the other may have read the clock later. A touch carries nothing else
 * with it: what a thread did before it need not be visible to the listener.
 *
 * <h2>The listener</h2>
 *
 * It never runs on the timer's thread unless the queue of expired entries overflows. It runs on the
 * executor, or on a thread of its own, one batch at a time. What does not fit into the queue goes
 * one of three ways:
 *
 * <ul>
 *   <li>Unless set otherwise, the timer's thread runs the listener, which then may run twice at a
 *       time: the clock is late, but nothing is lost.
 *   <li>With {@link ExpirationsBuilder#onOverflow}, the timer's thread gives it to another
 *       listener, which may count it and drop it: the clock is not late.
 *   <li>With {@link ExpirationsBuilder#blockOnOverflow}, the timer's thread waits until there is
 *       room: the clock is late, nothing is lost, and the listener runs once at a time. But an
 *       interrupt ends the wait, and who is refused by {@link #replace} does not wait; what then
 *       does not fit goes one of the two other ways.
 * </ul>
 *
 * <p>If the timer is stopped, nothing expires any more, but can still be completed. If it refuses
 * to file a touched entry anew, that entry expires at once, and the handler is told.
 *
 * <p>An entry takes 128 bytes beside key and value, its timeout and the map's node included.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class Expirations<K, V> implements AutoCloseable {
  private final Timer timer;
  final Elapsed clock;
  private final Errors errors;
  private final HandOff<Map.Entry<K, V>> expired;
  private final ConcurrentHashMap<K, Expiring<K, V>> entries = new ConcurrentHashMap<>();
  private volatile boolean stopped;

  Expirations(ExpirationsBuilder<K, V> settings) {
    timer = settings.timer;
    clock = new Elapsed(timer);
    errors = new Errors(settings.onError);
    Executor executor = settings.executor;
    expired =
        new HandOff<>(
            executor == null ? HandOff.ownThread("timewheel-expirations") : executor,
            settings.capacity,
            settings.blocks,
            settings.maxBatch,
            settings.listener,
            settings.overflow == null ? settings.listener : settings.overflow,
            errors);
  }

  /**
   * A builder of expirations that tell a listener of one entry after the other. What it throws
   * keeps no other entry from it.
   *
   * @param timer the timer that they are to use
   * @param onExpired is told of each entry that has expired
   * @return a builder
   * @param <K> the type of the keys
   * @param <V> the type of the values
   */
  public static <K, V> ExpirationsBuilder<K, V> builder(
      Timer timer, BiConsumer<? super K, ? super V> onExpired) {
    requireNonNull(onExpired, "onExpired");
    return new ExpirationsBuilder<>(
        timer, 1, batch -> batch.forEach(e -> onExpired.accept(e.getKey(), e.getValue())));
  }

  /**
   * A builder of expirations that tell a listener of many entries at a time: of all that have
   * expired since it was last called.
   *
   * @param timer the timer that they are to use
   * @param maxBatch how many entries a batch may have at most
   * @param onExpired is told of each batch, which is its own to keep
   * @return a builder
   * @param <K> the type of the keys
   * @param <V> the type of the values
   */
  public static <K, V> ExpirationsBuilder<K, V> builder(
      Timer timer, int maxBatch, Consumer<? super List<Map.Entry<K, V>>> onExpired) {
    return new ExpirationsBuilder<>(timer, maxBatch, requireNonNull(onExpired, "onExpired"));
  }

  /**
   * Adds a value, unless there is one of this key.
   *
   * @param key its key
   * @param value the value
   * @param timeout after what time it expires
   * @return whether it was added
   * @throws IllegalStateException if this object or its timer is stopped
   * @throws java.util.concurrent.RejectedExecutionException if the timer is at its limit
   */
  public boolean add(K key, V value, Duration timeout) {
    Expiring<K, V> entry = new Expiring<>(this, key, value, timeout);
    if (entries.putIfAbsent(key, entry) != null) {
      return false;
    }
    start(entry);
    return true;
  }

  /**
   * Adds a value in the place of the one of this key, if there is one. If this throws for another
   * reason than a null argument, the new value was not added, and the former one has expired.
   *
   * @param key its key
   * @param value the value
   * @param timeout after what time it expires
   * @return the former value, which will not expire any more; null if there was none
   * @throws IllegalStateException if this object or its timer is stopped
   * @throws java.util.concurrent.RejectedExecutionException if the timer is at its limit
   */
  public @Nullable V replace(K key, V value, Duration timeout) {
    Expiring<K, V> entry = new Expiring<>(this, key, value, timeout);
    Expiring<K, V> former = entries.put(key, entry);
    if (former != null) {
      former.settle();
    }
    try {
      start(entry);
    } catch (Throwable e) {
      if (former != null) {
        expired.putAtOnce(former.asMapEntry());
      }
      throw e;
    }
    return former == null ? null : former.value;
  }

  /** The entry is in the map. If it can be taken out again, it was not added after all. */
  private void start(Expiring<K, V> entry) {
    try {
      if (stopped) {
        throw new IllegalStateException("the expirations are stopped");
      }
      entry.file(timer, entry.timeoutNanos);
    } catch (Throwable e) {
      if (entries.remove(entry.key, entry)) {
        throw e;
      }
    }
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
    return entry.value;
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
    entry.touch(clock.nanos());
    return true;
  }

  /**
   * Takes out all values: they are the caller's, who will fail what waits for them.
   *
   * @return the values with their keys; none of them expires
   */
  public List<Map.Entry<K, V>> failAll() {
    return failAll((key, value) -> true);
  }

  /**
   * Takes out all values that fulfil a condition. Looks at every one.
   *
   * @param condition which ones
   * @return the values with their keys; none of them expires
   */
  public List<Map.Entry<K, V>> failAll(BiPredicate<? super K, ? super V> condition) {
    requireNonNull(condition, "condition");
    // The condition is asked before anything is taken: if it throws, nothing is lost.
    List<Expiring<K, V>> wanted = new ArrayList<>();
    for (Expiring<K, V> entry : entries.values()) {
      if (condition.test(entry.key, entry.value)) {
        wanted.add(entry);
      }
    }
    List<Map.Entry<K, V>> taken = new ArrayList<>(wanted.size());
    for (Expiring<K, V> entry : wanted) {
      if (entries.remove(entry.key, entry)) {
        entry.settle();
        taken.add(entry.asMapEntry());
      }
    }
    return taken;
  }

  /** {@return how many values are there; exact when no other thread adds or takes any} */
  public long size() {
    return entries.mappingCount();
  }

  /**
   * For how long the value that was neither added nor touched for longest has been waiting. Looks
   * at every one.
   *
   * @return the time; empty if there are no values
   */
  public Optional<Duration> oldest() {
    long nowNanos = clock.nanos();
    return entries.values().stream()
        .map(entry -> Duration.ofNanos(nowNanos - entry.touchedNanos()))
        .max(Duration::compareTo);
  }

  /**
   * Refuses values from now on, and takes out all that there are. What expired before still goes to
   * the listener.
   *
   * @return the values with their keys; none of them expires
   */
  public List<Map.Entry<K, V>> stop() {
    stopped = true; // before the sweep: who adds behind it sees this, and takes out its own
    return failAll();
  }

  /** Stops, as {@link #stop} does, and forgets which values were left. */
  @Override
  public void close() {
    stop();
  }

  void fired(Expiring<K, V> entry) {
    long remainingNanos = entry.timeoutNanos - (clock.nanos() - entry.touchedNanos());
    if (remainingNanos > 0 && !entry.isSettled()) {
      try {
        entry.file(timer, remainingNanos);
        return;
      } catch (Throwable e) {
        errors.handle(e);
      }
    }
    if (entries.remove(entry.key, entry)) {
      entry.settle();
      expired.put(entry.asMapEntry());
    }
  }
}
