// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timeout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Map;

/**
 * A value that expires unless it is taken out of the map before, and the time of its last touch.
 *
 * @param <K> the type of the key
 * @param <V> the type of the value
 */
final class Expiring<K, V> extends Filed {
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
  final V value;
  final long timeoutNanos;

  @SuppressWarnings("unused") // read and written through TOUCHED
  private long touchedNanos;

  Expiring(Expirations<K, V> owner, K key, V value, Duration timeout) {
    this.owner = owner;
    this.key = requireNonNull(key, "key");
    this.value = requireNonNull(value, "value");
    timeoutNanos = Checks.timeoutNanos(timeout);
    touchedNanos = owner.clock.nanos();
  }

  /** Opaque: the time carries nothing else with it. */
  void touch(long nowNanos) {
    TOUCHED.setOpaque(this, nowNanos);
  }

  long touchedNanos() {
    return (long) TOUCHED.getOpaque(this);
  }

  Map.Entry<K, V> asMapEntry() {
    return Map.entry(key, value);
  }

  @Override
  public void run(Timeout timeout) {
    owner.fired(this);
  }
}
