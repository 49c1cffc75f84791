// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.HeldTimersException;
import java.sql.SQLException;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Retains timers that other transactions hold. A write batch with one of them waits for no lock,
 * even in its first try. The engine repeats that timer's change, and the other changes must not
 * wait. A timer stays here until a write batch has locked it. Thread-safe.
 */
final class HeldTimers {
  /**
   * The maximum number of timers. The oldest ones are dropped: a write batch with them waits once
   * more.
   */
  static final int MAX_TIMERS = 1_000;

  private final Set<TimerKey> keys = new LinkedHashSet<>();
  private volatile boolean empty = true;

  boolean containsAny(Collection<TimerKey> some) {
    if (empty) {
      return false;
    }
    synchronized (this) {
      return some.stream().anyMatch(keys::contains);
    }
  }

  /** Adds timers. Returns an exception that makes the engine repeat their changes separately. */
  HeldTimersException held(List<TimerKey> held, @Nullable SQLException cause) {
    add(held);
    return new HeldTimersException(held, cause);
  }

  synchronized void add(Collection<TimerKey> held) {
    keys.addAll(held);
    while (keys.size() > MAX_TIMERS) {
      keys.remove(keys.iterator().next());
    }
    empty = keys.isEmpty();
  }

  synchronized void remove(Collection<TimerKey> released) {
    released.forEach(keys::remove);
    empty = keys.isEmpty();
  }
}
