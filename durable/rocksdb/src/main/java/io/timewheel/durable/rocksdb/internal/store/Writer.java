// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.store;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.rocksdb.internal.file.Batch;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.file.VersionFloor;
import io.timewheel.durable.rocksdb.internal.format.Entries;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.rocksdb.internal.format.Meta;
import io.timewheel.durable.rocksdb.internal.store.Cells.Row;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.LocalLimits;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.batch.Decision;
import io.timewheel.durable.spi.format.RecordCodec.Stored;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.Facts;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.RequestAnswer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
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
  private final Database database;
  private final Failures failures;
  private final boolean sync;
  private final VersionFloor versions;
  private final Counts counts = new Counts();
  private final Set<String> paused = ConcurrentHashMap.newKeySet();
  private final FrontBounds bounds;
  private final Rows rows;
  private final Cells cells;
  private final Answers answers;
  private final ReadyIndex ready;

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
    cells = new Cells(database, failures);
    answers = new Answers(database, failures);
    ready = new ReadyIndex(database, failures, bounds);
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

  public ReadyIndex ready() {
    return ready;
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
    return answers.get(key, id);
  }

  // Steps

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
    timers.values().forEach(cells::read);
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

  // Writing

  private void write(Decision decision, Collection<Row> timers, boolean synced) {
    try (Batch batch = new Batch(database)) {
      for (Row timer : timers) {
        put(timer, batch);
      }
      for (RequestAnswer answer : decision.answers()) {
        answers.put(answer, batch);
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
      cells.written(timers);
      bounds.raise();
    } catch (RocksDBException e) {
      throw failed(e);
    } catch (RuntimeException | Error e) {
      broken = true; // the state in memory may differ from the state on disk
      throw e;
    }
  }

  private void put(Row timer, Batch batch) throws RocksDBException {
    TimerRecord after = timer.after();
    if (!timer.isChanged()) {
      return;
    }
    if (after == null) {
      rows.delete(timer.bytes, requireNonNull(timer.stored), batch);
      timer.stored = null;
    } else {
      timer.stored = rows.put(timer.bytes, timer.stored, after, batch);
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
      ready.scan(
          request.namespace(),
          request.queue(),
          key -> {
            Row timer = cells.readIfSound(Keys.ready(key).key());
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

  /** Deletes finished timers that have not changed since they were read. Not synced to disk. */
  public synchronized void purge(List<Purge.Entry> entries) {
    checkSound();
    Decision decision = new Decision(this);
    List<Row> timers = new ArrayList<>();
    List<byte[]> astray = new ArrayList<>();
    for (Purge.Entry entry : entries) {
      Row timer = new Row(entry.timer);
      Stored stored = entry.stored;
      boolean isUnchanged = Arrays.equals(cells.row(timer), entry.row);
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
    List<byte[]> old = answers.before(answeredBefore, limit);
    if (!old.isEmpty()) {
      change(false, batch -> Answers.delete(old, batch));
    }
    answers.purged(old, answeredBefore, limit);
    return old.size();
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
    found.values().forEach(cells::read);
    Decision decision = new Decision(this);
    List<TimerRecord> taken = new ArrayList<>();
    for (CopiedTimer timer : timers) {
      Row row = requireNonNull(found.get(timer.record().key()));
      if (timer.isNewerThan(row.after())) {
        TimerRecord record = Rows.ofOneOwner(timer.record());
        decision.replace(row, record);
        lastVersion = Math.max(lastVersion, record.version());
        taken.add(record);
      }
    }
    write(decision, found.values(), true);
    return taken;
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
