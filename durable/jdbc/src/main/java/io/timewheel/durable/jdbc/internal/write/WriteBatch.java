// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.jdbc.internal.notifications.NotificationChannel;
import io.timewheel.durable.jdbc.internal.notifications.Notifications;
import io.timewheel.durable.jdbc.internal.rows.Rows;
import io.timewheel.durable.jdbc.internal.server.CommitProof;
import io.timewheel.durable.jdbc.internal.server.Queries;
import io.timewheel.durable.jdbc.internal.server.Records;
import io.timewheel.durable.jdbc.internal.server.Records.Lock;
import io.timewheel.durable.jdbc.internal.server.RequestRows;
import io.timewheel.durable.jdbc.internal.server.ServerErrors;
import io.timewheel.durable.jdbc.internal.server.ServerParts;
import io.timewheel.durable.jdbc.internal.server.SharedRows;
import io.timewheel.durable.jdbc.internal.server.TransactionSql;
import io.timewheel.durable.jdbc.internal.sql.Statements;
import io.timewheel.durable.jdbc.internal.sql.Statements.Answer;
import io.timewheel.durable.jdbc.internal.transaction.Counters;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.HeldTimersException;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.RequestAnswer;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.batch.Cell;
import io.timewheel.durable.spi.batch.Decision;
import io.timewheel.durable.spi.batch.StateCounts;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Commits changes in one transaction. A {@link Decision} computes the next state of each record. A
 * write succeeds only if the record is still as it was read; otherwise the record is read again.
 * The transaction checks the fence together with the writes.
 *
 * <p>The first round locks nothing before the writes, and assumes likely records instead of reading
 * them. A scheduled timer is likely new, and a claimed timer is likely unchanged since the claim.
 * Later rounds lock the records in the order of their keys. So the common case takes two round
 * trips plus COMMIT. A long list may be inserted as entirely new. If it is not, the transaction
 * fails, and the next one locks from the first round on.
 *
 * <p>A transaction of a user may hold a timer for any time. The other timers of a batch do not wait
 * for it. After a lock timeout, the next try waits for no lock, and leaves claims of held timers to
 * the next sweep of their owner. If the batch has other changes of held timers, it fails with a
 * {@link HeldTimersException} that lists these timers.
 *
 * <p>One object serves all tries of one commit, on one thread.
 */
public final class WriteBatch implements Transactions.Work<List<Outcome>> {
  /**
   * One round without locks, and a few with locks. A second round with locks is needed only if
   * other transactions create or purge the same timers.
   */
  private static final int MAX_ROUNDS = 4;

  private final ServerErrors errors;
  private final TransactionSql sql;
  private final SharedRows shared;
  private final Queries queries;
  private final CommitProof commits;
  private final Counters counters;
  private final Records records;
  private final RequestRows requests;
  private final TimerWrites writes;
  private final Fence fence;
  private final Novelty novelty;
  private final HeldTimers heldTimers;
  private final int shards;
  private final Function<Integer, @Nullable Long> ownEpoch;
  private final @Nullable NotificationChannel notificationChannel;
  private final List<Change> changes;
  private final Outcome[] outcomes;

  /** True if this is not the first try. */
  private boolean tried;

  /**
   * True if another transaction holds or held one of the timers. Writes then do not wait for locks.
   */
  private boolean heldUp;

  /** True if the batch is part of a transaction of a user, which is not repeated here. */
  private boolean ofUser;

  // The state of one try

  /** Held timers that are left to the next sweep of their owner. */
  private final List<TimerKey> passedOver = new ArrayList<>();

  private Answer<Optional<String>> transactionId = Optional::empty;
  private BatchFacts facts;
  private Decision decision;

  /**
   * Prepares a commit.
   *
   * @param ownEpoch the epoch under which this session owns a shard; null if it does not own it
   * @param notificationChannel sends notifications to other nodes; null without notifications
   */
  WriteBatch(
      ServerParts server,
      Counters counters,
      Novelty novelty,
      HeldTimers heldTimers,
      int shards,
      Function<Integer, @Nullable Long> ownEpoch,
      @Nullable NotificationChannel notificationChannel,
      List<Change> changes) {
    errors = server.errors();
    sql = server.transactions();
    shared = server.shared();
    queries = server.queries();
    commits = server.commits();
    this.counters = counters;
    records = server.records();
    requests = server.requests();
    writes = new TimerWrites(server, novelty, heldTimers, shards);
    fence = new Fence(shards, ownEpoch);
    this.novelty = novelty;
    this.heldTimers = heldTimers;
    this.shards = shards;
    this.ownEpoch = ownEpoch;
    this.notificationChannel = notificationChannel;
    this.changes = changes;
    outcomes = new Outcome[changes.size()];
    facts = new BatchFacts(fence, 0, Map.of());
    decision = new Decision(facts);
  }

  private boolean any(Predicate<Change> predicate) {
    return changes.stream().anyMatch(predicate);
  }

