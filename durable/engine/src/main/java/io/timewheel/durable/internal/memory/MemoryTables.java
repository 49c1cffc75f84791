// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.memory;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.LocalLimits;
import io.timewheel.durable.spi.PageBuilder;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.batch.Cell;
import io.timewheel.durable.spi.batch.Decision;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.Facts;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.RequestAnswer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The data of the in-memory store: records and their indexes. Not thread-safe. */
public final class MemoryTables implements Facts {
  private final TreeMap<TimerKey, TimerRecord> records = new TreeMap<>();
  private final List<TreeMap<DuePosition, DueTimer>> due = new ArrayList<>();

  /** The blocked and held timers of each shard. */
  private final List<TreeMap<TimerKey, TimerRecord>> waiting = new ArrayList<>();

  private final Map<TimerKey, TreeSet<DuePosition>> ready = new HashMap<>();
  private final TreeMap<String, TreeSet<DuePosition>> handlersReady = new TreeMap<>();
  private final TreeSet<DuePosition> finished = new TreeSet<>();
  private final StateCounts counts = new StateCounts();
  private final Set<String> paused = new HashSet<>();
  private final Map<TimerKey, Map<String, RequestAnswer>> answers = new HashMap<>();
  private final LocalLimits limits = new LocalLimits();
  private final long[] epochs;
  private long lastVersion;

  public MemoryTables(int shards) {
    epochs = new long[shards];
    for (int i = 0; i < shards; i++) {
      due.add(new TreeMap<>());
      waiting.add(new TreeMap<>());
    }
  }

  public int shardOf(TimerKey key) {
    return Shards.of(key, due.size());
  }

  /** {@return the next epoch of a shard, whose earlier owners are then stale} */
  public long nextEpoch(int shard) {
    return ++epochs[shard];
  }

  public List<Outcome> commit(List<Change> changes) {
    Decision decision = new Decision(this);
    Map<TimerKey, Cell> cells = new LinkedHashMap<>();
    List<Outcome> outcomes =
        changes.stream()
            .map(change -> decision.decide(cells.computeIfAbsent(change.key(), this::cell), change))
            .toList();
    apply(decision, cells.values());
    return outcomes;
  }

  private Cell cell(TimerKey key) {
    Cell cell = new Cell(key);
    cell.found(records.get(key));
    return cell;
  }

  private void apply(Decision decision, Collection<Cell> cells) {
    for (Cell cell : cells) {
      if (cell.isChanged()) {
        TimerRecord before = cell.before();
        if (before != null) {
          unindex(before);
        }
        TimerRecord after = cell.after();
        if (after == null) {
          records.remove(cell.key());
        } else {
          put(after);
        }
      }
    }
    counts.add(decision.counts());
    for (RequestAnswer answer : decision.answers()) {
      answers
          .computeIfAbsent(answer.key(), key -> new LinkedHashMap<>())
          .put(answer.request().id(), answer);
    }
  }

  private void put(TimerRecord record) {
    records.put(record.key(), record);
    if (record.isIndexed()) {
      DueTimer entry = record.due();
      due.get(shardOf(record.key())).put(entry.position(), entry);
    }
    if (record.state() == TimerState.BLOCKED || record.isHeld()) {
      waiting.get(shardOf(record.key())).put(record.key(), record);
    }
    if (record.state() == TimerState.READY && !record.definition().queue()) {
      handlersReady
          .computeIfAbsent(record.definition().handler(), handler -> new TreeSet<>())
          .add(changedAt(record));
    } else if (record.state() == TimerState.READY) {
      ready.computeIfAbsent(queueOf(record), queue -> new TreeSet<>()).add(changedAt(record));
    }
    if (record.state().isFinished()) {
      finished.add(changedAt(record));
    }
  }

  private void unindex(TimerRecord record) {
    due.get(shardOf(record.key())).remove(record.due().position());
    waiting.get(shardOf(record.key())).remove(record.key());
    finished.remove(changedAt(record));
    TreeSet<DuePosition> handler = handlersReady.get(record.definition().handler());
    if (handler != null) {
      handler.remove(changedAt(record));
      if (handler.isEmpty()) {
        handlersReady.remove(record.definition().handler());
      }
    }
    TreeSet<DuePosition> queue = ready.get(queueOf(record));
    if (queue != null) {
      queue.remove(changedAt(record));
      if (queue.isEmpty()) {
        ready.remove(queueOf(record));
      }
    }
  }

