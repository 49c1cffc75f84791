// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Map;

/**
 * A value that expires unless it is removed from the map first, and the time of its last touch.
 *
 * @param <K> the type of the key
 * @param <V> the type of the value
 */
final class Expiring<K, V> extends TimedEntry {
  private static final VarHandle TOUCHED;

  static {
    try {
      TOUCHED = MethodHandles.lookup().findVarHandle(Expiring.class, "touchedNanos", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final Expirations<K, V> owner;
  final K key;

  // Both are written inside the map's computation for the key, which also decides the expiry.
  private volatile V value;
  private volatile long timeoutNanos;

  @SuppressWarnings("unused") // read and written through TOUCHED
  private long touchedNanos;

  Expiring(Expirations<K, V> owner, K key, V value, Duration timeout) {
    this.owner = owner;
    this.key = requireNonNull(key, "key");
    this.value = requireNonNull(value, "value");
    timeoutNanos = Checks.timeoutNanos(timeout);
    touchedNanos = owner.clock.nanoTime();
  }

  V value() {
    return value;
  }

  /** Takes the value and timeout of a newer entry, and gives it the value of this one. */
  void exchange(Expiring<K, V> newer) {
    V former = value;
    value = newer.value;
    newer.value = former;
    prolong(newer.timeoutNanos, newer.touchedNanos());
  }

  void prolong(long newTimeoutNanos, long nowNanos) {
    timeoutNanos = newTimeoutNanos;
    touch(nowNanos);
  }

  /** Records a touch. The write is opaque, because it publishes nothing except the time. */
  void touch(long nowNanos) {
    TOUCHED.setOpaque(this, nowNanos);
  }

  private long touchedNanos() {
    return (long) TOUCHED.getOpaque(this);
  }

  /** Returns the time since the last touch. */
  long idleNanos() {
    return owner.clock.nanoTime() - touchedNanos();
  }

  long remainingNanos() {
    return timeoutNanos - idleNanos();
  }

  /** Returns the delay until the entry must be checked; the next tick if that is overdue. */
  long delayNanos() {
    return Math.max(0, remainingNanos());
  }

  Map.Entry<K, V> asMapEntry() {
    return Map.entry(key, value);
  }

  @Override
  void fired() {
    owner.fired(this);
  }
}
