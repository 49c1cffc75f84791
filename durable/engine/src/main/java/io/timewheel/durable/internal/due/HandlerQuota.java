// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.spi.DuePosition;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How many entries of a window each handler may have, so that one which stands still does not keep
 * the others out. A handler that has its share is left behind: the window goes on without it, and
 * comes back for it, to where it was left, once most of its entries have begun. Guarded by the lock
 * of its shard.
 */
final class HandlerQuota {
  private final int share;
  private final Map<String, Integer> held = new HashMap<>();

  /** Up to where the window has all of a handler that was left behind. */
  private final Map<String, DuePosition> behind = new HashMap<>();

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

  void leaveBehind(String handler, DuePosition at) {
    behind.put(handler, at);
  }

  /** Whether the window should not have what is due here: it will come back for it. */
  boolean isBehind(String handler, DuePosition position) {
    DuePosition loaded = behind.get(handler);
    return loaded != null && position.compareTo(loaded) > 0;
  }

  boolean anyBehind() {
    return !behind.isEmpty();
  }

  /** Whether there is a handler to come back for. */
  boolean anyToCatchUp() {
    return behind.keySet().stream().anyMatch(this::hasRoom);
  }

  private boolean hasRoom(String handler) {
    return held.getOrDefault(handler, 0) <= share / 4;
  }

  /** Takes those to come back for as having all; returns the first place at which one was left. */
  @Nullable DuePosition catchUp(Set<String> handlers) {
    DuePosition first = null;
    for (String handler : new HashSet<>(behind.keySet())) {
      if (hasRoom(handler)) {
        DuePosition left = behind.remove(handler);
        handlers.add(handler);
        if (first == null || (left != null && left.compareTo(first) < 0)) {
          first = left;
        }
      }
    }
    return first;
  }

  /** Leaves those behind, here at the latest, that were come back for and not up to the end. */
  void leaveBehind(Set<String> handlers, DuePosition at) {
    handlers.forEach(
        handler ->
            behind.merge(handler, at, (left, here) -> left.compareTo(here) < 0 ? left : here));
  }

  /** Whether all of these were left behind again, here or before. */
  boolean areBehind(Set<String> handlers, DuePosition position) {
    return handlers.stream().allMatch(handler -> isBehindAt(handler, position));
  }

  private boolean isBehindAt(String handler, DuePosition position) {
    DuePosition left = behind.get(handler);
    return left != null && left.compareTo(position) <= 0;
  }
}