  private static TimerKey queueOf(TimerRecord record) {
    return new TimerKey(record.key().namespace(), record.definition().handler());
  }

  private static DuePosition changedAt(TimerRecord record) {
    return new DuePosition(record.changedAt(), record.key());
  }

  // Facts

  @Override
  public long nextVersion(long above) {
    lastVersion = Math.max(lastVersion, above) + 1;
    return lastVersion;
  }

  @Override
  public long pending(String namespace) {
    return counts.unfinished(namespace);
  }

  @Override
  public boolean isStale(Change change) {
    return change.epoch() != epochs[shardOf(change.key())];
  }

  @Override
  public boolean paused(String namespace) {
    return TimerStore.isPaused(paused, namespace);
  }

  @Override
  public @Nullable RequestAnswer answer(TimerKey key, String id) {
    return answers.getOrDefault(key, Map.of()).get(id);
  }

  // Reads

  @Nullable
  public TimerRecord get(TimerKey key) {
    return records.get(key);
  }

  public Map<TimerKey, TimerRecord> read(Collection<TimerKey> keys) {
    Map<TimerKey, TimerRecord> found = new HashMap<>();
    for (TimerKey key : keys) {
      TimerRecord record = records.get(key);
      if (record != null) {
        found.put(key, record);
      }
    }
    return found;
  }

  public List<DueTimer> due(int shard, long until, @Nullable DuePosition after, int limit) {
    TreeMap<DuePosition, DueTimer> index = due.get(shard);
    List<DueTimer> found = new ArrayList<>();
    for (DueTimer entry : (after == null ? index : index.tailMap(after, false)).values()) {
      if (entry.fireAt() >= until || found.size() == limit) {
        break;
      }
      found.add(entry);
    }
    return found;
  }

  public List<DueTimer> releasable(
      int shard,
      HandlerNames handlers,
      Set<String> namespaces,
      @Nullable DueTimer after,
      int limit) {
    TreeMap<TimerKey, TimerRecord> all = waiting.get(shard);
    return (after == null ? all : all.tailMap(after.key(), false))
        .values().stream()
            .filter(record -> record.isReleasable(handlers, namespaces))
            .limit(limit)
            .map(TimerRecord::due)
            .toList();
  }

