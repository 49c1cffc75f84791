// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.model.TimerKey;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a batch changes timers that other transactions have locked, such as a long transaction
 * of the application. The store has applied nothing and has not waited for the locks. The engine
 * then commits the other changes at once, and retries those of the locked timers later.
 */
public final class HeldTimersException extends StoreException {
  private static final long serialVersionUID = 1;
  private static final int MAX_NAMED = 3;

  /** The timers that other transactions have locked. */
  private final transient Set<TimerKey> heldKeys;

  /**
   * Creates the exception.
   *
   * @param heldKeys the timers that other transactions have locked; at least one
   * @param cause the failure that reported the locks, or null
   */
  public HeldTimersException(Collection<TimerKey> heldKeys, @Nullable Throwable cause) {
    super(Kind.TRANSIENT, message(heldKeys), cause);
    this.heldKeys = Set.copyOf(heldKeys);
  }

  private static String message(Collection<TimerKey> heldKeys) {
    if (heldKeys.isEmpty()) {
      throw new IllegalArgumentException("heldKeys: empty (expected: at least one)");
    }
    return "another transaction holds "
        + new TreeSet<>(heldKeys)
            .stream().limit(MAX_NAMED).map(TimerKey::toString).collect(Collectors.joining(", "))
        + (heldKeys.size() > MAX_NAMED ? " and " + (heldKeys.size() - MAX_NAMED) + " more" : "");
  }

  /** {@return the timers that other transactions have locked} */
  public Set<TimerKey> heldKeys() {
    return heldKeys;
  }
}
