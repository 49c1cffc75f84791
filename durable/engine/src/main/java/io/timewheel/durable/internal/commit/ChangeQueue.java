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
 * What waits in a lane, in the order in which it is committed: the engine's own changes before
 * those of callers; what failed in a way that others must not share, and changes of held timers,
 * alternate with both. Guarded by its lane.
 *
 * <p>The engine's changes of a backlog, such as a million timers that become ready at once, do not
 * go first: they get as much of a batch as the callers, so that a call waits for a commit at most
 * about twice as long as without the backlog. The next batches stay as small without callers, who
 * come back soon and wait for the end of the present batch; if they do not, batches grow again.
 */
final class ChangeQueue {
  /** Of payloads and headers that wait; the last change may go beyond. */
  static final long MAX_BYTES = 16 << 20;

  /** Of payloads and headers in one commit; the last change of it may go beyond. */
  private static final long MAX_BATCH_BYTES = 4 << 20;

  /** Changes of a backlog that each batch takes, however few callers there are. */
  static final int MIN_BULK_SHARE = 8;

  /** Batches in a row without a change of a caller after which batches of a backlog grow. */
  static final int QUIET_BATCHES = 8;

  private final ArrayDeque<PendingChange> callers = new ArrayDeque<>();
  private final ArrayDeque<PendingChange> own = new ArrayDeque<>();

  /** The engine's own, too, of a backlog. */
  private final ArrayDeque<PendingChange> bulk = new ArrayDeque<>();

  /** The number of changes of a backlog that a batch takes, unless callers have more in it. */
  private int bulkShare = MIN_BULK_SHARE;

  /** Batches since the last change of a caller. */
  private int quietBatches = QUIET_BATCHES;

  /** The engine's own, too, that wait for company: they are committed with whatever is next. */
  private final List<PendingChange> patient = new ArrayList<>();

  /** What has failed, and waits for its time. */
  private final Set<FailedChanges> aside = new HashSet<>();

  /** What has failed in a way that others must not share, and whose time has come. */
  private final ArrayDeque<FailedChanges> suspects = new ArrayDeque<>();

  private final HeldChanges held;

  /** Changes of held timers for which there was no room. */
  private final List<PendingChange> refused = new ArrayList<>();

  private boolean suspectsTurn;

  /** True if the last turn of suspects and held timers went to held timers. */
  private boolean heldTurn;

  /** How many changes of callers are to be repeated: they count until they are answered. */
  private int repeated;

  /** The bytes of all changes of callers that count. */
  private long callersBytes;

  /** Makes a queue for so many changes of callers; half of them may be of held timers. */
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

  /** Adds a change of the engine that is one of many, and less urgent than those of callers. */
  void addBulk(PendingChange change) {
    bulk.add(change);
  }

  void addPatient(PendingChange change) {
    patient.add(change);
  }

  int patientWaiting() {
    return patient.size();
  }

  /** Lets what has been patient be committed now. */
  void endPatience() {
    own.addAll(patient);
    patient.clear();
  }

  boolean isEmpty() {
    return callers.isEmpty()
        && own.isEmpty()
        && bulk.isEmpty()
        && patient.isEmpty()
        && aside.isEmpty()
        && suspects.isEmpty()
        && held.isEmpty();
  }

  boolean hasCallers() {
    return !callers.isEmpty();
  }

  /** Whether there is something that can be committed now. */
  boolean isReady() {
    return !callers.isEmpty()
        || !own.isEmpty()
        || !bulk.isEmpty()
        || !suspects.isEmpty()
        || held.isDue();
  }

  /** Whether what callers wait for has as many bytes as it may. */
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
    return own.size() + bulk.size() + patient.size() + again - repeated + held.own();
  }

  /** Takes what is to be committed next. */
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
    endPatience();
    List<PendingChange> batch = new ArrayList<>();
    long batchBytes = 0;
    int callersBefore = callers.size();
    int withoutBulk = max - Math.min(bulk.size(), max / 2);
    while (batch.size() < withoutBulk
        && batchBytes < MAX_BATCH_BYTES
        && !(own.isEmpty() && callers.isEmpty())) {
      PendingChange change = own.isEmpty() ? callers.remove() : removeOwn();
      batchBytes += addTo(batch, change, nowNanos) ? change.bytes : 0;
    }
    addBulkTo(batch, max, callersBefore - callers.size(), nowNanos);
    return batch;
  }

  /** Adds a change to a batch; returns false if its timer is held, and the change has to wait. */
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

  private PendingChange removeOwn() {
    PendingChange change = own.remove();
    repeated -= change.isOwn() ? 0 : 1;
    return change;
  }

  /** The engine's own changes have none. */
  private static long bytesOf(List<PendingChange> changes) {
    return changes.stream().mapToLong(change -> change.bytes).sum();
  }

  /** Takes changes of held timers for which there was no room. */
  List<PendingChange> takeRefused() {
    List<PendingChange> taken = List.copyOf(refused);
    refused.clear();
    return taken;
  }

  /** Takes what callers wait for, but for what is to be repeated. */
  List<PendingChange> takeCallers() {
    List<PendingChange> taken = new ArrayList<>(callers);
    callers.clear();
    callersBytes -= bytesOf(taken);
    return taken;
  }

  /** Takes everything. */
  List<PendingChange> takeAll() {
    endPatience();
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

  // What has failed

  void putAside(FailedChanges failed) {
    aside.add(failed);
    repeated += failed.callers();
    callersBytes += bytesOf(failed.changes);
  }

  /** Takes out what was put aside; it is not repeated. */
  void forget(FailedChanges failed) {
    if (aside.remove(failed)) {
      repeated -= failed.callers();
      callersBytes -= bytesOf(failed.changes);
    }
  }

  /** The time of what was put aside has come. */
  void comeBack(FailedChanges failed) {
    if (!aside.remove(failed)) {
      return;
    }
    if (failed.suspect) {
      suspects.add(failed);
      return;
    }
    for (int i = failed.changes.size() - 1; i >= 0; i--) {
      own.addFirst(failed.changes.get(i));
    }
  }

  /** The time of all that was put aside has come. */
  void comeBack() {
    List.copyOf(aside).forEach(this::comeBack);
    held.comeBack();
  }

  // Changes of held timers

  /** Puts tried changes back; refuses those of callers for which there is no room. */
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

  /** The time has come for another try of some held timers. */
  void comeBack(Set<TimerKey> keys) {
    held.comeBack(keys);
  }

  /** The store has answered a batch: its timers are not held any longer, except those put back. */
  void answered(List<PendingChange> batch) {
    held.answered(batch);
  }

  /** Takes all changes of held timers: nobody would repeat them. */
  List<PendingChange> takeHeld() {
    List<PendingChange> taken = held.takeAll();
    callersBytes -= bytesOf(taken);
    return taken;
  }
}
