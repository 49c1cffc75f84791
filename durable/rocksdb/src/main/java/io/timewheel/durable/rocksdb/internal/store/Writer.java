// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.store;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.internal.file.Batch;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.file.VersionFloor;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.rocksdb.internal.format.MalformedException;
import io.timewheel.durable.rocksdb.internal.format.Meta;
import io.timewheel.durable.rocksdb.internal.format.RecordCodec;
import io.timewheel.durable.rocksdb.internal.format.RecordCodec.Stored;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.LocalLimits;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.PageBuilder;
import io.timewheel.durable.spi.RequestAnswer;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.Transitions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * Makes all writes to the database. It holds its monitor from the read of a record until the end of
 * the write, so each step applies to the current record.
 *
 * <p>A batch is one write to all families. The changes of a timer's index entries follow from its
 * record before and after the batch, regardless of the steps in between.
 */
public final class Writer implements Transitions.Context {
  private static final int MAX_CLAIMED = 8_192;

  /** The maximum size of a cached record without its payload, to limit the memory of the cache. */
  private static final int MAX_CLAIMED_BYTES = 2_048;

  private final Database database;
  private final Failures failures;
  private final boolean sync;
  private final VersionFloor versions;
  private final Counts counts = new Counts();
  private final Set<String> paused = ConcurrentHashMap.newKeySet();
  private final FrontBounds bounds;
  private final Rows rows;

  /** A cache of records with an open claim, which will soon change when their attempts end. */
  private final Map<TimerKey, Stored> claimed = new HashMap<>();

  /** The answers of the unwritten batch. */
  private final Map<TimerKey, Map<String, RequestAnswer>> answers = new HashMap<>();

  /**
   * A time before all stored answers. A purge begins here, to skip the tombstones of deleted
   * answers.
   */
  private long answersFrom = Long.MIN_VALUE;

  private volatile boolean broken;
  private long lastVersion;
  private long storedVersion;
  private long epoch;

