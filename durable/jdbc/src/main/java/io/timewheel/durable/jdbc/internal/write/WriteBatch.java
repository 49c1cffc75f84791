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
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.HeldTimersException;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.RequestAnswer;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.Transitions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Commits changes in one transaction. {@link Transitions} decides the next state of each record. A
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

  /**
   * The maximum number of held timers to identify individually. Beyond it, all timers of a part of
   * the batch count as held.
   */
  private static final int MAX_FOUND_ALONE = 32;

  private final ServerErrors errors;
  private final TransactionSql sql;
  private final SharedRows shared;
  private final Queries queries;
  private final CommitProof commits;
  private final Counters counters;
  private final Records records;
  private final RequestRows requests;
  private final Novelty novelty;
  private final HeldTimers heldTimers;
  private final int shards;
  private final Function<Integer, @Nullable Long> ownEpoch;
  private final @Nullable NotificationChannel notificationChannel;
  private final List<Change> changes;

  /** The current epochs of shards for which this batch had another epoch. */
  private final Map<Integer, Long> foundEpochs = new HashMap<>();

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

  /** True if the transaction may fail when a timer that is assumed to be new exists. */
  private boolean daring;

  private final Map<Integer, Long> heldEpochs = new TreeMap<>();
  private final List<Written> written = new ArrayList<>();
  private Answer<Optional<String>> transactionId = Optional::empty;
  private final BatchContext context = new BatchContext();

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
    this.novelty = novelty;
    this.heldTimers = heldTimers;
    this.shards = shards;
    this.ownEpoch = ownEpoch;
    this.notificationChannel = notificationChannel;
    this.changes = changes;
    outcomes = new Outcome[changes.size()];
  }

  /** The writes of some cells, and the answer with the success of each. */
  private record Written(List<BatchedTimer> cells, Answer<boolean[]> held) {}

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
    daring = false;
    heldEpochs.clear();
    written.clear();
    passedOver.clear();
    context.begin(firstVersion);
    Map<TimerKey, BatchedTimer> cells = new TreeMap<>();
    for (int i = 0; i < outcomes.length; i++) {
      cells.computeIfAbsent(changes.get(i).key(), BatchedTimer::new).changes.add(i);
    }
    try {
      Answer<Set<String>> pauses =
          any(change -> change instanceof Change.Begin || change instanceof Change.MakeReady)
              ? shared.holdPauses(to)
              : () -> Set.of();
      if (any(
          change ->
              change instanceof Change.Schedule schedule
                  && schedule.maxPending() != TimerRecord.NEVER)) {
        context.addPending(queries.counts(to.connection()));
      }
      context.earlier(earlier.get());
      apply(to, List.copyOf(cells.values()), pauses, expecting);
      insertAnswers(to, cells.values());
    } catch (SQLException e) {
      if (daring && errors.isThere(e)) {
        novelty.refuted();
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
  private void insertAnswers(Statements to, Collection<BatchedTimer> cells) throws SQLException {
    List<RequestAnswer> answers =
        cells.stream().flatMap(cell -> cell.answers.values().stream()).toList();
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
            StoreException.Kind.TRANSIENT, open.get(0).key + " is changed by many at once", null);
      }
      if (round == 1 && expecting) {
        expect(to, open);
      } else {
        lock(to, open);
      }
      if (round == 1) {
        context.paused(pauses.get());
      }
      for (BatchedTimer cell : open) {
        apply(cell);
        cell.lost = cell.assumed && !cell.isChanged();
        context.count(cell, 1);
      }
      boolean isFirst = round == 1 && expecting;
      if (!(isFirst && open.size() == 1 && finishOne(to, open.get(0)))) {
        if (heldUp) {
          writeWithoutWaiting(to, open);
        } else {
          write(to, open, isFirst);
        }
        conclude(to, open);
      }
      open = open.stream().filter(cell -> cell.lost).toList();
      open.forEach(cell -> context.count(cell, -1));
    }
  }

  /** Returns an exception that makes the engine repeat the changes of some timers separately. */
  private HeldTimersException held(List<TimerKey> keys, @Nullable SQLException cause) {
    heldTimers.add(keys);
    return new HeldTimersException(keys, cause);
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
        records.read(to, cells.stream().map(cell -> cell.key).toList(), lock).get();
    List<TimerKey> missing =
        cells.stream().map(cell -> cell.key).filter(key -> !unfinished.containsKey(key)).toList();
    if (lock == Lock.PASS_OVER && !missing.isEmpty()) {
      passOver(cells, records.present(to.connection(), missing));
    }
    // Read the history last: it then contains timers that other transactions were just finishing.
    Map<TimerKey, Records.Finished> finished =
        missing.isEmpty() ? Map.of() : records.finished(to, missing).get();
    for (BatchedTimer cell : cells) {
      Records.Finished past = finished.get(cell.key);
      if (past != null) {
        found(cell, past.record(), past.payloadHash());
      } else {
        found(cell, unfinished.get(cell.key), null);
      }
      // The timer may have left the history before the lookup. The next lookup finds it.
      boolean isMissing = cell.before == null && !cell.held;
      cell.assumed = isMissing && !cell.missing;
      cell.missing = isMissing;
    }
  }

  /** Assumes a record without a lookup; null for a timer that does not exist. */
  private static void assume(BatchedTimer cell, @Nullable TimerRecord record) {
    found(cell, record, null);
    cell.assumed = true;
  }

  private static void found(
      BatchedTimer cell, @Nullable TimerRecord record, byte @Nullable [] payloadHash) {
    cell.before = record;
    cell.after = record;
    cell.payloadHash = payloadHash;
    cell.assumed = false;
    cell.lost = false;
    cell.answers.clear();
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
      cell.held = held.contains(cell.key);
      if (cell.held
          && cell.changes.stream().map(changes::get).allMatch(WriteBatch::isLeftForLater)) {
        passedOver.add(cell.key);
      } else if (cell.held) {
        waitedFor.add(cell.key);
      }
    }
    if (!waitedFor.isEmpty()) {
      throw held(waitedFor, null);
    }
  }

  private void apply(BatchedTimer cell) {
    context.ofTimer(cell.answers);
    for (int i : cell.changes) {
      if (cell.held) {
        outcomes[i] = new Outcome(Outcome.Answer.OUTDATED, 0, null);
        continue;
      }
      Change change = changes.get(i);
      if (isStale(change)) {
        outcomes[i] = new Outcome(Outcome.Answer.STALE_OWNER, 0, null);
        continue;
      }
      if (change instanceof Change.Schedule schedule) {
        restorePayload(cell, schedule.definition().payload());
      }
      Outcome outcome = Transitions.apply(cell.after, change, context);
      if (outcome.changes(cell.after)) {
        cell.after = outcome.record();
      }
      RequestAnswer answer = RequestAnswer.of(change, outcome, context);
      if (answer != null) {
        cell.answers.put(answer.request().id(), answer);
      }
      outcomes[i] = outcome;
    }
  }

  private boolean isStale(Change change) {
    if (change.epoch() == 0) {
      return false;
    }
    int shard = Shards.of(change.key(), shards);
    Long epoch = foundEpochs.get(shard);
    if (epoch == null) {
      epoch = ownEpoch.apply(shard);
    }
    if (epoch != null && epoch != change.epoch()) {
      return true;
    }
    Long before = heldEpochs.putIfAbsent(shard, change.epoch());
    return before != null && before != change.epoch();
  }

  /**
   * Replaces a payload with the given one if their hashes are equal. The history contains only a
   * hash.
   */
  private static void restorePayload(BatchedTimer cell, byte[] payload) {
    if (cell.payloadHash != null
        && !cell.isChanged()
        && Arrays.equals(cell.payloadHash, Rows.hash(payload))) {
      cell.before =
          cell.before().copy().definition(cell.before().definition().withPayload(payload)).build();
      cell.after = cell.before;
    }
  }

  // Writing

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

  /** Marks the cells whose conditional writes did not apply. */
  private void settle() throws SQLException {
    for (Written some : written) {
      boolean[] held = some.held.get();
      for (int i = 0; i < held.length; i++) {
        some.cells.get(i).lost |= !held[i];
      }
    }
    written.clear();
  }

  private static List<TimerRecord> before(List<BatchedTimer> cells) {
    return cells.stream().map(BatchedTimer::before).toList();
  }

  private static List<TimerRecord> after(List<BatchedTimer> cells) {
    return cells.stream().map(BatchedTimer::after).toList();
  }

  private static List<Records.Step> steps(List<BatchedTimer> cells) {
    return cells.stream().map(BatchedTimer::step).toList();
  }

  private void write(Statements to, List<BatchedTimer> cells, boolean expecting)
      throws SQLException {
    List<BatchedTimer> changed = cells.stream().filter(BatchedTimer::isChanged).toList();
    List<BatchedTimer> made = changed.stream().filter(cell -> !cell.wasUnfinished()).toList();
    if (made.stream().anyMatch(cell -> cell.before != null)) {
      each(made, cell -> cell.before != null, some -> records.unfinish(to, before(some)));
      settle();
    }
    daring = expecting && novelty.isLikely(made.size());
    each(made, cell -> true, some -> records.insert(to, after(some), shards, daring));
    Predicate<BatchedTimer> ends = cell -> cell.after().state().isFinished();
    List<BatchedTimer> moved = changed.stream().filter(BatchedTimer::wasUnfinished).toList();
    Predicate<BatchedTimer> isReplaced = cell -> cell.step().isReplaced();
    each(moved, ends, some -> records.finish(to, steps(some)));
    each(moved, ends.negate().and(isReplaced), some -> records.replace(to, steps(some)));
    each(moved, ends.negate().and(isReplaced.negate()), some -> records.advance(to, steps(some)));
    lookInHistory(to, made.stream().filter(cell -> cell.before == null).toList());
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
    if (changed.stream().anyMatch(cell -> isReady(cell.before) || isReady(cell.after))) {
      settle();
      ready(to, changed);
    }
  }

  /**
   * Writes without waiting for locks. All unfinished timers are locked. So a write could wait only
   * for a timer that another transaction creates or removes from the history. One wait is allowed:
   * for a row of the ready index that a claim has locked.
   *
   * @throws HeldTimersException if there are such timers
   */
  private void writeWithoutWaiting(Statements to, List<BatchedTimer> cells) throws SQLException {
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
      throw held(held, e);
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
      cells.forEach(cell -> held.add(cell.key));
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
        records.finished(to, assumed.stream().map(cell -> cell.key).toList());
    written.add(
        new Written(
            assumed,
            () -> {
              Map<TimerKey, Records.Finished> past = finished.get();
              boolean[] isNew = new boolean[assumed.size()];
              List<TimerRecord> notNew = new ArrayList<>();
              for (int i = 0; i < isNew.length; i++) {
                isNew[i] = !past.containsKey(assumed.get(i).key);
                if (!isNew[i]) {
                  notNew.add(assumed.get(i).after());
                }
              }
              if (!notNew.isEmpty()) {
                records.remove(to, notNew);
              }
              return isNew;
            }));
  }

  private static boolean isReady(@Nullable TimerRecord record) {
    return record != null && record.state() == TimerState.READY;
  }

  private void ready(Statements to, List<BatchedTimer> changed) throws SQLException {
    List<TimerRecord> removed = new ArrayList<>();
    List<TimerRecord> added = new ArrayList<>();
    for (BatchedTimer cell : changed) {
      if (!cell.lost) {
        if (isReady(cell.before)) {
          removed.add(cell.before());
        }
        if (isReady(cell.after)) {
          added.add(cell.after());
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

  /**
   * Writes the last end of a timer's only attempt, and what accompanies it, by one statement.
   * Returns false if the change is another one.
   */
  private boolean finishOne(Statements to, BatchedTimer cell) throws SQLException {
    if (!cell.isChanged()
        || cell.lost
        || !cell.wasUnfinished()
        || isReady(cell.before)
        || !cell.after().state().isFinished()
        || heldEpochs.size() != 1) {
      return false;
    }
    int shard = heldEpochs.keySet().iterator().next();
    Answer<Records.FinishedOne> answer =
        records.finishOne(to, cell.step(), SharedRows.countRows(context.counts()), shard);
    if (answer == null) {
      return false;
    }
    context.countsWritten();
    notification(to, List.of(cell));
    Records.FinishedOne done = answer.get();
    transactionId = done::transactionId;
    cell.lost = !done.applied();
    fence(Map.of(shard, requireNonNull(done.epoch(), "no such shard")));
    return true;
  }

  /** Writes the rows that accompany the writes of a round, and checks the results of all writes. */
  private void conclude(Statements to, List<BatchedTimer> cells) throws SQLException {
    if (!context.counts().isEmpty()) {
      shared.count(to, context.counts());
      context.countsWritten();
    }
    notification(to, cells);
    Answer<Map<Integer, Long>> epochs =
        heldEpochs.isEmpty()
            ? () -> Map.of()
            : shared.holdEpochs(to, List.copyOf(heldEpochs.keySet()));
    transactionId = commits.transactionId(to);
    settle();
    fence(epochs.get());
  }

  private void notification(Statements to, Collection<BatchedTimer> cells) {
    if (notificationChannel == null) {
      return;
    }
    Notifications notifications = new Notifications();
    for (BatchedTimer cell : cells) {
      if (cell.isChanged()) {
        notifications.add(cell.after(), shards, shard -> ownEpoch.apply(shard) != null);
      }
    }
    if (!notifications.isEmpty()) {
      counters.notificationsSent.increment();
      notificationChannel.send(to, notifications.text());
    }
  }

  /** Throws if this node no longer owns a shard. The epochs are locked until the commit. */
  private void fence(Map<Integer, Long> present) {
    boolean stale = false;
    for (Map.Entry<Integer, Long> held : heldEpochs.entrySet()) {
      Long epoch = requireNonNull(present.get(held.getKey()), "no such shard");
      if (!epoch.equals(held.getValue())) {
        foundEpochs.put(held.getKey(), epoch);
        stale = true;
      }
    }
    if (stale) {
      counters.fenceRefusals.increment();
      throw new Transactions.Again();
    }
  }
}
