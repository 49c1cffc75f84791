// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.model.TimerKey;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A batch contains changes of timers that other transactions hold, as those of users may for any
 * time. Nothing was done, and the store has not waited for those transactions. The engine commits
 * the other changes at once, and repeats those of the held timers later.
 */
public final class HeldTimersException extends StoreException {
  private static final long serialVersionUID = 1;
  private static final int MAX_NAMED = 3;

  /** The timers that other transactions hold. */
  private final transient Set<TimerKey> heldKeys;

  /**
   * Makes an exception.
   *
   * @param heldKeys the timers that other transactions hold; at least one
   * @param cause the failure that showed it, or null
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

  /** {@return the timers that other transactions hold} */
  public Set<TimerKey> heldKeys() {
    return heldKeys;
  }
}