  /** Loads the state that is kept in memory: a few numbers, the pauses and the counters. */
  public Writer(Database database, Failures failures, boolean sync, VersionFloor versions)
      throws RocksDBException {
    this.database = database;
    this.failures = failures;
    this.sync = sync;
    this.versions = versions;
    bounds = new FrontBounds(database, failures);
    rows = new Rows(bounds);
    storedVersion = number(Meta.lastVersion());
    lastVersion = Math.max(storedVersion, versions.reserved());
    epoch = number(Meta.epoch());
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

  /** Returns whether a write has failed. After that, no write can succeed. */
  public boolean isBroken() {
    return broken;
  }

  /** Makes the next write open the database again. */
  public void distrust() {
    broken = true;
  }

  public StoreException failed(RocksDBException e) {
    broken = true;
    return failures.of(Kind.UNKNOWN, "it may have been written or not", e);
  }

  /** Forces unsynced writes to disk. */
  public void sync() {
    try {
      database.sync();
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  public Counts counts() {
    return counts;
  }

  public FrontBounds bounds() {
    return bounds;
  }

  public Set<String> paused() {
    return Set.copyOf(paused);
  }

  // For transitions

  @Override
  public long nextVersion(long above) {
    long version = Math.max(lastVersion, above) + 1;
    try {
      versions.reserve(version);
    } catch (IOException e) {
      throw failures.of(Kind.UNAVAILABLE, "no version can be reserved", e);
    }
    lastVersion = version;
    return version;
  }

  /** Returns unused versions before a close, when all writes are on disk. */
  public synchronized void giveVersionsBack() throws IOException {
    versions.giveBack(lastVersion);
  }

  @Override
  public long pending(String namespace) {
    return counts.pending(namespace);
  }

  @Override
  public boolean paused(String namespace) {
    return TimerStore.isPaused(paused, namespace);
  }

  @Override
  public @Nullable RequestAnswer answer(TimerKey key, String id) {
    RequestAnswer open = answers.getOrDefault(key, Map.of()).get(id);
    if (open != null) {
      return open;
    }
    try {
      byte[] value = database.get(Family.ANSWERS, Keys.answer(key, id));
      return value == null ? null : RecordCodec.decodeAnswer(key, id, value);
    } catch (RocksDBException e) {
      throw failures.lookup("cannot read the answer of request " + id, e);
    } catch (MalformedException e) {
      throw failures.lookup(key, e);
    }
  }

  // Steps

  /** A timer in a batch: its stored record, and its record after the steps so far. */
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

    @SuppressWarnings("ReferenceEquality") // an unchanged record is the same object
    boolean isChanged() {
      return after != (before == null ? null : before.record());
    }
  }

  public synchronized List<Outcome> commit(List<Change> changes) {
    checkSound();
    Map<TimerKey, Cell> cells = new LinkedHashMap<>(2 * changes.size());
    boolean onlyBegins = true;
    for (Change change : changes) {
      Cell cell = cells.computeIfAbsent(change.key(), Cell::new);
      boolean begin = change instanceof Change.Begin;
      cell.wantsPayload |= begin || change instanceof Change.Schedule;
      onlyBegins &= begin;
    }
    cells.values().forEach(this::read);
    try {
      List<Outcome> outcomes = new ArrayList<>(changes.size());
      for (Change change : changes) {
        outcomes.add(apply(requireNonNull(cells.get(change.key())), change));
      }
      write(cells.values(), sync && !onlyBegins);
      return outcomes;
    } finally {
      counts.discard();
      answers.clear();
    }
  }

  private void checkSound() {
    if (broken) {
      throw failures.of(Kind.UNAVAILABLE, "a write has failed; the database is opened again");
    }
  }

  private void read(Cell cell) {
    Stored known = claimed.get(cell.key);
    if (known == null) {
      known = stored(cell);
    }
    if (known != null) {
      cell.before = known;
      cell.after = known.record();
    }
  }

  private @Nullable Stored stored(Cell cell) {
    byte[] value = row(cell);
    return value == null ? null : decode(cell, value);
  }

  private byte @Nullable [] row(Cell cell) {
    try {
      return database.get(Family.TIMERS, cell.bytes);
    } catch (RocksDBException e) {
      throw failures.lookup("cannot read " + cell.key, e);
    }
  }

  private Stored decode(Cell cell, byte[] value) {
    try {
      return RecordCodec.decode(
          cell.key, value, cell.wantsPayload ? () -> payload(cell) : RecordCodec.LEFT_OUT);
    } catch (MalformedException e) {
      throw failures.lookup(cell.key, e);
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
      throw failures.lookup("cannot read the payload of " + cell.key, e);
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
      replace(cell, record);
    }
    RequestAnswer answer = RequestAnswer.of(change, outcome, this);
    if (answer != null) {
      answers.computeIfAbsent(cell.key, key -> new HashMap<>()).put(answer.request().id(), answer);
    }
    return outcome;
  }

  private void replace(Cell cell, @Nullable TimerRecord record) {
    if (cell.after != null) {
      counts.add(cell.after, -1);
    }
    if (record != null) {
      counts.add(record, 1);
    }
    cell.after = record;
  }

  // Writing

  private void write(Collection<Cell> cells, boolean synced) {
    Map<TimerKey, Stored> opened = new HashMap<>();
    try (Batch batch = new Batch(database)) {
      for (Cell cell : cells) {
        put(cell, batch, opened);
      }
      for (Map<String, RequestAnswer> ofTimer : answers.values()) {
        for (RequestAnswer answer : ofTimer.values()) {
          put(answer, batch);
          answersFrom = Math.min(answersFrom, answer.answeredAt());
        }
      }
      if (lastVersion != storedVersion) {
        batch.put(Family.META, Meta.lastVersion(), Meta.number(lastVersion));
      }
      if (batch.isEmpty()) {
        return;
      }
      counts.writeTo(batch);
      batch.write(synced);
      storedVersion = lastVersion;
      counts.accept();
      retain(cells, opened);
      bounds.raise();
    } catch (RocksDBException e) {
      throw failed(e);
    } catch (RuntimeException | Error e) {
      broken = true; // the state in memory may differ from the state on disk
      throw e;
    }
  }

  private void put(Cell cell, Batch batch, Map<TimerKey, Stored> opened) throws RocksDBException {
    TimerRecord after = cell.after;
    if (!cell.isChanged()) {
      return;
    }
    if (after == null) {
      rows.delete(cell.bytes, requireNonNull(cell.before), batch);
      return;
    }
    Stored stored = rows.put(cell.bytes, cell.before, after, batch);
    if (after.state() == TimerState.RUNNING
        && !stored.payloadApart()
        && PageBuilder.bytes(after, false) <= MAX_CLAIMED_BYTES) {
      opened.put(cell.key, stored);
    }
  }

  private static void put(RequestAnswer answer, Batch batch) throws RocksDBException {
    byte[] key = Keys.answer(answer.key(), answer.request().id());
    batch.put(Family.ANSWERS, key, RecordCodec.encode(answer));
    batch.put(Family.ANSWERS, Keys.answeredAt(answer.answeredAt(), key), RecordCodec.present());
  }

  private void retain(Collection<Cell> cells, Map<TimerKey, Stored> opened) {
    for (Cell cell : cells) {
      if (cell.isChanged()) {
        claimed.remove(cell.key);
      }
    }
    if (claimed.size() < MAX_CLAIMED) {
      claimed.putAll(opened);
    }
  }

  // Other changes

  public synchronized List<TimerRecord> lease(
      List<LeaseRequest> requests,
      int limit,
      long nowMillis,
      Supplier<ClaimToken> tokens,
      LocalLimits limits) {
    checkSound();
    try {
      List<Cell> cells = new ArrayList<>();
      List<TimerRecord> leased = new ArrayList<>();
      long bytes = 0;
      for (LeaseRequest request : requests) {
        int admitted = limits.admitted(request, counts.running(request.scope()), nowMillis);
        int before = leased.size();
        for (Cell cell :
            ready(
                request, Math.min(admitted, limit - cells.size()), PageBuilder.MAX_BYTES - bytes)) {
          TimerRecord current = requireNonNull(cell.after);
          TimerRecord record =
              Transitions.lease(current, tokens.get(), request.untilMillis(), nowMillis);
          replace(cell, record);
          cells.add(cell);
          leased.add(record);
          bytes += PageBuilder.bytes(record, true);
        }
        limits.claimed(request, leased.size() - before);
      }
      write(cells, sync);
      return leased;
    } finally {
      counts.discard();
    }
  }

  /** Finds ready timers of a queue, up to a number and a total size. */
  private List<Cell> ready(LeaseRequest request, int limit, long maxBytes) {
    int wanted = Math.min(request.max(), limit);
    if (wanted == 0
        || maxBytes <= 0
        || Scopes.isQueuePaused(paused, request.namespace(), request.queue())) {
      return List.of();
    }
    List<Cell> cells = new ArrayList<>();
    long[] bytes = new long[1];
    scanReady(
        request,
        key -> {
          Cell cell = readIfSound(Keys.ready(key).key());
          TimerRecord record = cell == null ? null : cell.after;
          if (cell != null && record != null && Rows.isInReadyIndex(record)) {
            cells.add(cell);
            bytes[0] += PageBuilder.bytes(record, true);
          }
          return cells.size() < wanted && bytes[0] < maxBytes;
        });
    return cells;
  }

  private void scanReady(LeaseRequest request, Predicate<byte[]> visitor) {
    scanReady(request.namespace(), request.queue(), visitor);
  }

  private void scanReady(String namespace, String queue, Predicate<byte[]> visitor) {
    scan(
        Family.READY,
        bounds.readyFrom(namespace, queue),
        Keys.behindAllOf(Keys.queue(namespace, queue)),
        visitor);
  }

  /** Returns when the first timer of each queue became ready. Does not wait for the monitor. */
  public Map<TimerKey, Long> readySince(Collection<TimerKey> queues) {
    Map<TimerKey, Long> since = new HashMap<>();
    for (TimerKey queue : queues) {
      scanReady(
          queue.namespace(),
          queue.id(),
          key -> {
            since.put(queue, Keys.ready(key).fireAt());
            return false;
          });
    }
    return since;
  }

  /**
   * Returns whether the index contains an entry of a queue. Does not wait for the monitor, and may
   * miss an entry that is being written.
   */
  public boolean hasReady(LeaseRequest request) {
    boolean[] found = new boolean[1];
    scanReady(
        request,
        key -> {
          found[0] = true;
          return false;
        });
    return found[0];
  }

  /** Reads the timer of an index entry; null if it cannot be read. */
  private @Nullable Cell readIfSound(TimerKey key) {
    Cell cell = new Cell(key);
    cell.wantsPayload = true;
    try {
      read(cell);
      return cell;
    } catch (StoreException e) {
      if (e.kind() != Kind.REJECTED) {
        throw e;
      }
      return null;
    }
  }

  /** Deletes finished timers that have not changed since they were read. Not synced to disk. */
  public synchronized void purge(List<Purge.Entry> entries) {
    checkSound();
    List<Cell> cells = new ArrayList<>();
    List<byte[]> astray = new ArrayList<>();
    for (Purge.Entry entry : entries) {
      Cell cell = new Cell(entry.timer);
      Stored stored = entry.stored;
      boolean isUnchanged = Arrays.equals(row(cell), entry.row);
      if (isUnchanged && stored == null) {
        astray.add(entry.index);
      } else if (isUnchanged && stored != null) {
        cell.before = stored;
        cell.after = stored.record();
        cells.add(cell);
      }
    }
    if (!astray.isEmpty()) {
      change(batch -> deleteAll(astray, batch));
    }
    try {
      cells.forEach(cell -> replace(cell, null));
      write(cells, false);
    } finally {
      counts.discard();
    }
  }

  private static void deleteAll(List<byte[]> astray, Batch batch) throws RocksDBException {
    for (byte[] key : astray) {
      batch.delete(Family.FINISHED, key);
    }
  }

  /** Implements {@link TimerStore#purgeAnswers}. Not synced to disk. */
  public synchronized int purgeAnswers(long answeredBefore, int limit) {
    checkSound();
    if (answeredBefore <= answersFrom) {
      return 0;
    }
    List<byte[]> old = new ArrayList<>();
    scan(
        Family.ANSWERS,
        Keys.answeredAt(answersFrom),
        Keys.answeredAt(answeredBefore),
        key -> {
          old.add(key);
          return old.size() < limit;
        });
    if (!old.isEmpty()) {
      change(
          false,
          batch -> {
            for (byte[] answeredAt : old) {
              batch.delete(Family.ANSWERS, answeredAt);
              batch.delete(Family.ANSWERS, Keys.answer(answeredAt));
            }
          });
    }
    answersFrom = old.size() < limit ? answeredBefore : Keys.answeredAt(old.get(limit - 1));
    return old.size();
  }

  private void scan(Family family, byte[] from, byte[] to, Predicate<byte[]> visitor) {
    try {
      database.scanReadable(
          family,
          from,
          to,
          null,
          at -> visitor.test(at.key()),
          why -> failures.damaged("cannot read the index " + family, why));
    } catch (RocksDBException e) {
      throw failures.reading("cannot read the index " + family, e);
    } catch (MalformedException e) {
      throw failures.of(Kind.UNAVAILABLE, "the index " + family + " cannot be read", e);
    }
  }

  // Import

  /** Ensures that every later version is above the given one, also after a crash. */
  public synchronized void raiseVersion(long version) {
    if (version > lastVersion) {
      change(batch -> batch.put(Family.META, Meta.lastVersion(), Meta.number(version)));
      lastVersion = version;
      storedVersion = version;
    }
  }

  /**
   * Stores imported records that are newer than the existing ones.
   *
   * @return the records that were stored
   */
  public synchronized List<TimerRecord> take(List<CopiedTimer> timers) {
    checkSound();
    Map<TimerKey, Cell> cells = new LinkedHashMap<>();
    timers.forEach(timer -> cells.computeIfAbsent(timer.record().key(), Cell::new));
    cells.values().forEach(this::read);
    try {
      List<TimerRecord> taken = new ArrayList<>();
      for (CopiedTimer timer : timers) {
        Cell cell = requireNonNull(cells.get(timer.record().key()));
        if (timer.isNewerThan(cell.after)) {
          TimerRecord record = ofOneOwner(timer.record());
          replace(cell, record);
          lastVersion = Math.max(lastVersion, record.version());
          taken.add(record);
        }
      }
      write(cells.values(), true);
      return taken;
    } finally {
      counts.discard();
    }
  }

  /**
   * A store of one owner makes no timer of a handler ready: such a timer is due instead. The engine
   * has decided about missed runs before it was ready. A run with a time of its own is not decided
   * about again.
   */
  private static TimerRecord ofOneOwner(TimerRecord record) {
    if (record.state() != TimerState.READY || record.definition().queue()) {
      return record;
    }
    boolean isFirst = record.attempt() == 0;
    TimerRecord.Builder copy =
        record
            .copy()
            .claim(null)
            .state(isFirst ? TimerState.SCHEDULED : TimerState.RETRYING, record.scheduledAt());
    if (isFirst && record.definition().isRecurring()) {
      copy.runAt(record.scheduledAt());
    }
    return copy.build();
  }

  public synchronized void pause(String scope) {
    change(batch -> batch.put(Family.META, Meta.paused(scope), RecordCodec.present()));
    paused.add(scope);
  }

  public synchronized void resume(String scope) {
    change(batch -> batch.delete(Family.META, Meta.paused(scope)));
    paused.remove(scope);
  }

  /** Begins a session, which makes the epoch of the previous one stale. */
  public synchronized long newEpoch() {
    change(batch -> batch.put(Family.META, Meta.epoch(), Meta.number(epoch + 1)));
    return ++epoch;
  }

  private interface Step {
    void addTo(Batch batch) throws RocksDBException;
  }

  private void change(Step step) {
    change(true, step);
  }

  private void change(boolean synced, Step step) {
    checkSound();
    try (Batch batch = new Batch(database)) {
      step.addTo(batch);
      batch.write(synced);
    } catch (RocksDBException e) {
      throw failed(e);
    } catch (RuntimeException | Error e) {
      broken = true;
      throw e;
    }
  }
}
