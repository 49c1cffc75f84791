// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import io.timewheel.durable.jdbc.internal.server.Records;
import io.timewheel.durable.jdbc.internal.server.ServerErrors;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.HeldTimersException;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Writes the changed timers of a {@link WriteBatch}. A write is conditional: it applies only if the
 * record is still as it was read or assumed.
 */
final class TimerWrites {
  /**
   * The maximum number of held timers to identify individually. Beyond it, all timers of a part of
   * the batch count as held.
   */
  private static final int MAX_FOUND_ALONE = 32;

  private final ServerErrors errors;
  private final TransactionSql sql;
  private final Records records;
  private final Novelty novelty;
  private final HeldTimers heldTimers;
  private final int shards;
  private final List<Written> written = new ArrayList<>();

  /** True if the transaction may fail when a timer that is assumed to be new exists. */
  private boolean daring;

  TimerWrites(WriteContext context) {
    errors = context.server().errors();
    sql = context.server().transactions();
    records = context.server().records();
    novelty = context.novelty();
    heldTimers = context.heldTimers();
    shards = context.shards();
  }

  /** The writes of some cells, and the answer with the success of each. */
  private record Written(List<BatchedTimer> cells, Answer<boolean[]> held) {}

  /** Returns whether the try failed because a timer exists that was assumed to be new. */
  boolean isRefuted(SQLException failure) {
    boolean refuted = daring && errors.isThere(failure);
    if (refuted) {
      novelty.refuted();
    }
    return refuted;
  }

  /**
   * Sends the writes of a round. {@link #settle} reads their results.
   *
   * @param expecting true if nothing is locked, because the batch assumes likely records
   */
  void write(Statements to, List<BatchedTimer> cells, boolean expecting) throws SQLException {
    List<BatchedTimer> changed = cells.stream().filter(BatchedTimer::isChanged).toList();
    List<BatchedTimer> made = changed.stream().filter(cell -> !cell.wasUnfinished()).toList();
    if (made.stream().anyMatch(cell -> cell.before() != null)) {
      each(made, cell -> cell.before() != null, some -> records.unfinish(to, before(some)));
      settle();
    }
    daring = expecting && novelty.isLikely(made.size());
    each(made, cell -> true, some -> records.insert(to, after(some), shards, daring));
    Predicate<BatchedTimer> ends = cell -> cell.next().state().isFinished();
    List<BatchedTimer> moved = changed.stream().filter(BatchedTimer::wasUnfinished).toList();
    Predicate<BatchedTimer> isReplaced = cell -> cell.step().isReplaced();
    each(moved, ends, some -> records.finish(to, steps(some)));
    each(moved, ends.negate().and(isReplaced), some -> records.replace(to, steps(some)));
    each(moved, ends.negate().and(isReplaced.negate()), some -> records.advance(to, steps(some)));
    lookInHistory(to, made.stream().filter(cell -> cell.before() == null).toList());
    if (made.stream().anyMatch(ends)) {
      settle();
      each(
          made,
          ends,
          some ->
              records.finish(
                  to,
                  after(some).stream().map(record -> new Records.Step(record, record)).toList()));
    }
    if (changed.stream().anyMatch(cell -> cell.wasReady() || cell.isReady())) {
      settle();
      ready(to, changed);
    }
  }

  /** Marks the cells whose conditional writes did not apply. */
  void settle() throws SQLException {
    for (Written some : written) {
      boolean[] held = some.held.get();
      for (int i = 0; i < held.length; i++) {
        some.cells.get(i).lost |= !held[i];
      }
    }
    written.clear();
  }

  /**
   * Writes without waiting for locks. All unfinished timers are locked. So a write could wait only
   * for a timer that another transaction creates or removes from the history. One wait is allowed:
   * for a row of the ready index that a claim has locked.
   *
   * @throws HeldTimersException if there are such timers
   */
  void writeWithoutWaiting(Statements to, List<BatchedTimer> cells) throws SQLException {
    sql.waitForLocks(to, false);
    Savepoint before = to.connection().setSavepoint();
    try {
      write(to, cells, false);
      settle();
      to.send();
    } catch (SQLException e) {
      List<TimerKey> held = new ArrayList<>();
      if (errors.isHeldUp(e) && undo(to, before, e)) {
        List<BatchedTimer> made =
            cells.stream().filter(cell -> cell.isChanged() && !cell.wasUnfinished()).toList();
        findHeld(to, made, held);
      }
      if (held.isEmpty()) {
        throw e;
      }
      throw heldTimers.held(held, e);
    }
    to.connection().releaseSavepoint(before);
    sql.waitForLocks(to, true);
  }

