// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import io.timewheel.durable.model.TimerKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The waiting changes of a lane, in commit order: the engine's own changes come before those of
 * callers. Suspect changes and changes of held timers take turns with both. Guarded by its lane.
 *
 * <p>The engine's changes of a backlog, such as a million timers that become ready at once, do not
 * take precedence. They share each batch equally with the callers, so that a call waits at most
 * about twice as long as without the backlog. Batches without changes of callers stay small for a
 * while, because the next callers usually come soon and wait for the present batch. If no caller
 * comes, batches grow again.
 */
final class ChangeQueue {
  /** The limit of waiting payloads and headers, in bytes. The last change may exceed it. */
  static final long MAX_BYTES = 16 << 20;

  /** The limit of payloads and headers in one commit, in bytes. The last change may exceed it. */
  private static final long MAX_BATCH_BYTES = 4 << 20;

  /** The number of changes of a backlog in each batch, however few callers there are. */
  static final int MIN_BULK_SHARE = 8;

  /** The number of consecutive batches without a change of a caller after which batches grow. */
  static final int QUIET_BATCHES = 8;

  private final ArrayDeque<PendingChange> callers = new ArrayDeque<>();
  private final ArrayDeque<PendingChange> own = new ArrayDeque<>();

  /** The engine's own changes of a backlog. */
  private final ArrayDeque<PendingChange> bulk = new ArrayDeque<>();

  /** The number of changes of a backlog in a batch, unless callers have more in it. */
  private int bulkShare = MIN_BULK_SHARE;

  /** The number of batches since the last change of a caller. */
  private int quietBatches = QUIET_BATCHES;

  /** The engine's own changes that are not urgent. They join the next batch. */
  private final List<PendingChange> nonUrgent = new ArrayList<>();

  /** The failed changes that wait for their next try. */
  private final Set<FailedChanges> aside = new HashSet<>();

  /** The suspect changes that are due for their next try. They are committed alone. */
  private final ArrayDeque<FailedChanges> suspects = new ArrayDeque<>();

  private final HeldChanges held;

  /** The changes of held timers for which there was no room. */
  private final List<PendingChange> refused = new ArrayList<>();

  private boolean suspectsTurn;

  /** True if the last turn of suspects and held timers went to held timers. */
  private boolean heldTurn;

  /** The number of callers' changes that will be repeated. They count until they are answered. */
  private int repeated;

  /** The bytes of all callers' changes that count. */
  private long callersBytes;

  /**
   * Creates a queue for a number of callers' changes. At most half of them may be for held timers.
   */
  ChangeQueue(int capacity) {
    held = new HeldChanges(Math.max(1, capacity / 2), MAX_BYTES / 2);
  }

  void addCallers(PendingChange change) {
    callers.add(change);
    callersBytes += change.bytes;
  }

  void addOwn(PendingChange change) {
    own.add(change);
  }

  /** Adds a change of a backlog, which is less urgent than those of callers. */
  void addBulk(PendingChange change) {
    bulk.add(change);
  }

  void addNonUrgent(PendingChange change) {
    nonUrgent.add(change);
  }

  int nonUrgentWaiting() {
    return nonUrgent.size();
  }

  /** Makes the changes that are not urgent ready to commit. */
  void releaseNonUrgent() {
    own.addAll(nonUrgent);
    nonUrgent.clear();
  }

  boolean isEmpty() {
    return callers.isEmpty()
        && own.isEmpty()
        && bulk.isEmpty()
        && nonUrgent.isEmpty()
        && aside.isEmpty()
        && suspects.isEmpty()
        && held.isEmpty();
  }

  boolean hasCallers() {
    return !callers.isEmpty();
  }

  /** Returns whether a change can be committed now. */
  boolean isReady() {
    return !callers.isEmpty()
        || !own.isEmpty()
        || !bulk.isEmpty()
        || !suspects.isEmpty()
        || held.isDue();
  }

  /** Returns whether the callers' changes have reached the limit of bytes. */
  boolean isHeavy() {
    return callersBytes >= MAX_BYTES;
  }

  int callersWaiting() {
    return callers.size() + repeated + held.callers();
  }

  int ownWaiting() {
    int again = 0;
    for (FailedChanges failed : aside) {
      again += failed.changes.size();
    }
    for (FailedChanges failed : suspects) {
      again += failed.changes.size();
    }
    return own.size() + bulk.size() + nonUrgent.size() + again - repeated + held.own();
  }

  /** Takes the next batch. */
  List<PendingChange> takeBatch(int max, long nowNanos) {
    boolean others = !own.isEmpty() || !callers.isEmpty() || !bulk.isEmpty();
    suspectsTurn = (!suspects.isEmpty() || held.isDue()) && !(suspectsTurn && others);
    if (suspectsTurn) {
      heldTurn = held.isDue() && !(heldTurn && !suspects.isEmpty());
      if (heldTurn) {
        List<PendingChange> due = held.takeDue(max);
        callersBytes -= bytesOf(due);
        return due;
      }
      FailedChanges failed = suspects.remove();
      repeated -= failed.callers();
      callersBytes -= bytesOf(failed.changes);
      return failed.changes;
    }
    releaseNonUrgent();
    List<PendingChange> batch = new ArrayList<>();
    long batchBytes = 0;
    int callersBefore = callers.size();
    int withoutBulk = max - Math.min(bulk.size(), max / 2);
    while (batch.size() < withoutBulk
        && batchBytes < MAX_BATCH_BYTES
        && !(own.isEmpty() && callers.isEmpty())) {
      PendingChange change = own.isEmpty() ? callers.remove() : own.remove();
      batchBytes += addTo(batch, change, nowNanos) ? change.bytes : 0;
    }
    addBulkTo(batch, max, callersBefore - callers.size(), nowNanos);
    return batch;
  }

