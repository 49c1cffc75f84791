// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.jdbc.Records.Held;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.Transitions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Changes that one transaction commits. The records are locked in the order of their keys, {@link
 * Transitions} says what becomes of them, and they are written back; each write holds only for the
 * record that was read, and what it does not hold for is read again. The fence comes last.
 *
 * <p>A transaction of a user may hold a timer for as long as he likes. The others in a group do not
 * wait for it: once a lock was not to be had in time, what an owner would begin is left for his
 * next look, and of the rest each timer is tried alone.
 *
 * <p>An object is used for all tries of one commit, by one thread.
 */
final class Group {
  /** More than one only if others make or forget the same timers at the same time. */
  private static final int MAX_ROUNDS = 4;

  private final Dialect dialect;
  private final Records records;
  private final int shards;
  private final int historyPart;
  private final Function<Integer, @Nullable Long> ownEpoch;
  private final @Nullable String hintChannel;
  private final List<Change> changes;

  /** Epochs that the fence has found where this group was made under another. */
  private final Map<Integer, Long> foundEpochs = new HashMap<>();

  private final Outcome[] outcomes;

  /** Whether a try has waited too long for a timer that somebody holds. */
  private boolean heldUp;

  // Of one try
  private final Map<Integer, Long> heldEpochs = new TreeMap<>();
  private final Map<String, Map<TimerState, Long>> counts = new HashMap<>();
  private final Surroundings surroundings = new Surroundings();

  /**
   * Prepares a commit.
   *
   * @param ownEpoch the epoch under which this session owns a shard; null if it does not
   * @param hintChannel where other nodes listen for hints; null if they do not
   */
  Group(
      Dialect dialect,
      int shards,
      int historyPart,
      Function<Integer, @Nullable Long> ownEpoch,
      @Nullable String hintChannel,
      List<Change> changes) {
    this.dialect = dialect;
    records = dialect.records();
    this.shards = shards;
    this.historyPart = historyPart;
    this.ownEpoch = ownEpoch;
    this.hintChannel = hintChannel;
    this.changes = changes;
    outcomes = new Outcome[changes.size()];
  }

  /** A timer within a group: as it was read, and as the changes leave it. */
  private static final class Cell {
    final TimerKey key;
    final List<Integer> changes = new ArrayList<>(1);
    @Nullable TimerRecord before;
    @Nullable TimerRecord after;
    byte @Nullable [] payloadHash;
    boolean lost;

    /** Whether somebody else holds it, and it stays as it is. */
    boolean held;

    Cell(TimerKey key) {
      this.key = key;
    }

    @SuppressWarnings("ReferenceEquality") // what is left as it is is the same object
    boolean isChanged() {
      return after != before;
    }

    boolean wasUnfinished() {
      return before != null && !before.state().isFinished();
    }

    TimerRecord before() {
      return requireNonNull(before);
    }

    TimerRecord after() {
      return requireNonNull(after);
    }

    Records.Step step() {
      return new Records.Step(before(), after());
    }
  }

  private final class Surroundings implements Transitions.Context {
    long lastVersion;
    Set<String> paused = Set.of();
    Map<String, Map<TimerState, Long>> pending = Map.of();

    @Override
    public long nextVersion(long above) {
      return Math.max(++lastVersion, above + 1);
    }

    @Override
    public long pending(String namespace) {
      return unfinished(pending.get(namespace)) + unfinished(counts.get(namespace));
    }

    private long unfinished(@Nullable Map<TimerState, Long> states) {
      long unfinished = 0;
      if (states != null) {
        for (Map.Entry<TimerState, Long> state : states.entrySet()) {
          unfinished += state.getKey().isFinished() ? 0 : state.getValue();
        }
      }
      return unfinished;
    }

    @Override
    public boolean paused(String namespace) {
      return paused.contains(namespace) || paused.contains(TimerStore.EVERYTHING);
    }
  }

  private boolean any(Predicate<Change> predicate) {
    return changes.stream().anyMatch(predicate);
  }

  /** Does everything but the commit. */
  List<Outcome> run(Connection connection) throws SQLException {
    boolean versions =
        any(change -> change instanceof Change.Schedule || change instanceof Change.Move);
    return runIn(connection, dialect.begin(connection, versions));
  }