  public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
    PageBuilder page = new PageBuilder(query, limit);
    NavigableMap<TimerKey, TimerRecord> rest =
        after == null ? records : records.tailMap(after, false);
    for (TimerRecord record : rest.values()) {
      if (query.matches(record)) {
        if (page.isFull()) {
          return page.build(false);
        }
        page.add(record);
      }
    }
    return page.build(true);
  }

  public TimerPage sorted(
      TimerQuery query, TimerOrder order, @Nullable DuePosition after, int limit) {
    Comparator<DuePosition> comparator = order.comparator();
    PageBuilder page = new PageBuilder(query, limit);
    Iterator<TimerRecord> rest =
        records.values().stream()
            .filter(query::matches)
            .filter(
                record -> after == null || comparator.compare(order.position(record), after) > 0)
            .sorted(Comparator.comparing(order::position, comparator))
            .iterator();
    while (rest.hasNext()) {
      TimerRecord record = rest.next();
      if (page.isFull()) {
        return page.build(false);
      }
      page.add(record);
    }
    return page.build(true);
  }

  public long[] histogram(@Nullable String namespace, long[] bounds) {
    long[] buckets = new long[bounds.length - 1];
    for (TimerRecord record : records.values()) {
      boolean waits =
          record.state() == TimerState.SCHEDULED || record.state() == TimerState.RETRYING;
      if (waits && (namespace == null || namespace.equals(record.key().namespace()))) {
        for (int i = 0; i < buckets.length; i++) {
          if (record.fireAt() >= bounds[i] && record.fireAt() < bounds[i + 1]) {
            buckets[i]++;
          }
        }
      }
    }
    return buckets;
  }

  public StateCounts counts() {
    return counts;
  }

  public Map<TimerKey, Long> readySince(Collection<TimerKey> queues) {
    Map<TimerKey, Long> since = new HashMap<>();
    for (TimerKey queue : queues) {
      TreeSet<DuePosition> timers = ready.get(queue);
      if (timers != null) {
        since.put(queue, timers.first().fireAt());
      }
    }
    return since;
  }

  public Set<String> paused() {
    return Set.copyOf(paused);
  }

  // Copies

  public long lastVersion() {
    return lastVersion;
  }

  public List<TimerRecord> all() {
    return List.copyOf(records.values());
  }

  /** Makes all versions that are assigned from now on exceed this one. */
  public void raiseVersion(long version) {
    lastVersion = Math.max(lastVersion, version);
  }

  /** Stores records unchanged that are newer than the present ones. Returns those stored. */
  public List<TimerRecord> take(List<CopiedTimer> timers) {
    Decision decision = new Decision(this);
    Map<TimerKey, Cell> cells = new LinkedHashMap<>();
    List<TimerRecord> taken = new ArrayList<>();
    for (CopiedTimer timer : timers) {
      Cell cell = cells.computeIfAbsent(timer.record().key(), this::cell);
      if (timer.isNewerThan(cell.after())) {
        decision.replace(cell, timer.record());
        raiseVersion(timer.record().version());
        taken.add(timer.record());
      }
    }
    apply(decision, cells.values());
    return taken;
  }

  // Other changes

  public List<TimerRecord> lease(
      List<LeaseRequest> requests, int limit, long nowMillis, Supplier<ClaimToken> tokens) {
    Decision decision = new Decision(this);
    Ready timers = new Ready(nowMillis);
    return leased(decision, decision.lease(requests, limit, timers, tokens, nowMillis));
  }

  private List<TimerRecord> leased(Decision decision, List<Cell> cells) {
    apply(decision, cells);
    return cells.stream().map(cell -> requireNonNull(cell.after())).toList();
  }

  /** The ready timers of queues. */
  private final class Ready implements Decision.ReadyTimers<Cell> {
    private final long nowMillis;

    Ready(long nowMillis) {
      this.nowMillis = nowMillis;
    }

    @Override
    public int admitted(LeaseRequest request) {
      return Scopes.isQueuePaused(paused, request.namespace(), request.queue())
          ? 0
          : limits.admitted(request, counts.of(request.scope(), TimerState.RUNNING), nowMillis);
    }

    @Override
    public void visit(LeaseRequest request, Predicate<Cell> visitor) {
      var timers =
          request.isForHandler() ? handlersReady.get(request.queue()) : ready.get(request.source());
      for (DuePosition position : timers == null ? new TreeSet<DuePosition>() : timers) {
        boolean isPaused = request.isForHandler() && paused(position.key().namespace());
        if (!isPaused && !visitor.test(cell(position.key()))) {
          break;
        }
      }
    }

    @Override
    public void claimed(LeaseRequest request, int claimed) {
      limits.claimed(request, claimed);
    }
  }

  public LocalLimits limits() {
    return limits;
  }

  public List<String> readyHandlers(@Nullable String after, int limit) {
    return (after == null ? handlersReady : handlersReady.tailMap(after, false))
        .keySet().stream().limit(limit).toList();
  }

  public void pause(String scope) {
    paused.add(scope);
  }

  public void resume(String scope) {
    paused.remove(scope);
  }

  public int purge(long finishedBefore, long keep, int limit) {
    Decision decision = new Decision(this);
    List<Cell> purged = new ArrayList<>();
    for (DuePosition oldest : finished) {
      boolean isKept = oldest.fireAt() >= finishedBefore && finished.size() - purged.size() <= keep;
      if (isKept || purged.size() == limit) {
        break;
      }
      Cell cell = cell(oldest.key());
      decision.replace(cell, null);
      purged.add(cell);
    }
    apply(decision, purged);
    return purged.size();
  }

  public int purgeAnswers(long answeredBefore, int limit) {
    List<RequestAnswer> old =
        answers.values().stream()
            .flatMap(ofTimer -> ofTimer.values().stream())
            .filter(answer -> answer.answeredAt() < answeredBefore)
            .sorted(
                Comparator.comparingLong(RequestAnswer::answeredAt)
                    .thenComparing(RequestAnswer::key)
                    .thenComparing(answer -> answer.request().id()))
            .limit(limit)
            .toList();
    for (RequestAnswer answer : old) {
      answers.computeIfPresent(
          answer.key(),
          (key, ofTimer) -> {
            ofTimer.remove(answer.request().id());
            return ofTimer.isEmpty() ? null : ofTimer;
          });
    }
    return old.size();
  }
}
