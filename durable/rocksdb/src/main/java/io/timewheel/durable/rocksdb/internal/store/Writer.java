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
import io.timewheel.durable.rocksdb.internal.format.Entries;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.rocksdb.internal.format.Meta;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.Facts;
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
import io.timewheel.durable.spi.batch.Cell;
import io.timewheel.durable.spi.batch.Decision;
import io.timewheel.durable.spi.format.MalformedException;
import io.timewheel.durable.spi.format.RecordCodec;
import io.timewheel.durable.spi.format.RecordCodec.Stored;
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
public final class Writer implements Facts {
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

  // Facts

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
  public boolean isStale(Change change) {
    return change.epoch() != epoch;
  }

  @Override
  public @Nullable RequestAnswer answer(TimerKey key, String id) {
    try {
      byte[] value = database.get(Family.ANSWERS, Keys.answer(key, id));
      return value == null ? null : Entries.decodeAnswer(key, id, value);
    } catch (RocksDBException e) {
      throw failures.lookup("cannot read the answer of request " + id, e);
    } catch (MalformedException e) {
      throw failures.lookup(key, e);
    }
  }

  // Steps

  /** A timer in a batch, and how it is stored. */
  private static final class Row extends Cell {
    final byte[] bytes;
    boolean wantsPayload;
    @Nullable Stored stored;

    Row(TimerKey key) {
      super(key);
      bytes = Keys.timer(key);
    }

    void found(Stored row) {
      stored = row;
      found(row.record());
    }
  }

  public synchronized List<Outcome> commit(List<Change> changes) {
    checkSound();
    Map<TimerKey, Row> timers = new LinkedHashMap<>(2 * changes.size());
    boolean onlyBegins = true;
    for (Change change : changes) {
      Row timer = timers.computeIfAbsent(change.key(), Row::new);
      boolean begin = change instanceof Change.Begin;
      timer.wantsPayload |= begin || change instanceof Change.Schedule;
      onlyBegins &= begin;
    }
    timers.values().forEach(this::read);
    Decision decision = new Decision(this);
    List<Outcome> outcomes = new ArrayList<>(changes.size());
    for (Change change : changes) {
      outcomes.add(decision.decide(requireNonNull(timers.get(change.key())), change));
    }
    write(decision, timers.values(), sync && !onlyBegins);
    return outcomes;
  }

  private void checkSound() {
    if (broken) {
      throw failures.of(Kind.UNAVAILABLE, "a write has failed; the database is opened again");
    }
  }

  private void read(Row timer) {
    Stored known = claimed.get(timer.key());
    if (known == null) {
      known = stored(timer);
    }
    if (known != null) {
      timer.found(known);
    }
  }

  private @Nullable Stored stored(Row timer) {
    byte[] value = row(timer);
    return value == null ? null : decode(timer, value);
  }

  private byte @Nullable [] row(Row timer) {
    try {
      return database.get(Family.TIMERS, timer.bytes);
    } catch (RocksDBException e) {
      throw failures.lookup("cannot read " + timer.key(), e);
    }
  }

  private Stored decode(Row timer, byte[] value) {
    try {
      return RecordCodec.decode(
          timer.key(), value, timer.wantsPayload ? () -> payload(timer) : RecordCodec.LEFT_OUT);
    } catch (MalformedException e) {
      throw failures.lookup(timer.key(), e);
    }
  }

  private byte[] payload(Row timer) {
    try {
      byte[] payload = database.get(Family.PAYLOADS, timer.bytes);
      if (payload == null) {
        throw new MalformedException("its payload is missing");
      }
      return payload;
    } catch (RocksDBException e) {
      throw failures.lookup("cannot read the payload of " + timer.key(), e);
    }
  }

  // Writing

  private void write(Decision decision, Collection<Row> timers, boolean synced) {
    Map<TimerKey, Stored> opened = new HashMap<>();
    try (Batch batch = new Batch(database)) {
      for (Row timer : timers) {
        put(timer, batch, opened);
      }
      for (RequestAnswer answer : decision.answers()) {
        put(answer, batch);
        answersFrom = Math.min(answersFrom, answer.answeredAt());
      }
      if (lastVersion != storedVersion) {
        batch.put(Family.META, Meta.lastVersion(), Meta.number(lastVersion));
      }
      if (batch.isEmpty()) {
        return;
      }
      counts.write(decision.counts(), batch);
      batch.write(synced);
      storedVersion = lastVersion;
      counts.add(decision.counts());
      retain(timers, opened);
      bounds.raise();
    } catch (RocksDBException e) {
      throw failed(e);
    } catch (RuntimeException | Error e) {
      broken = true; // the state in memory may differ from the state on disk
      throw e;
    }
  }

