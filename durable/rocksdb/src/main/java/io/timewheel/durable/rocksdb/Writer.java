// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.rocksdb.RecordCodec.Stored;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreException.Kind;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.Transitions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * The only one who writes. Its monitor is held from the reading of a record to the end of the
 * write, so a step is taken on what is there.
 *
 * <p>A batch is one write to all families. What it does to a timer's index entries follows from the
 * record as it was before the batch and as it is after it, however many steps lie between.
 */
final class Writer implements Transitions.Context {
  static final int SHARD = 0;

  private final Database database;
  private final Failures failures;
  private final boolean sync;
  private final Counts counts = new Counts();
  private final Set<String> paused = ConcurrentHashMap.newKeySet();
  private final ByteWriter scratch = new ByteWriter();
  private final DueBound dueBound;
  private long lastVersion;
  private long storedVersion;
  private long epoch;

  /** Reads what is kept in memory: a few numbers, the pauses, and the counters. */
  Writer(Database database, Failures failures, boolean sync) throws RocksDBException {
    this.database = database;
    this.failures = failures;
    this.sync = sync;
    byte[] first = Keys.due(SHARD, Long.MIN_VALUE);
    byte[] end = Keys.due(SHARD + 1, Long.MIN_VALUE);
    byte[] from = database.get(Family.META, Meta.DUE_FROM);
    dueBound = new DueBound(database, first, end, from == null ? first : from);
    lastVersion = number(Meta.LAST_VERSION);
    storedVersion = lastVersion;
    epoch = number(Meta.EPOCH);
    byte[] pauses = Meta.allPaused();
    database.scan(
        Family.META,
        pauses,
        Keys.behindAll(pauses),
        null,
        at -> {
          paused.add(Meta.scope(at.key()));
          return true;
        });
    byte[] counters = Meta.allCounts();
    database.scan(
        Family.META,
        counters,
        Keys.behindAll(counters),
        null,
        at -> {
          counts.load(Meta.scope(at.key()), Counts.decode(at.value()));
          return true;
        });
  }

  private long number(byte[] key) throws RocksDBException {
    byte[] bytes = database.get(Family.META, key);
    return bytes == null ? 0 : Meta.number(bytes);
  }

  Counts counts() {
    return counts;
  }

  DueBound dueBound() {
    return dueBound;
  }

  Set<String> paused() {
    return Set.copyOf(paused);
  }

  // What transitions ask for

  @Override
  public long nextVersion(long above) {
    lastVersion = Math.max(lastVersion, above) + 1;
    return lastVersion;
  }

  @Override
  public long pending(String namespace) {
    return counts.pending(namespace);
  }

  @Override
  public boolean paused(String namespace) {
    return paused.contains(namespace) || paused.contains(TimerStore.EVERYTHING);
  }

  // Steps

  /** A timer within a batch: as it is stored, and as the steps have left it so far. */
  private static final class Cell {
    final TimerKey key;
    final byte[] bytes;
    boolean wantsPayload;
    @Nullable Stored before;
    @Nullable TimerRecord after;

    Cell(TimerKey key) {
      this.key = key;
      bytes = Keys.timer(key);
    }
  }

  synchronized List<Outcome> commit(List<Change> changes) {
    Map<TimerKey, Cell> cells = new LinkedHashMap<>(2 * changes.size());
    boolean onlyBegins = true;
    for (Change change : changes) {
      Cell cell = cells.computeIfAbsent(change.key(), Cell::new);
      boolean begin = change instanceof Change.Begin;
      cell.wantsPayload |= begin || change instanceof Change.Schedule;
      onlyBegins &= begin;
    }
    read(cells);
    List<Outcome> outcomes = new ArrayList<>(changes.size());
    for (Change change : changes) {
      outcomes.add(apply(requireNonNull(cells.get(change.key())), change));
    }
    write(cells.values(), sync && !onlyBegins);
    return outcomes;
  }

