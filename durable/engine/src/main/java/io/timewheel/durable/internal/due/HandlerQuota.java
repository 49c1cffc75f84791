// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.spi.DuePosition;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Limits the entries of a window for each handler, so that a stalled handler does not fill the
 * window. A handler that has reached its share is passed over: the window continues without it.
 * Once most of its entries have begun, the window returns to the position at which it was passed
 * over. Guarded by the lock of its shard.
 */
final class HandlerQuota {
  private final int share;
  private final Map<String, Integer> held = new HashMap<>();

  /** The position up to which the window contains all timers of a handler that was passed over. */
  private final Map<String, DuePosition> passedOver = new HashMap<>();

  HandlerQuota(int share) {
    this.share = share;
  }

  void added(String handler) {
    held.merge(handler, 1, Integer::sum);
  }

  void removed(String handler) {
    held.computeIfPresent(handler, (same, count) -> count == 1 ? null : count - 1);
  }

  boolean isFull(String handler) {
    return held.getOrDefault(handler, 0) >= share;
  }

  void passOver(String handler, DuePosition at) {
    passedOver.put(handler, at);
  }

  /**
   * Returns whether the handler was passed over before this position, so that the window will
   * return for it later.
   */
  boolean isPassedOver(String handler, DuePosition position) {
    DuePosition loaded = passedOver.get(handler);
    return loaded != null && position.compareTo(loaded) > 0;
  }

  boolean anyPassedOver() {
    return !passedOver.isEmpty();
  }

  /** Returns whether the window must return for a handler. */
  boolean anyToCatchUp() {
    return passedOver.keySet().stream().anyMatch(this::hasRoom);
  }

  private boolean hasRoom(String handler) {
    return held.getOrDefault(handler, 0) <= share / 4;
  }

  /**
   * Starts the return for passed-over handlers: marks them as complete, and returns the first
   * position at which one was passed over.
   */
  @Nullable DuePosition catchUp(Set<String> handlers) {
    DuePosition first = null;
    for (String handler : new HashSet<>(passedOver.keySet())) {
      if (hasRoom(handler)) {
        DuePosition left = passedOver.remove(handler);
        handlers.add(handler);
        if (first == null || (left != null && left.compareTo(first) < 0)) {
          first = left;
        }
      }
    }
    return first;
  }

  /**
   * Passes over again, at this position or earlier, the handlers for which the window has not read
   * to the end.
   */
  void passOver(Set<String> handlers, DuePosition at) {
    handlers.forEach(
        handler ->
            passedOver.merge(handler, at, (left, here) -> left.compareTo(here) < 0 ? left : here));
  }

  /** Returns whether all of these handlers were passed over again at this position or earlier. */
  boolean arePassedOver(Set<String> handlers, DuePosition position) {
    return handlers.stream().allMatch(handler -> isPassedOverAt(handler, position));
  }

  private boolean isPassedOverAt(String handler, DuePosition position) {
    DuePosition left = passedOver.get(handler);
    return left != null && left.compareTo(position) <= 0;
  }
}