  private void put(Row timer, Batch batch, Map<TimerKey, Stored> opened) throws RocksDBException {
    TimerRecord after = timer.after();
    if (!timer.isChanged()) {
      return;
    }
    if (after == null) {
      rows.delete(timer.bytes, requireNonNull(timer.stored), batch);
      return;
    }
    Stored stored = rows.put(timer.bytes, timer.stored, after, batch);
    if (after.state() == TimerState.RUNNING
        && !stored.payloadApart()
        && PageBuilder.bytes(after, false) <= MAX_CLAIMED_BYTES) {
      opened.put(timer.key(), stored);
    }
  }

  private static void put(RequestAnswer answer, Batch batch) throws RocksDBException {
    byte[] key = Keys.answer(answer.key(), answer.request().id());
    batch.put(Family.ANSWERS, key, Entries.encode(answer));
    batch.put(Family.ANSWERS, Keys.answeredAt(answer.answeredAt(), key), Entries.present());
  }

  private void retain(Collection<Row> timers, Map<TimerKey, Stored> opened) {
    for (Row timer : timers) {
      if (timer.isChanged()) {
        claimed.remove(timer.key());
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
    Decision decision = new Decision(this);
    List<Row> leased =
        decision.lease(requests, limit, new Ready(limits, nowMillis), tokens, nowMillis);
    write(decision, leased, sync);
    return leased.stream().map(timer -> requireNonNull(timer.after())).toList();
  }

  /** The ready timers of queues. */
  private final class Ready implements Decision.ReadyTimers<Row> {
    private final LocalLimits limits;
    private final long nowMillis;

    Ready(LocalLimits limits, long nowMillis) {
      this.limits = limits;
      this.nowMillis = nowMillis;
    }

    @Override
    public int admitted(LeaseRequest request) {
      return Scopes.isQueuePaused(paused, request.namespace(), request.queue())
          ? 0
          : limits.admitted(request, counts.running(request.scope()), nowMillis);
    }

    @Override
    public void visit(LeaseRequest request, Predicate<Row> visitor) {
      scanReady(
          request,
          key -> {
            Row timer = readIfSound(Keys.ready(key).key());
            TimerRecord record = timer == null ? null : timer.after();
            return timer == null
                || record == null
                || !Rows.isInReadyIndex(record)
                || visitor.test(timer);
          });
    }

    @Override
    public void claimed(LeaseRequest request, int claimed) {
      limits.claimed(request, claimed);
    }
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
  private @Nullable Row readIfSound(TimerKey key) {
    Row timer = new Row(key);
    timer.wantsPayload = true;
    try {
      read(timer);
      return timer;
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
    Decision decision = new Decision(this);
    List<Row> timers = new ArrayList<>();
    List<byte[]> astray = new ArrayList<>();
    for (Purge.Entry entry : entries) {
      Row timer = new Row(entry.timer);
      Stored stored = entry.stored;
      boolean isUnchanged = Arrays.equals(row(timer), entry.row);
      if (isUnchanged && stored == null) {
        astray.add(entry.index);
      } else if (isUnchanged && stored != null) {
        timer.found(stored);
        decision.replace(timer, null);
        timers.add(timer);
      }
    }
    if (!astray.isEmpty()) {
      change(batch -> deleteAll(astray, batch));
    }
    write(decision, timers, false);
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
    Map<TimerKey, Row> found = new LinkedHashMap<>();
    timers.forEach(timer -> found.computeIfAbsent(timer.record().key(), Row::new));
    found.values().forEach(this::read);
    Decision decision = new Decision(this);
    List<TimerRecord> taken = new ArrayList<>();
    for (CopiedTimer timer : timers) {
      Row row = requireNonNull(found.get(timer.record().key()));
      if (timer.isNewerThan(row.after())) {
        TimerRecord record = ofOneOwner(timer.record());
        decision.replace(row, record);
        lastVersion = Math.max(lastVersion, record.version());
        taken.add(record);
      }
    }
    write(decision, found.values(), true);
    return taken;
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
    change(batch -> batch.put(Family.META, Meta.paused(scope), Entries.present()));
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