  private void read(Map<TimerKey, Cell> cells) {
    try {
      List<byte[]> keys = new ArrayList<>(cells.size());
      cells.values().forEach(cell -> keys.add(cell.bytes));
      List<byte @Nullable []> values = database.multiGet(Family.TIMERS, keys);
      int i = 0;
      for (Cell cell : cells.values()) {
        byte[] value = values.get(i++);
        if (value != null) {
          cell.before = decode(cell, value);
          cell.after = cell.before.record();
        }
      }
    } catch (RocksDBException e) {
      throw failures.reading("cannot read timers", e);
    }
  }

  private Stored decode(Cell cell, byte[] value) {
    try {
      return RecordCodec.decode(
          cell.key, value, cell.wantsPayload ? () -> payload(cell) : RecordCodec.LEFT_OUT);
    } catch (MalformedException e) {
      throw failures.of(Kind.REJECTED, "the record of " + cell.key + " cannot be read", e);
    }
  }

  private byte[] payload(Cell cell) {
    try {
      byte[] payload = database.get(Family.PAYLOADS, cell.bytes);
      if (payload == null) {
        throw new MalformedException("its payload is missing");
      }
      return payload;
    } catch (RocksDBException e) {
      throw failures.reading("cannot read the payload of " + cell.key, e);
    }
  }

  private Outcome apply(Cell cell, Change change) {
    if (change.epoch() != 0 && change.epoch() != epoch) {
      return new Outcome(Outcome.Answer.STALE_OWNER, 0, null);
    }
    TimerRecord current = cell.after;
    Outcome outcome = Transitions.apply(current, change, this);
    TimerRecord record = outcome.record();
    if (record != null && outcome.changes(current)) {
      count(current, record);
      cell.after = record;
    }
    return outcome;
  }

  private void count(@Nullable TimerRecord before, @Nullable TimerRecord after) {
    if (before != null) {
      counts.add(before.key().namespace(), before.state(), -1);
    }
    if (after != null) {
      counts.add(after.key().namespace(), after.state(), 1);
    }
  }

  // Writing

  private void write(Iterable<Cell> cells, boolean synced) {
    try (Batch batch = new Batch(database)) {
      for (Cell cell : cells) {
        put(cell, batch);
      }
      if (batch.isEmpty()) {
        counts.discard();
        return;
      }
      write(batch, synced);
    } catch (RocksDBException e) {
      throw failures.of(Kind.UNKNOWN, "cannot write", e);
    } finally {
      counts.discard();
    }
  }

  private void write(Batch batch, boolean synced) throws RocksDBException {
    if (lastVersion != storedVersion) {
      batch.put(Family.META, Meta.LAST_VERSION, Meta.number(lastVersion));
    }
    counts.writeTo(batch);
    batch.write(synced);
    storedVersion = lastVersion;
    counts.accept();
    dueBound.raise();
  }

  @SuppressWarnings("ReferenceEquality") // what is left as it is is the same object
  private void put(Cell cell, Batch batch) throws RocksDBException {
    TimerRecord before = cell.before == null ? null : cell.before.record();
    TimerRecord after = cell.after;
    if (after == before || after == null) {
      return;
    }
    boolean wasApart = cell.before != null && cell.before.payloadApart();
    boolean isApart = wasApart;
    if (before == null || before.definition() != after.definition()) {
      isApart = RecordCodec.isPayloadApart(after);
      if (isApart) {
        batch.put(Family.PAYLOADS, cell.bytes, after.definition().payload());
      } else if (wasApart) {
        batch.delete(Family.PAYLOADS, cell.bytes);
      }
    }
    batch.put(Family.TIMERS, cell.bytes, RecordCodec.encode(after, isApart, scratch));
    if (before != null) {
      unindex(cell, before, after, batch);
    }
    index(cell, after, batch);
  }

  private void index(Cell cell, TimerRecord record, Batch batch) throws RocksDBException {
    if (record.isIndexed()) {
      byte[] key = Keys.due(SHARD, record.fireAt(), cell.bytes);
      dueBound.insert(key, batch);
      batch.put(Family.DUE, key, RecordCodec.encodeDue(record, scratch));
    }
    if (record.state() == TimerState.READY) {
      batch.put(Family.READY, readyKey(record), RecordCodec.PRESENT);
    }
    if (record.state().isFinished()) {
      batch.put(
          Family.FINISHED, Keys.finished(record.changedAt(), cell.bytes), RecordCodec.PRESENT);
    }
  }