  /** Does everything except the commit. */
  @Override
  public List<Outcome> run(Connection connection) throws SQLException {
    boolean versions =
        any(change -> change instanceof Change.Schedule || change instanceof Change.Move);
    if (!tried) {
      heldUp = heldTimers.containsAny(keys());
    }
    // Several changes lock nothing in the first round only if the server waits briefly for locks,
    // or if all of them are likely to be new. Otherwise, they are locked in order.
    boolean expecting =
        !tried
            && !heldUp
            && (sql.waitsBriefly()
                || (changes.size() == 1 && !isLeftForLater(changes.get(0)))
                || areLikelyNew());
    try (Statements to = new Statements(connection)) {
      Answer<Long> begun = sql.beginBatch(to, versions);
      var earlier = earlier(to);
      List<Outcome> result = run(to, versions ? begun.get() : 0, earlier, expecting);
      Optional<String> id = transactionId.get();
      transactionId = () -> id;
      if (heldUp) {
        heldTimers.remove(keys());
        heldTimers.add(passedOver);
      }
      return result;
    } catch (SQLException e) {
      if (!heldUp && errors.isHeldUp(e)) {
        heldUp = true;
        throw new Transactions.Again();
      }
      throw e;
    }
  }

  private List<TimerKey> keys() {
    return changes.stream().map(Change::key).toList();
  }

  private boolean areLikelyNew() {
    return novelty.isLikely(changes.size())
        && changes.stream()
            .allMatch(
                change ->
                    change instanceof Change.Schedule schedule
                        && schedule.condition() != Change.Condition.VERSION)
        && changes.stream().map(Change::key).distinct().count() == changes.size();
  }

  @Override
  public @Nullable String transactionId(Connection connection, CommitProof same)
      throws SQLException {
    return transactionId.get().orElse(null);
  }

  /**
   * Runs the batch in a transaction that has begun, and that may hold other locks.
   *
   * @param firstVersion the first version of a block for this batch
   */
  public List<Outcome> runIn(Connection connection, long firstVersion) throws SQLException {
    ofUser = true;
    try (Statements to = new Statements(connection)) {
      List<Outcome> result = run(to, firstVersion, earlier(to), false);
      to.send(); // the user's statements must come after these
      return result;
    }
  }

  /** Records completions of attempts in the transaction of their handler. */
  public List<Outcome> finishIn(Statements to) throws SQLException {
    // One statement locks in the order of the keys. Several statements would together lock out of
    // order.
    boolean byOneStatement =
        changes.size() == 1 || changes.stream().allMatch(WriteBatch::isLastEnd);
    return run(to, 0, earlier(to), byOneStatement);
  }

  private static boolean isLastEnd(Change change) {
    return change instanceof Change.Finish finish
        && finish.end() == Change.Finish.End.SUCCEEDED
        && finish.nextAt() == TimerRecord.NEVER;
  }

  /**
   * Applies the changes.
   *
   * @param earlier the answers of requests that were committed earlier
   * @param expecting true if the first round assumes likely records, and locks nothing
   */
  private List<Outcome> run(
      Statements to,
      long firstVersion,
      Answer<Map<RequestRows.Key, RequestAnswer>> earlier,
      boolean expecting)
      throws SQLException {
    tried = true;
    writes.begin();
    fence.begin();
    passedOver.clear();
    Map<TimerKey, BatchedTimer> cells = new TreeMap<>();
    for (int i = 0; i < outcomes.length; i++) {
      cells.computeIfAbsent(changes.get(i).key(), BatchedTimer::new).changes.add(i);
    }
    try {
      Answer<Set<String>> pauses =
          any(change -> change instanceof Change.Begin || change instanceof Change.MakeReady)
              ? shared.holdPauses(to)
              : () -> Set.of();
      StateCounts pending = new StateCounts();
      if (any(
          change ->
              change instanceof Change.Schedule schedule
                  && schedule.maxPending() != TimerRecord.NEVER)) {
        pending = queries.counts(to.connection());
      }
      facts = new BatchFacts(fence, firstVersion, earlier.get());
      facts.pending = pending;
      decision = new Decision(facts);
      apply(to, List.copyOf(cells.values()), pauses, expecting);
      insertAnswers(to);
    } catch (SQLException e) {
      if (writes.isRefuted(e)) {
        throw new Transactions.Again();
      }
      throw e;
    }
    return Arrays.asList(outcomes);
  }

  /** {@return the answers of requests that were committed earlier} */
  private Answer<Map<RequestRows.Key, RequestAnswer>> earlier(Statements to) throws SQLException {
    List<RequestRows.Key> keys =
        changes.stream()
            .filter(change -> change.request() != null)
            .map(change -> new RequestRows.Key(change.key(), requireNonNull(change.request()).id()))
            .distinct()
            .toList();
    return keys.isEmpty() ? () -> Map.of() : requests.find(to, keys);
  }

