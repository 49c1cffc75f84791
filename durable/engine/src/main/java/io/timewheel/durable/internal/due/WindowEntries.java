// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.DuePosition;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a window: at most {@code cap}, and a share of them for each handler, so that a
 * stalled handler does not fill the window. Guarded by the lock of its shard.
 */
final class WindowEntries {
  private static final Comparator<DueEntry> BY_POSITION =
      Comparator.comparing(entry -> entry.due.position());

  private final int cap;
  private final int share;
  private final Map<TimerKey, DueEntry> entries = new HashMap<>();
  private final Map<String, Integer> counts = new HashMap<>();

  /**
   * True from the time that the window was too full until it has room again, or until the next
   * maintenance tick. Until then, a passed-over handler does not make the window read further: the
   * window would drop the new entries again.
   */
  private boolean shrunk;

  WindowEntries(int cap, int share) {
    this.cap = cap;
    this.share = share;
  }

  @Nullable DueEntry get(TimerKey key) {
    return entries.get(key);
  }

  int size() {
    return entries.size();
  }

  Collection<DueEntry> all() {
    return entries.values();
  }

  void add(DueEntry entry) {
    entries.put(entry.due.key(), entry);
    counts.merge(entry.share, 1, Integer::sum);
  }

  void remove(DueEntry entry) {
    if (entries.remove(entry.due.key(), entry)) {
      counts.computeIfPresent(entry.share, (same, count) -> count == 1 ? null : count - 1);
      shrunk &= isFilled();
    }
  }

  void drop(DueEntry entry) {
    entry.drop();
    remove(entry);
  }

  void dropIf(Predicate<DueEntry> which) {
    entries.values().stream().filter(which).toList().forEach(this::drop);
  }

  void clear() {
    entries.values().forEach(DueEntry::drop);
    entries.clear();
  }

  /** Returns whether no further entries are read. */
  boolean isFilled() {
    return entries.size() > cap / 4;
  }

  /** Returns whether entries may be read beyond those of a handler that was passed over. */
  boolean hasRoomForOthers() {
    return !shrunk && entries.size() < cap;
  }

  /** Lets a window that was too full read on once. */
  void tick() {
    shrunk = false;
  }

  /** Returns whether the window must return for the handler if it was passed over. */
  boolean hasRoom(String handler) {
    return counts.getOrDefault(handler, 0) <= share / 4;
  }

  /**
   * Makes room for an entry of a handler that has reached its share, or passes the handler over.
   *
   * @return whether the entry may be added
   */
  boolean makeRoom(DueEntry added, Coverage coverage) {
    if (counts.getOrDefault(added.share, 0) < share) {
      return true;
    }
    DuePosition position = added.due.position();
    List<DueEntry> mine = new ArrayList<>();
    for (DueEntry entry : entries.values()) {
      if (entry.share.equals(added.share)) {
        mine.add(entry);
      }
    }
    mine.sort(BY_POSITION);
    DueEntry farthest = mine.get(mine.size() - 1);
    boolean nearer = position.compareTo(farthest.due.position()) < 0;
    if (nearer) {
      drop(farthest);
      mine.remove(farthest);
    }
    DuePosition last = mine.isEmpty() ? position : mine.get(mine.size() - 1).due.position();
    coverage.passOver(added.share, nearer && last.compareTo(position) < 0 ? position : last);
    return nearer;
  }

  /** Drops the later half of the entries if there are too many. */
  void shrinkIfFull(Coverage coverage) {
    if (entries.size() <= cap) {
      return;
    }
    List<DueEntry> byTime = new ArrayList<>(entries.values());
    byTime.sort(BY_POSITION);
    int kept = Math.max(1, cap / 2);
    byTime.subList(kept, byTime.size()).forEach(this::drop);
    coverage.dropAfter(byTime.get(kept - 1).due.position());
    shrunk = true;
  }
}