  /** Removes the entries of a record that the next one does not overwrite. */
  private void unindex(Cell cell, TimerRecord old, @Nullable TimerRecord next, Batch batch)
      throws RocksDBException {
    if (old.isIndexed() && (next == null || next.fireAt() != old.fireAt())) {
      batch.delete(Family.DUE, Keys.due(SHARD, old.fireAt(), cell.bytes));
      dueBound.deleted();
    }
    if (old.state() == TimerState.READY) {
      batch.delete(Family.READY, readyKey(old));
    }
    if (old.state().isFinished()) {
      batch.delete(Family.FINISHED, Keys.finished(old.changedAt(), cell.bytes));
    }
  }

  private static byte[] readyKey(TimerRecord record) {
    return Keys.ready(record.key(), record.definition().handler(), record.changedAt());
  }

  // Other changes

  synchronized List<TimerRecord> lease(LeaseRequest request) {
    if (request.tokens().isEmpty() || paused(request.namespace())) {
      return List.of();
    }
    Map<TimerKey, Cell> cells = new LinkedHashMap<>();
    byte[] queue = Keys.queue(request.namespace(), request.queue());
    try {
      database.scan(
          Family.READY,
          queue,
          Keys.behindAll(queue),
          null,
          at -> {
            Cell cell = new Cell(Keys.ready(at.key()));
            cell.wantsPayload = true;
            cells.put(cell.key, cell);
            return cells.size() < request.tokens().size();
          });
    } catch (RocksDBException e) {
      throw failures.reading("cannot read the ready timers", e);
    }
    read(cells);
    List<TimerRecord> leased = new ArrayList<>();
    for (Cell cell : cells.values()) {
      TimerRecord current = cell.after;
      if (current != null && current.state() == TimerState.READY) {
        cell.after =
            Transitions.lease(
                current, request.tokens().get(leased.size()), request.until(), request.now());
        count(current, cell.after);
        leased.add(cell.after);
      }
    }
    write(cells.values(), sync);
    return leased;
  }

  synchronized int forget(long finishedBefore, long keep, int limit) {
    long finished = counts.finished();
    Map<TimerKey, Cell> cells = new LinkedHashMap<>();
    try (Batch batch = new Batch(database)) {
      database.scan(
          Family.FINISHED,
          null,
          null,
          null,
          at -> {
            boolean forgotten =
                cells.size() < limit
                    && (Keys.finished(at.key()).fireAt() < finishedBefore
                        || finished - cells.size() > keep);
            if (forgotten) {
              Cell cell = new Cell(Keys.finished(at.key()).key());
              cells.put(cell.key, cell);
            }
            return forgotten;
          });
      if (cells.isEmpty()) {
        return 0;
      }
      read(cells);
      for (Cell cell : cells.values()) {
        Stored before = cell.before;
        if (before != null) {
          batch.delete(Family.TIMERS, cell.bytes);
          if (before.payloadApart()) {
            batch.delete(Family.PAYLOADS, cell.bytes);
          }
          unindex(cell, before.record(), null, batch);
          count(before.record(), null);
        }
      }
      write(batch, sync);
    } catch (RocksDBException e) {
      throw failures.of(Kind.UNKNOWN, "cannot forget finished timers", e);
    } finally {
      counts.discard();
    }
    return cells.size();
  }

  synchronized void pause(String scope) {
    change(batch -> batch.put(Family.META, Meta.paused(scope), RecordCodec.PRESENT));
    paused.add(scope);
  }

  synchronized void resume(String scope) {
    change(batch -> batch.delete(Family.META, Meta.paused(scope)));
    paused.remove(scope);
  }

  /** Begins a session: the epoch of the one before is stale from now on. */
  synchronized long newEpoch() {
    change(batch -> batch.put(Family.META, Meta.EPOCH, Meta.number(epoch + 1)));
    return ++epoch;
  }

  private interface Step {
    void addTo(Batch batch) throws RocksDBException;
  }

  private void change(Step step) {
    try (Batch batch = new Batch(database)) {
      step.addTo(batch);
      batch.write(true);
    } catch (RocksDBException e) {
      throw failures.of(Kind.UNKNOWN, "cannot write", e);
    }
  }
}
