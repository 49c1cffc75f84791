// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import io.timewheel.durable.jdbc.internal.server.Records;
import io.timewheel.durable.jdbc.internal.server.Records.Lock;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.batch.Cell;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads, locks or assumes the records of one try of a {@link WriteBatch}. */
final class CellReads {
  private final Statements to;
  private final Records records;
  private final HeldTimers heldTimers;
  private final List<Change> changes;
  private final boolean heldUp;
  private final boolean waitsBriefly;

  /** Held timers that are left to the next sweep of their owner. */
  final List<TimerKey> passedOver = new ArrayList<>();

  /**
   * @param heldUp true if a read must not wait for locks
   */
  CellReads(Statements to, WriteContext context, List<Change> changes, boolean heldUp) {
    this.to = to;
    records = context.server().records();
    heldTimers = context.heldTimers();
    waitsBriefly = context.server().transactions().waitsBriefly();
    this.changes = changes;
    this.heldUp = heldUp;
  }

  /** Assumes likely records, and reads the others. */
  void expect(List<BatchedTimer> cells) throws SQLException {
    List<BatchedTimer> others = new ArrayList<>();
    for (BatchedTimer cell : cells) {
      Change first = changes.get(cell.changes.get(0));
      if (first instanceof Change.Schedule schedule
          && schedule.condition() != Change.Condition.VERSION) {
        assume(cell, null);
      } else if (first instanceof Change.Finish finish && finish.claimed() != null) {
        assume(cell, finish.claimed());
      } else {
        others.add(cell);
      }
    }
    if (!others.isEmpty()) {
      read(others, Lock.NONE);
    }
  }

  void lock(List<BatchedTimer> cells) throws SQLException {
    boolean passOver =
        heldUp || (!waitsBriefly && changes.stream().allMatch(CellReads::isLeftForLater));
    read(cells, passOver ? Lock.PASS_OVER : Lock.WAIT);
  }

  private void read(List<BatchedTimer> cells, Lock lock) throws SQLException {
    Map<TimerKey, TimerRecord> unfinished =
        records.read(to, cells.stream().map(Cell::key).toList(), lock).get();
    List<TimerKey> missing =
        cells.stream().map(Cell::key).filter(key -> !unfinished.containsKey(key)).toList();
    if (lock == Lock.PASS_OVER && !missing.isEmpty()) {
      passOver(cells, records.present(to.connection(), missing));
    }
    // Read the history last: it then contains timers that other transactions were just finishing.
    Map<TimerKey, Records.Finished> finished =
        missing.isEmpty() ? Map.of() : records.finished(to, missing).get();
    for (BatchedTimer cell : cells) {
      Records.Finished past = finished.get(cell.key());
      if (past != null) {
        cell.found(past.record(), past.payloadHash());
      } else {
        cell.found(unfinished.get(cell.key()), null);
      }
      // The timer may have left the history before the lookup. The next lookup finds it.
      boolean isMissing = cell.before() == null && !cell.held;
      cell.assumed = isMissing && !cell.missing;
      cell.missing = isMissing;
    }
  }

  /** Assumes a record without a lookup; null for a timer that does not exist. */
  private static void assume(BatchedTimer cell, @Nullable TimerRecord record) {
    cell.found(record, null);
    cell.assumed = true;
  }

  /** Returns whether the owner starts this change after a lookup that it soon repeats anyway. */
  static boolean isLeftForLater(Change change) {
    return change instanceof Change.Begin
        || change instanceof Change.MakeReady
        || change instanceof Change.Skip
        || change instanceof Change.Retime
        || change instanceof Change.Park;
  }

  private void passOver(List<BatchedTimer> cells, Set<TimerKey> held) {
    List<TimerKey> waitedFor = new ArrayList<>();
    for (BatchedTimer cell : cells) {
      cell.held = held.contains(cell.key());
      if (cell.held
          && cell.changes.stream().map(changes::get).allMatch(CellReads::isLeftForLater)) {
        passedOver.add(cell.key());
      } else if (cell.held) {
        waitedFor.add(cell.key());
      }
    }
    if (!waitedFor.isEmpty()) {
      throw heldTimers.held(waitedFor, null);
    }
  }
}