  /**
   * The same in a transaction that has begun.
   *
   * @param firstVersion the first version of a block that is this group's own
   */
  List<Outcome> runIn(Connection connection, long firstVersion) throws SQLException {
    heldEpochs.clear();
    counts.clear();
    surroundings.lastVersion = firstVersion - 1;
    if (any(change -> change instanceof Change.Begin || change instanceof Change.MakeReady)) {
      surroundings.paused = dialect.holdPauses(connection);
    }
    if (any(
        change ->
            change instanceof Change.Schedule schedule
                && schedule.maxPending() != TimerRecord.NEVER)) {
      surroundings.pending = dialect.queries().counts(connection);
    }
    Map<TimerKey, Cell> cells = new TreeMap<>();
    for (int i = 0; i < outcomes.length; i++) {
      cells.computeIfAbsent(changes.get(i).key(), Cell::new).changes.add(i);
    }
    try {
      apply(connection, List.copyOf(cells.values()));
    } catch (SQLException e) {
      if (dialect.isHeldUp(e)) {
        if (heldUp && cells.size() > 1) {
          throw held(e);
        }
        heldUp = true;
      }
      throw e;
    }
    if (!counts.isEmpty()) {
      dialect.count(connection, counts);
    }
    hint(connection, cells.values());
    fence(connection);
    return Arrays.asList(outcomes);
  }

  private void apply(Connection connection, List<Cell> cells) throws SQLException {
    List<Cell> open = cells;
    for (int round = 1; !open.isEmpty(); round++) {
      if (round > MAX_ROUNDS) {
        throw new StoreException(
            StoreException.Kind.TRANSIENT, open.get(0).key + " is changed by many at once", null);
      }
      read(connection, open);
      for (Cell cell : open) {
        apply(cell);
        count(cell, 1);
      }
      write(connection, open);
      open = open.stream().filter(cell -> cell.lost).toList();
      open.forEach(cell -> count(cell, -1));
    }
  }

  /** Has the engine ask for one change at a time. */
  private static StoreException held(@Nullable SQLException cause) {
    return new StoreException(
        StoreException.Kind.REJECTED, "another transaction holds a timer of the batch", cause);
  }

  private void read(Connection connection, List<Cell> cells) throws SQLException {
    boolean mayPassOver = any(Group::isLeftForLater);
    boolean mayWait = any(change -> !isLeftForLater(change)) || dialect.waitsBriefly();
    Held held = Held.WAIT;
    if (mayPassOver && (heldUp || !mayWait)) {
      held = Held.PASS_OVER;
    } else if (heldUp && !dialect.waitsBriefly()) {
      held = Held.FAIL; // it has been waited for
    }
    Map<TimerKey, TimerRecord> unfinished =
        records.lock(connection, cells.stream().map(cell -> cell.key).toList(), held);
    // After the locks: a timer that was just finished by somebody else is in the history by now.
    List<TimerKey> missing =
        cells.stream().map(cell -> cell.key).filter(key -> !unfinished.containsKey(key)).toList();
    Map<TimerKey, Records.Finished> finished =
        missing.isEmpty() ? Map.of() : records.finished(connection, missing);
    for (Cell cell : cells) {
      Records.Finished past = finished.get(cell.key);
      cell.before = past != null ? past.record() : unfinished.get(cell.key);
      cell.payloadHash = past != null ? past.payloadHash() : null;
      cell.after = cell.before;
      cell.lost = false;
    }
    if (held == Held.PASS_OVER && !missing.isEmpty()) {
      passOver(cells, records.present(connection, missing));
    }
  }

  /** What an owner begins because of what he has read: he reads it again soon. */
  private static boolean isLeftForLater(Change change) {
    return change instanceof Change.Begin
        || change instanceof Change.MakeReady
        || change instanceof Change.Skip
        || change instanceof Change.Park;
  }

  private void passOver(List<Cell> cells, Set<TimerKey> held) {
    for (Cell cell : cells) {
      cell.held = held.contains(cell.key);
      if (cell.held && !cell.changes.stream().map(changes::get).allMatch(Group::isLeftForLater)) {
        throw held(null);
      }
    }
  }