  /** Writes parts of a list, and undoes them, until it has identified the held timers. */
  private void findHeld(Statements to, List<BatchedTimer> cells, List<TimerKey> held)
      throws SQLException {
    if (cells.isEmpty() || canBeWritten(to, cells)) {
      return;
    }
    if (cells.size() == 1 || held.size() >= MAX_FOUND_ALONE) {
      cells.forEach(cell -> held.add(cell.key()));
      return;
    }
    findHeld(to, cells.subList(0, cells.size() / 2), held);
    findHeld(to, cells.subList(cells.size() / 2, cells.size()), held);
  }

  private boolean canBeWritten(Statements to, List<BatchedTimer> cells) throws SQLException {
    Savepoint before = to.connection().setSavepoint();
    try {
      write(to, cells, false);
      settle();
      to.connection().rollback(before);
      return true;
    } catch (SQLException e) {
      if (errors.isHeldUp(e) && undo(to, before, e)) {
        return false;
      }
      throw e;
    }
  }

  /** {@return true if the transaction is as before the writes, and can continue} */
  private boolean undo(Statements to, Savepoint before, SQLException failure) {
    written.clear();
    try {
      to.connection().rollback(before);
      return true;
    } catch (SQLException e) { // the server has rolled back all of it
      failure.addSuppressed(e);
      return false;
    }
  }

  /**
   * Looks up in the history the timers that were inserted as new: a finished timer is there. The
   * lookup comes after the insert, because the insert has waited for any transaction that was just
   * finishing such a timer.
   */
  private void lookInHistory(Statements to, List<BatchedTimer> assumed) throws SQLException {
    if (assumed.isEmpty()) {
      return;
    }
    Answer<Map<TimerKey, Records.Finished>> finished =
        records.finished(to, assumed.stream().map(cell -> cell.key()).toList());
    written.add(
        new Written(
            assumed,
            () -> {
              Map<TimerKey, Records.Finished> past = finished.get();
              boolean[] isNew = new boolean[assumed.size()];
              List<TimerRecord> notNew = new ArrayList<>();
              for (int i = 0; i < isNew.length; i++) {
                isNew[i] = !past.containsKey(assumed.get(i).key());
                if (!isNew[i]) {
                  notNew.add(assumed.get(i).next());
                }
              }
              if (!notNew.isEmpty()) {
                records.remove(to, notNew);
              }
              return isNew;
            }));
  }

  private void ready(Statements to, List<BatchedTimer> changed) throws SQLException {
    List<TimerRecord> removed = new ArrayList<>();
    List<TimerRecord> added = new ArrayList<>();
    for (BatchedTimer cell : changed) {
      if (!cell.lost) {
        if (cell.wasReady()) {
          removed.add(cell.present());
        }
        if (cell.isReady()) {
          added.add(cell.next());
        }
      }
    }
    if (!removed.isEmpty()) {
      records.removeReady(to, removed);
    }
    if (!added.isEmpty()) {
      records.addReady(to, added);
    }
  }

  private interface Write {
    Answer<boolean[]> write(List<BatchedTimer> cells) throws SQLException;
  }

  private void each(Collection<BatchedTimer> cells, Predicate<BatchedTimer> which, Write write)
      throws SQLException {
    List<BatchedTimer> some =
        cells.stream().filter(cell -> !cell.lost && which.test(cell)).toList();
    if (!some.isEmpty()) {
      written.add(new Written(some, write.write(some)));
    }
  }

  private static List<TimerRecord> before(List<BatchedTimer> cells) {
    return cells.stream().map(BatchedTimer::present).toList();
  }

  private static List<TimerRecord> after(List<BatchedTimer> cells) {
    return cells.stream().map(BatchedTimer::next).toList();
  }

  private static List<Records.Step> steps(List<BatchedTimer> cells) {
    return cells.stream().map(BatchedTimer::step).toList();
  }
}