  /**
   * Inserts the answers of requests. This comes last, and in the order of their keys. So a
   * transaction that waits here for another one, which answers the same request, holds nothing that
   * the other needs.
   */
  private void insertAnswers(Statements to) throws SQLException {
    List<RequestAnswer> answers = decision.answers();
    if (answers.isEmpty()) {
      return;
    }
    try {
      requests.insert(to, answers);
    } catch (SQLException e) {
      if (errors.isThere(e)) {
        throw answeredMeanwhile(e);
      }
      throw e;
    }
    if (!ofUser) {
      Optional<String> id = transactionId.get(); // none if the answers are all that was written
      transactionId = id.isEmpty() ? commits.transactionId(to) : () -> id;
    }
  }

  /** Returns an exception that causes another try. That try finds the answer. */
  private RuntimeException answeredMeanwhile(SQLException e) {
    return ofUser
        ? new StoreException(
            StoreException.Kind.TRANSIENT, "another node has answered the same request", e)
        : new Transactions.Again();
  }

  private void apply(
      Statements to, List<BatchedTimer> cells, Answer<Set<String>> pauses, boolean expecting)
      throws SQLException {
    List<BatchedTimer> open = cells;
    for (int round = 1; !open.isEmpty(); round++) {
      if (round > MAX_ROUNDS) {
        throw new StoreException(
            StoreException.Kind.TRANSIENT, open.get(0).key() + " is changed by many at once", null);
      }
      if (round == 1 && expecting) {
        expect(to, open);
      } else {
        lock(to, open);
      }
      if (round == 1) {
        facts.paused = pauses.get();
      }
      for (BatchedTimer cell : open) {
        apply(cell);
        cell.lost = cell.assumed && !cell.isChanged();
      }
      boolean isFirst = round == 1 && expecting;
      if (!(isFirst && open.size() == 1 && finishOne(to, open.get(0)))) {
        if (heldUp) {
          writes.writeWithoutWaiting(to, open);
        } else {
          writes.write(to, open, isFirst);
        }
        conclude(to, open);
      }
      open = open.stream().filter(cell -> cell.lost).toList();
      open.forEach(decision::revert);
    }
  }

  // Reading

  /** Assumes likely records, and reads the others. */
  private void expect(Statements to, List<BatchedTimer> cells) throws SQLException {
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
      read(to, others, Lock.NONE);
    }
  }

  private void lock(Statements to, List<BatchedTimer> cells) throws SQLException {
    boolean passOver =
        heldUp || (!sql.waitsBriefly() && changes.stream().allMatch(WriteBatch::isLeftForLater));
    read(to, cells, passOver ? Lock.PASS_OVER : Lock.WAIT);
  }

  private void read(Statements to, List<BatchedTimer> cells, Lock lock) throws SQLException {
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
  private static boolean isLeftForLater(Change change) {
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
          && cell.changes.stream().map(changes::get).allMatch(WriteBatch::isLeftForLater)) {
        passedOver.add(cell.key());
      } else if (cell.held) {
        waitedFor.add(cell.key());
      }
    }
    if (!waitedFor.isEmpty()) {
      throw heldTimers.held(waitedFor, null);
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

  // Writing

  /**
   * Writes the last end of a timer's only attempt, and what accompanies it, by one statement.
   * Returns false if the change is another one.
   */
  private boolean finishOne(Statements to, BatchedTimer cell) throws SQLException {
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
        records.finishOne(to, cell.step(), decision.counts().toList(), shard);
    if (answer == null) {
      return false;
    }
    decision.countsWritten();
    notification(to, List.of(cell));
    Records.FinishedOne done = answer.get();
    transactionId = done::transactionId;
    cell.lost = !done.applied();
    verify(Map.of(shard, requireNonNull(done.epoch(), "no such shard")));
    return true;
  }

  /** Writes the rows that accompany the writes of a round, and checks the results of all writes. */
  private void conclude(Statements to, List<BatchedTimer> cells) throws SQLException {
    if (!decision.counts().isEmpty()) {
      shared.count(to, decision.counts());
      decision.countsWritten();
    }
    notification(to, cells);
    Answer<Map<Integer, Long>> epochs =
        fence.shards().isEmpty() ? () -> Map.of() : shared.holdEpochs(to, fence.shards());
    transactionId = commits.transactionId(to);
    writes.settle();
    verify(epochs.get());
  }

  private void notification(Statements to, Collection<BatchedTimer> cells) {
    if (notificationChannel == null) {
      return;
    }
    Notifications notifications = new Notifications();
    for (BatchedTimer cell : cells) {
      if (cell.isChanged()) {
        notifications.add(cell.next(), shards, shard -> ownEpoch.apply(shard) != null);
      }
    }
    if (!notifications.isEmpty()) {
      counters.notificationsSent.increment();
      notificationChannel.send(to, notifications.text());
    }
  }

  /** Repeats the try if this node no longer owns a shard. */
  private void verify(Map<Integer, Long> present) {
    if (!fence.holds(present)) {
      counters.fenceRefusals.increment();
      throw new Transactions.Again();
    }
  }
}
