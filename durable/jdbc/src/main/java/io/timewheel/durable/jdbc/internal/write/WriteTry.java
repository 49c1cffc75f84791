// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.jdbc.internal.rows.Rows;
import io.timewheel.durable.jdbc.internal.server.Records;
import io.timewheel.durable.jdbc.internal.server.RequestRows;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.batch.Decision;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.RequestAnswer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * One try of a {@link WriteBatch}. Each round reads, locks or assumes records, decides, writes, and
 * confirms the writes. Records that differed go through another round.
 */
final class WriteTry {
  /**
   * One round without locks, and a few with locks. A second round with locks is needed only if
   * other transactions create or purge the same timers.
   */
  private static final int MAX_ROUNDS = 4;

  private final WriteContext context;
  private final Statements to;
  private final List<Change> changes;
  private final Fence fence;
  private final boolean expecting;
  private final boolean heldUp;
  private final boolean ofUser;
  private final Map<TimerKey, BatchedTimer> cells = new TreeMap<>();
  private final CellReads reads;
  private final TimerWrites writes;
  private final Decision decision;
  private final Outcome[] outcomes;
  private Answer<Optional<String>> transactionId = Optional::empty;

  /**
   * The way of a try.
   *
   * @param firstVersion the first version of a block for this batch
   * @param expecting true if the first round assumes likely records, and locks nothing
   * @param heldUp true if another transaction holds or held one of the timers, so that writes do
   *     not wait for locks
   * @param ofUser true if the batch is part of a transaction of a user, which is not repeated here
   */
  record Mode(long firstVersion, boolean expecting, boolean heldUp, boolean ofUser) {}

  /**
   * Reads the facts and the records for the first round.
   *
   * @param earlier the answers of requests that were committed earlier
   */
  WriteTry(
      WriteContext context,
      Statements to,
      List<Change> changes,
      Fence fence,
      Mode mode,
      Answer<Map<RequestRows.Key, RequestAnswer>> earlier)
      throws SQLException {
    this.context = context;
    this.to = to;
    this.changes = changes;
    this.fence = fence;
    expecting = mode.expecting();
    heldUp = mode.heldUp();
    ofUser = mode.ofUser();
    outcomes = new Outcome[changes.size()];
    reads = new CellReads(to, context, changes, heldUp);
    writes = new TimerWrites(context);
    fence.begin();
    for (int i = 0; i < outcomes.length; i++) {
      cells.computeIfAbsent(changes.get(i).key(), BatchedTimer::new).changes.add(i);
    }
    Answer<Set<String>> pauses =
        any(change -> change instanceof Change.Begin || change instanceof Change.MakeReady)
            ? context.server().shared().holdPauses(to)
            : () -> Set.of();
    StateCounts pending =
        any(
                change ->
                    change instanceof Change.Schedule schedule
                        && schedule.maxPending() != TimerRecord.NEVER)
            ? context.server().queries().counts(to.connection())
            : new StateCounts();
    Map<RequestRows.Key, RequestAnswer> answered = earlier.get();
    if (expecting) {
      reads.expect(all());
    } else {
      reads.lock(all());
    }
    decision =
        new Decision(new BatchFacts(fence, mode.firstVersion(), answered, pending, pauses.get()));
  }

  private boolean any(Predicate<Change> predicate) {
    return changes.stream().anyMatch(predicate);
  }

  private List<BatchedTimer> all() {
    return List.copyOf(cells.values());
  }

  /** Applies the changes. */
  List<Outcome> run() throws SQLException {
    try {
      apply(all());
      insertAnswers();
    } catch (SQLException e) {
      if (writes.isRefuted(e)) {
        throw new Transactions.Again();
      }
      throw e;
    }
    return Arrays.asList(outcomes);
  }

  Optional<String> transactionId() throws SQLException {
    Optional<String> id = transactionId.get();
    transactionId = () -> id;
    return id;
  }

  List<TimerKey> passedOver() {
    return reads.passedOver;
  }

