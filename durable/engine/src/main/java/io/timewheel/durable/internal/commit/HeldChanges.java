// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import io.timewheel.durable.model.TimerKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The changes of held timers, which other transactions have locked. A later change of such a timer
 * waits until the store has answered the earlier ones. Due changes are repeated in a separate
 * batch, so that changes of other timers never wait for them. Guarded by its lane.
 */
final class HeldChanges {
  private static final long FIRST_WAIT_MILLIS = 10;
  private static final long LONGEST_WAIT_MILLIS = 500;

  /** The held timers. A timer may have no changes here while they are being repeated. */
  private final Map<TimerKey, Held> timers = new HashMap<>();

  /** The timers that are due for another try. */
  private final Set<TimerKey> due = new LinkedHashSet<>();

  private final int maxCallers;
  private final long maxBytes;
  private int callers;
  private long bytes;
  private int own;

  /**
   * Limits the changes of callers, to leave room for changes of other timers.
   *
   * @param maxCallers the largest number of callers' changes
   * @param maxBytes the limit of their payloads and headers, in bytes; the last change may exceed
   *     it
   */
  HeldChanges(int maxCallers, long maxBytes) {
    this.maxCallers = maxCallers;
    this.maxBytes = maxBytes;
  }

  /** The changes of one timer, in the order of their arrival. */
  private static final class Held {
    final ArrayDeque<PendingChange> changes = new ArrayDeque<>();
    int tries;

    long waitMillis() {
      return Math.min(LONGEST_WAIT_MILLIS, FIRST_WAIT_MILLIS << Math.min(tries - 1, 20));
    }
  }

  boolean isEmpty() {
    return callers == 0 && own == 0;
  }

  /** {@return the number of callers' changes} */
  int callers() {
    return callers;
  }

  /** {@return the number of the engine's changes} */
  int own() {
    return own;
  }

  boolean holds(TimerKey key) {
    return timers.containsKey(key);
  }

  /**
   * Adds a later change of a held timer.
   *
   * @return false if it belongs to a caller and there is no room for it
   */
  boolean add(PendingChange change, long nowNanos) {
    if (!hasRoom(change)) {
      return false;
    }
    change.becomesHeld(nowNanos);
    held(change.change.key()).changes.addLast(change);
    count(change, 1);
    return true;
  }

  /**
   * Returns whether there is room for a change. A change that waited here before keeps its room.
   * Changes of the engine need no room.
   */
  private boolean hasRoom(PendingChange change) {
    return change.isOwn() || change.wasHeld() || (callers < maxCallers && bytes < maxBytes);
  }

  /**
   * Puts tried changes back, before later changes of their timers.
   *
   * @return changes of callers for which there is no room: their timers were just found held
   */
  List<PendingChange> putBack(List<PendingChange> tried, long nowNanos) {
    List<PendingChange> again = new ArrayList<>();
    List<PendingChange> noRoom = new ArrayList<>();
    for (PendingChange change : tried) {
      if (hasRoom(change)) {
        change.becomesHeld(nowNanos);
        count(change, 1);
        again.add(change);
      } else {
        noRoom.add(change);
      }
    }
    for (int i = again.size() - 1; i >= 0; i--) {
      PendingChange change = again.get(i);
      held(change.change.key()).changes.addFirst(change);
    }
    return noRoom;
  }

  /**
   * Takes the changes of tried timers that have waited too long, including those that were not part
   * of the batch.
   */
  List<PendingChange> takeHeldTooLong(Set<TimerKey> tried, long nowNanos) {
    List<PendingChange> taken = new ArrayList<>();
    for (TimerKey key : tried) {
      Held held = timers.get(key);
      if (held != null) {
        held.changes.stream().filter(change -> change.isHeldTooLong(nowNanos)).forEach(taken::add);
        held.changes.removeIf(change -> change.isHeldTooLong(nowNanos));
      }
    }
    taken.forEach(change -> count(change, -1));
    return taken;
  }

  /** {@return the timers of some changes} */
  static Set<TimerKey> keys(List<PendingChange> changes) {
    return changes.stream().map(change -> change.change.key()).collect(Collectors.toSet());
  }

  private Held held(TimerKey key) {
    return timers.computeIfAbsent(key, same -> new Held());
  }

  private void count(PendingChange change, int sign) {
    bytes += (long) sign * change.bytes;
    if (change.isOwn()) {
      own += sign;
    } else {
      callers += sign;
    }
  }

  /**
   * Starts the next wait of those tried timers that are still held.
   *
   * @return the timers by their wait in milliseconds: each keeps its own backoff
   */
  Map<Long, Set<TimerKey>> startWaits(Set<TimerKey> tried) {
    Map<Long, Set<TimerKey>> delays = new HashMap<>();
    for (TimerKey key : tried) {
      due.remove(key);
      Held held = timers.get(key);
      if (held != null && !held.changes.isEmpty()) {
        held.tries++;
        delays.computeIfAbsent(held.waitMillis(), same -> new HashSet<>()).add(key);
      }
    }
    return delays;
  }

  /** Makes some timers due for another try. */
  void makeDue(Collection<TimerKey> keys) {
    for (TimerKey key : keys) {
      Held held = timers.get(key);
      if (held != null && !held.changes.isEmpty()) {
        due.add(key);
      }
    }
  }

  /** Makes all timers due for another try. */
  void makeDue() {
    makeDue(timers.keySet());
  }

  boolean isDue() {
    return !due.isEmpty();
  }

  /**
   * Takes the changes of timers that are due; the timers stay held until the store has answered.
   */
  List<PendingChange> takeDue(int max) {
    List<PendingChange> taken = new ArrayList<>();
    for (TimerKey key : List.copyOf(due)) {
      ArrayDeque<PendingChange> changes = held(key).changes;
      while (!changes.isEmpty() && taken.size() < max) {
        taken.add(changes.removeFirst());
      }
      if (taken.size() == max && !changes.isEmpty()) {
        break;
      }
      due.remove(key);
    }
    taken.forEach(change -> count(change, -1));
    return taken;
  }

  /** Releases the timers of an answered batch, except those that were put back. */
  void answered(List<PendingChange> batch) {
    if (timers.isEmpty()) {
      return;
    }
    for (PendingChange change : batch) {
      Held held = timers.get(change.change.key());
      if (held != null && held.changes.isEmpty()) {
        timers.remove(change.change.key());
      }
    }
  }

  /** Takes everything. */
  List<PendingChange> takeAll() {
    List<PendingChange> taken = new ArrayList<>();
    timers.values().forEach(held -> taken.addAll(held.changes));
    timers.clear();
    due.clear();
    callers = 0;
    bytes = 0;
    own = 0;
    return taken;
  }
}