  private void apply(Cell cell) {
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
      Outcome outcome = Transitions.apply(cell.after, change, surroundings);
      if (outcome.changes(cell.after)) {
        cell.after = outcome.record();
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

  /** The history has only a hash of the payload; that it is the same is all that matters. */
  private static void restorePayload(Cell cell, byte[] payload) {
    if (cell.payloadHash != null
        && !cell.isChanged()
        && Arrays.equals(cell.payloadHash, Rows.hash(payload))) {
      cell.before = Rows.withPayload(cell.before(), payload);
      cell.after = cell.before;
    }
  }

  // Writing

  private interface Write {
    boolean[] write(List<Cell> cells) throws SQLException;
  }

  private static void each(Collection<Cell> cells, Predicate<Cell> which, Write write)
      throws SQLException {
    List<Cell> some = cells.stream().filter(cell -> !cell.lost && which.test(cell)).toList();
    if (!some.isEmpty()) {
      boolean[] done = write.write(some);
      for (int i = 0; i < done.length; i++) {
        some.get(i).lost |= !done[i];
      }
    }
  }

  private static List<TimerRecord> before(List<Cell> cells) {
    return cells.stream().map(Cell::before).toList();
  }

  private static List<TimerRecord> after(List<Cell> cells) {
    return cells.stream().map(Cell::after).toList();
  }

  private static List<Records.Step> steps(List<Cell> cells) {
    return cells.stream().map(Cell::step).toList();
  }

  private void write(Connection connection, List<Cell> cells) throws SQLException {
    List<Cell> changed = cells.stream().filter(Cell::isChanged).toList();
    List<Cell> made = changed.stream().filter(cell -> !cell.wasUnfinished()).toList();
    each(made, cell -> cell.before != null, some -> records.unfinish(connection, before(some)));
    each(made, cell -> true, some -> records.insert(connection, after(some), shards));
    each(
        made,
        cell -> cell.after().state().isFinished(),
        some ->
            records.finish(
                connection,
                after(some).stream().map(record -> new Records.Step(record, record)).toList(),
                historyPart));
    List<Cell> moved = changed.stream().filter(Cell::wasUnfinished).toList();
    Predicate<Cell> ends = cell -> cell.after().state().isFinished();
    Predicate<Cell> isReplaced = cell -> Rows.isReplaced(cell.step());
    each(moved, ends, some -> records.finish(connection, steps(some), historyPart));
    each(moved, ends.negate().and(isReplaced), some -> records.replace(connection, steps(some)));
    each(
        moved,
        ends.negate().and(isReplaced.negate()),
        some -> records.advance(connection, steps(some)));
    ready(connection, changed);
  }

  private void ready(Connection connection, List<Cell> changed) throws SQLException {
    List<TimerRecord> removed = new ArrayList<>();
    List<TimerRecord> added = new ArrayList<>();
    for (Cell cell : changed) {
      if (!cell.lost) {
        if (cell.before != null && cell.before.state() == TimerState.READY) {
          removed.add(cell.before);
        }
        if (cell.after().state() == TimerState.READY) {
          added.add(cell.after());
        }
      }
    }
    if (!removed.isEmpty()) {
      records.removeReady(connection, removed);
    }
    if (!added.isEmpty()) {
      records.addReady(connection, added);
    }
  }

  /** Counts a step, before it is written: the next one in its namespace may depend on that. */
  private void count(Cell cell, long sign) {
    if (!cell.isChanged()) {
      return;
    }
    if (cell.before != null) {
      count(cell.key.namespace(), cell.before.state(), -sign);
    }
    count(cell.key.namespace(), cell.after().state(), sign);
  }

  private void count(String namespace, TimerState state, long delta) {
    Map<TimerState, Long> states =
        counts.computeIfAbsent(namespace, same -> new EnumMap<>(TimerState.class));
    if (states.merge(state, delta, Long::sum) == 0) {
      states.remove(state);
      if (states.isEmpty()) {
        counts.remove(namespace);
      }
    }
  }

  private void hint(Connection connection, Collection<Cell> cells) throws SQLException {
    if (hintChannel == null) {
      return;
    }
    Hints hints = new Hints();
    for (Cell cell : cells) {
      if (cell.isChanged()) {
        hints.add(cell.after(), shards, shard -> ownEpoch.apply(shard) != null);
      }
    }
    if (!hints.isEmpty()) {
      dialect.hint(connection, hintChannel, hints.text());
    }
  }

  /** No owner that has lost a shard gets past this: the epochs stay until the commit. */
  private void fence(Connection connection) throws SQLException {
    if (heldEpochs.isEmpty()) {
      return;
    }
    Map<Integer, Long> present = dialect.holdEpochs(connection, List.copyOf(heldEpochs.keySet()));
    boolean stale = false;
    for (Map.Entry<Integer, Long> held : heldEpochs.entrySet()) {
      Long epoch = requireNonNull(present.get(held.getKey()), "no such shard");
      if (!epoch.equals(held.getValue())) {
        foundEpochs.put(held.getKey(), epoch);
        stale = true;
      }
    }
    if (stale) {
      throw new Transactions.Again();
    }
  }
}