  private void apply(List<BatchedTimer> cells) throws SQLException {
    List<BatchedTimer> open = cells;
    for (int round = 1; !open.isEmpty(); round++) {
      if (round > MAX_ROUNDS) {
        throw new StoreException(
            StoreException.Kind.TRANSIENT, open.get(0).key() + " is changed by many at once", null);
      }
      if (round > 1) {
        reads.lock(open);
      }
      for (BatchedTimer cell : open) {
        apply(cell);
        cell.lost = cell.assumed && !cell.isChanged();
      }
      boolean isFirst = round == 1 && expecting;
      if (!(isFirst && open.size() == 1 && finishOne(open.get(0)))) {
        if (heldUp) {
          writes.writeWithoutWaiting(to, open);
        } else {
          writes.write(to, open, isFirst);
        }
        conclude(open);
      }
      open = open.stream().filter(cell -> cell.lost).toList();
      open.forEach(decision::revert);
    }
  }

  private void apply(BatchedTimer cell) {
    for (int i : cell.changes) {
      Change change = changes.get(i);
      if (change instanceof Change.Schedule schedule) {
        restorePayload(cell, schedule.definition().payload());
      }
      outcomes[i] = cell.held ? Outcome.passedOver() : decision.decide(cell, change);
    }
  }

  /**
   * Replaces a payload with the given one if their hashes are equal. The history contains only a
   * hash.
   */
  private static void restorePayload(BatchedTimer cell, byte[] payload) {
    if (cell.payloadHash != null
        && !cell.isChanged()
        && Arrays.equals(cell.payloadHash, Rows.hash(payload))) {
      TimerRecord record = cell.present();
      cell.found(record.copy().definition(record.definition().withPayload(payload)).build());
    }
  }

  /**
   * Inserts the answers of requests. This comes last, and in the order of their keys. So a
   * transaction that waits here for another one, which answers the same request, holds nothing that
   * the other needs.
   */
  private void insertAnswers() throws SQLException {
    List<RequestAnswer> answers = decision.answers();
    if (answers.isEmpty()) {
      return;
    }
    try {
      context.server().requests().insert(to, answers);
    } catch (SQLException e) {
      if (context.server().errors().isThere(e)) {
        throw answeredMeanwhile(e);
      }
      throw e;
    }
    if (!ofUser) {
      Optional<String> id = transactionId.get(); // none if the answers are all that was written
      transactionId = id.isEmpty() ? context.server().commits().transactionId(to) : () -> id;
    }
  }

  /** Returns an exception that causes another try. That try finds the answer. */
  private RuntimeException answeredMeanwhile(SQLException e) {
    return ofUser
        ? new StoreException(
            StoreException.Kind.TRANSIENT, "another node has answered the same request", e)
        : new Transactions.Again();
  }

  // Writing

  /**
   * Writes the last end of a timer's only attempt, and what accompanies it, by one statement.
   * Returns false if the change is another one.
   */
  private boolean finishOne(BatchedTimer cell) throws SQLException {
    if (!cell.isChanged()
        || cell.lost
        || !cell.wasUnfinished()
        || cell.wasReady()
        || !cell.next().state().isFinished()
        || fence.shards().size() != 1) {
      return false;
    }
    int shard = fence.shards().get(0);
    Answer<Records.FinishedOne> answer =
        context.server().records().finishOne(to, cell.step(), decision.counts().toList(), shard);
    if (answer == null) {
      return false;
    }
    decision.countsWritten();
    context.notifyOthers(to, Stream.of(cell.next()));
    Records.FinishedOne done = answer.get();
    transactionId = done::transactionId;
    cell.lost = !done.applied();
    verify(Map.of(shard, requireNonNull(done.epoch(), "no such shard")));
    return true;
  }

  /** Writes the rows that accompany the writes of a round, and checks the results of all writes. */
  private void conclude(List<BatchedTimer> cells) throws SQLException {
    if (!decision.counts().isEmpty()) {
      context.server().shared().count(to, decision.counts());
      decision.countsWritten();
    }
    context.notifyOthers(
        to, cells.stream().filter(BatchedTimer::isChanged).map(BatchedTimer::next));
    Answer<Map<Integer, Long>> epochs =
        fence.shards().isEmpty()
            ? () -> Map.of()
            : context.server().shared().holdEpochs(to, fence.shards());
    transactionId = context.server().commits().transactionId(to);
    writes.settle();
    verify(epochs.get());
  }

  /** Repeats the try if this node no longer owns a shard. */
  private void verify(Map<Integer, Long> present) {
    if (!fence.holds(present)) {
      context.counters().fenceRefusals.increment();
      throw new Transactions.Again();
    }
  }
}