  /** Adds a change to a batch. Returns false if its timer is held, so that the change must wait. */
  private boolean addTo(List<PendingChange> batch, PendingChange change, long nowNanos) {
    boolean waits = held.holds(change.change.key());
    if (waits && held.add(change, nowNanos)) {
      return false;
    }
    callersBytes -= change.bytes;
    if (waits) {
      refused.add(change);
      return false;
    }
    return batch.add(change);
  }

  private void addBulkTo(List<PendingChange> batch, int max, int fromCallers, long nowNanos) {
    if (fromCallers > 0) {
      bulkShare = Math.max(MIN_BULK_SHARE, fromCallers);
      quietBatches = 0;
    } else if (++quietBatches > QUIET_BATCHES) {
      bulkShare = Math.min(max, 2 * bulkShare);
    }
    for (int i = 0; i < bulkShare && batch.size() < max && !bulk.isEmpty(); i++) {
      addTo(batch, bulk.remove(), nowNanos);
    }
  }

  /** Returns the bytes of callers' changes. The engine's own changes do not count. */
  private static long bytesOf(List<PendingChange> changes) {
    return changes.stream().mapToLong(change -> change.bytes).sum();
  }

  /** Takes changes of held timers for which there was no room. */
  List<PendingChange> takeRefused() {
    List<PendingChange> taken = List.copyOf(refused);
    refused.clear();
    return taken;
  }

  /** Takes the changes of callers, except those that will be repeated. */
  List<PendingChange> takeCallers() {
    List<PendingChange> taken = new ArrayList<>(callers);
    callers.clear();
    callersBytes -= bytesOf(taken);
    return taken;
  }

  /** Takes everything. */
  List<PendingChange> takeAll() {
    releaseNonUrgent();
    List<PendingChange> taken = takeCallers();
    taken.addAll(own);
    taken.addAll(bulk);
    aside.forEach(failed -> taken.addAll(failed.changes));
    suspects.forEach(failed -> taken.addAll(failed.changes));
    taken.addAll(held.takeAll());
    own.clear();
    bulk.clear();
    aside.clear();
    suspects.clear();
    repeated = 0;
    callersBytes = 0;
    return taken;
  }

  // Failed changes

  void putAside(FailedChanges failed) {
    aside.add(failed);
    repeated += failed.callers();
    callersBytes += bytesOf(failed.changes);
  }

  /**
   * Removes failed changes; they are not repeated.
   *
   * @return false if they no longer wait: they are due, or were taken
   */
  boolean remove(FailedChanges failed) {
    if (!aside.remove(failed)) {
      return false;
    }
    repeated -= failed.callers();
    callersBytes -= bytesOf(failed.changes);
    return true;
  }

  /** Makes failed changes due for their next try. */
  void makeDue(FailedChanges failed) {
    if (!aside.remove(failed)) {
      return;
    }
    if (failed.isSuspect()) {
      suspects.add(failed);
      return;
    }
    for (int i = failed.changes.size() - 1; i >= 0; i--) {
      own.addFirst(failed.changes.get(i));
    }
  }

  /** Makes all failed changes due for their next try. */
  void makeDue() {
    List.copyOf(aside).forEach(this::makeDue);
    held.makeDue();
  }

  // Changes of held timers

  /** Puts tried changes back. Changes of callers for which there is no room are refused. */
  void hold(List<PendingChange> tried, long nowNanos) {
    List<PendingChange> noRoom = held.putBack(tried, nowNanos);
    refused.addAll(noRoom);
    callersBytes += bytesOf(tried) - bytesOf(noRoom);
  }

  /** Takes the changes of tried timers that have waited too long. */
  List<PendingChange> takeHeldTooLong(Set<TimerKey> tried, long nowNanos) {
    List<PendingChange> taken = held.takeHeldTooLong(tried, nowNanos);
    callersBytes -= bytesOf(taken);
    return taken;
  }

  /**
   * Starts the next wait of those tried timers that are still held.
   *
   * @return the timers by their wait in milliseconds
   */
  Map<Long, Set<TimerKey>> startWaits(Set<TimerKey> tried) {
    return held.startWaits(tried);
  }

  /** Makes the changes of some held timers due for their next try. */
  void makeDue(Set<TimerKey> keys) {
    held.makeDue(keys);
  }

  /** Releases the timers of an answered batch, except those that were put back. */
  void answered(List<PendingChange> batch) {
    held.answered(batch);
  }

  /** Takes all changes of held timers, because they would not be repeated. */
  List<PendingChange> takeHeld() {
    List<PendingChange> taken = held.takeAll();
    callersBytes -= bytesOf(taken);
    return taken;
  }
}
