// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.DuePosition;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The part of the due index that a window is responsible for, and how much of it the window has
 * read. A handler that was passed over has its own, earlier position until the window returns for
 * it. Guarded by the lock of its shard.
 */
final class Coverage {
  /** The largest number of pages that are read at a time while a handler is passed over. */
  private static final int MAX_PAGES = 16;

  private final Predicate<String> hasRoom;

  /** The bounds of the part, as due times: the first is inclusive, the second exclusive. */
  private long beginMillis = Long.MIN_VALUE;

  private long endMillis = Long.MAX_VALUE;

  /** The position up to which the part was read; null before the first load. */
  private @Nullable DuePosition loaded;

  /** The position up to which the window contains all timers of a handler that was passed over. */
  private final Map<String, DuePosition> passedOver = new HashMap<>();

  /**
   * The positions that a load reads.
   *
   * @param after the position before the first one; null for the beginning of the index
   * @param until the due time at which the load ends, exclusive
   * @param handlers the handlers for which a catch-up reads; empty for other loads
   */
  record Section(@Nullable DuePosition after, long until, Set<String> handlers) {}

  /**
   * @param hasRoom returns whether the window has room again for a handler that was passed over
   */
  Coverage(Predicate<String> hasRoom) {
    this.hasRoom = hasRoom;
  }

  boolean contains(long fireAt) {
    return fireAt >= beginMillis && fireAt < endMillis;
  }

  /** Returns whether the window must have an entry for a timer. */
  boolean covers(DuePosition position, String handler) {
    DuePosition left = passedOver.get(handler);
    return contains(position.fireAt())
        && loaded != null
        && position.compareTo(loaded) <= 0
        && (left == null || position.compareTo(left) <= 0);
  }

  boolean reaches(long fireAt) {
    return loaded != null && fireAt <= loaded.fireAt();
  }

  /** Returns whether timers that are due just before a time have not been read. */
  boolean endsBefore(long fireAt) {
    return loaded != null && loaded.fireAt() < fireAt;
  }

  /** Returns whether a part with timers that are due until a time is left to be read. */
  boolean isShortOf(long fireAt) {
    return loaded == null || (loaded.fireAt() < endMillis && loaded.fireAt() <= fireAt);
  }

  boolean isComplete() {
    return loaded != null && loaded.fireAt() >= endMillis && passedOver.isEmpty();
  }

  boolean hasPassedOver() {
    return !passedOver.isEmpty();
  }

  /** Returns whether a handler that was passed over has room again. */
  boolean canCatchUp() {
    return !passedOver.isEmpty() && passedOver.keySet().stream().anyMatch(hasRoom);
  }

  /** Moves the beginning of the part. A restart must follow. */
  void beginAt(long millis) {
    beginMillis = millis;
    if (loaded != null && loaded.fireAt() <= millis) {
      loaded = null;
    }
  }

  /** Moves the end of the part. The later part is read again if the end moves back to it. */
  void endAt(long millis) {
    DuePosition end = endOf(millis);
    endMillis = millis;
    if (loaded != null) {
      loaded = earlier(loaded, end);
    }
    passedOver.replaceAll((handler, left) -> earlier(left, end));
  }

  /** Moves the read position back, because later entries were dropped. */
  void dropAfter(DuePosition position) {
    loaded = loaded == null ? null : earlier(loaded, position);
  }

  /** Notes that the entries of a handler after a position are not in the window. */
  void passOver(String handler, DuePosition position) {
    passedOver.merge(handler, position, Coverage::earlier);
  }

  // Loads

  /** Begins a restart or continues at the frontier, until a time at least. */
  Section begin(boolean restart, long millis) {
    DuePosition before = loaded;
    DuePosition after = restart ? beginning() : before;
    long until = Math.max(millis, before == null ? Long.MIN_VALUE : before.fireAt());
    until = Math.min(endMillis, until);
    loaded = endOf(until);
    return new Section(after, until, Set.of());
  }

  Section beginSweep(long fromMillis, long untilMillis) {
    DuePosition after = endOf(Math.max(beginMillis, fromMillis));
    return new Section(after, Math.min(readUntil(), untilMillis), Set.of());
  }

  /** Begins to return for the handlers that were passed over and have room again. */
  Section beginCatchUp() {
    Set<String> handlers = new HashSet<>();
    DuePosition first = endOf(readUntil());
    for (String handler : Set.copyOf(passedOver.keySet())) {
      if (hasRoom.test(handler)) {
        first = earlier(first, requireNonNull(passedOver.remove(handler)));
        handlers.add(handler);
      }
    }
    return new Section(first, readUntil(), handlers);
  }

  /**
   * Returns whether to read another page of a section at once. Otherwise a later load continues
   * from the position.
   */
  boolean continues(Section section, DuePosition position, int pages) {
    Set<String> handlers = section.handlers();
    boolean more = loaded != null && position.compareTo(loaded) < 0;
    if (!handlers.isEmpty()) {
      more &= !handlers.stream().allMatch(handler -> isPassedOverAt(handler, position));
    }
    if (more && pages >= MAX_PAGES && !passedOver.isEmpty()) {
      if (handlers.isEmpty()) {
        loaded = position;
      }
      handlers.forEach(handler -> passedOver.merge(handler, position, Coverage::earlier));
      more = false;
    }
    return more;
  }

  private boolean isPassedOverAt(String handler, DuePosition position) {
    DuePosition left = passedOver.get(handler);
    return left != null && left.compareTo(position) <= 0;
  }

  private long readUntil() {
    return loaded == null ? Long.MIN_VALUE : EpochMillis.saturatedAdd(loaded.fireAt(), 1);
  }

  private @Nullable DuePosition beginning() {
    return beginMillis == Long.MIN_VALUE ? null : endOf(beginMillis);
  }

  /** Returns the position after all entries before a time. */
  private static DuePosition endOf(long until) {
    return new DuePosition(until, new TimerKey("", ""));
  }

  private static DuePosition earlier(DuePosition one, DuePosition other) {
    return one.compareTo(other) <= 0 ? one : other;
  }
}
