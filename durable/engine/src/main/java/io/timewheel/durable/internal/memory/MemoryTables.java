// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.memory;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.HandlerNames;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.LocalLimits;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.PageBuilder;
import io.timewheel.durable.spi.RequestAnswer;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.Transitions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The data of the in-memory store: records and their indexes. Not thread-safe. */
public final class MemoryTables implements Transitions.Context {
  private final TreeMap<TimerKey, TimerRecord> records = new TreeMap<>();
  private final List<TreeMap<DuePosition, DueTimer>> due = new ArrayList<>();

  /** The blocked and held timers of each shard. */
  private final List<TreeMap<TimerKey, TimerRecord>> waiting = new ArrayList<>();

  private final Map<TimerKey, TreeSet<DuePosition>> ready = new HashMap<>();
  private final TreeMap<String, TreeSet<DuePosition>> handlersReady = new TreeMap<>();
  private final TreeSet<DuePosition> finished = new TreeSet<>();
  private final Map<String, Map<TimerState, Long>> counts = new HashMap<>();
  private final Set<String> paused = new HashSet<>();
  private final Map<TimerKey, Map<String, RequestAnswer>> answers = new HashMap<>();
  private final LocalLimits limits = new LocalLimits();
  private long lastVersion;

  public MemoryTables(int shards) {
    for (int i = 0; i < shards; i++) {
      due.add(new TreeMap<>());
      waiting.add(new TreeMap<>());
    }
  }

  public int shardOf(TimerKey key) {
    return Shards.of(key, due.size());
  }

  public Outcome apply(Change change) {
    TimerRecord current = records.get(change.key());
    Outcome outcome = Transitions.apply(current, change, this);
    TimerRecord record = outcome.record();
    if (record != null && outcome.changes(current)) {
      put(current, record);
    }
    RequestAnswer answer = RequestAnswer.of(change, outcome, this);
    if (answer != null) {
      answers
          .computeIfAbsent(answer.key(), key -> new LinkedHashMap<>())
          .put(answer.request().id(), answer);
    }
    return outcome;
  }

  private void put(@Nullable TimerRecord old, TimerRecord record) {
    if (old != null) {
      unindex(old);
    }
    records.put(record.key(), record);
    count(record, 1);
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
    count(record, -1);
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

  private void count(TimerRecord record, long change) {
    for (String scope : Scopes.counting(record)) {
      Map<TimerState, Long> states =
          counts.computeIfAbsent(scope, same -> new EnumMap<>(TimerState.class));
      if (states.merge(record.state(), change, Long::sum) == 0) {
        states.remove(record.state());
        if (states.isEmpty()) {
          counts.remove(scope);
        }
      }
    }
  }

  private static TimerKey queueOf(TimerRecord record) {
    return new TimerKey(record.key().namespace(), record.definition().handler());
  }

  private static DuePosition changedAt(TimerRecord record) {
    return new DuePosition(record.changedAt(), record.key());
  }

  // Data for transitions

  @Override
  public long nextVersion(long above) {
    lastVersion = Math.max(lastVersion, above) + 1;
    return lastVersion;
  }

  @Override
  public long pending(String namespace) {
    long pending = 0;
    for (Map.Entry<TimerState, Long> state : counts.getOrDefault(namespace, Map.of()).entrySet()) {
      pending += state.getKey().isFinished() ? 0 : state.getValue();
    }
    return pending;
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

  public Map<String, Map<TimerState, Long>> counts() {
    Map<String, Map<TimerState, Long>> copy = new HashMap<>();
    counts.forEach(
        (scope, states) -> {
          if (!Scopes.isQueue(scope)) {
            copy.put(scope, Map.copyOf(states));
          }
        });
    return copy;
  }

  public Map<TimerKey, Map<TimerState, Long>> queueCounts(@Nullable String namespace) {
    Map<TimerKey, Map<TimerState, Long>> copy = new HashMap<>();
    counts.forEach(
        (scope, states) -> {
          if (Scopes.isQueue(scope)) {
            TimerKey queue = Scopes.queueOf(scope);
            if (namespace == null || namespace.equals(queue.namespace())) {
              copy.put(queue, Map.copyOf(states));
            }
          }
        });
    return copy;
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

  /**
   * Stores a record unchanged if it is newer than the present one. Returns whether it was stored.
   */
  public boolean take(CopiedTimer timer) {
    TimerRecord present = records.get(timer.record().key());
    if (!timer.isNewerThan(present)) {
      return false;
    }
    put(present, timer.record());
    raiseVersion(timer.record().version());
    return true;
  }

  // Other changes

  public List<TimerRecord> lease(
      List<LeaseRequest> requests, int limit, long nowMillis, Supplier<ClaimToken> tokens) {
    List<TimerRecord> leased = new ArrayList<>();
    long bytes = 0;
    for (LeaseRequest request : requests) {
      TreeSet<DuePosition> queue = ready.get(new TimerKey(request.namespace(), request.queue()));
      if (queue != null && !Scopes.isQueuePaused(paused, request.namespace(), request.queue())) {
        long running =
            counts.getOrDefault(request.scope(), Map.of()).getOrDefault(TimerState.RUNNING, 0L);
        int admitted = limits.admitted(request, running, nowMillis);
        int wanted = Math.min(admitted, limit - leased.size());
        int before = leased.size();
        for (DuePosition position : queue.stream().limit(wanted).toList()) {
          if (bytes >= PageBuilder.MAX_BYTES) {
            return leased;
          }
          TimerRecord current = requireNonNull(records.get(position.key()));
          bytes += PageBuilder.bytes(current, true);
          TimerRecord record =
              Transitions.lease(current, tokens.get(), request.untilMillis(), nowMillis);
          put(current, record);
          leased.add(record);
        }
        limits.claimed(request, leased.size() - before);
      }
    }
    return leased;
  }

  public LocalLimits limits() {
    return limits;
  }

  public List<String> readyHandlers(@Nullable String after, int limit) {
    return (after == null ? handlersReady : handlersReady.tailMap(after, false))
        .keySet().stream().limit(limit).toList();
  }

  public List<TimerRecord> leaseForHandlers(
      Map<String, Integer> wanted, long untilMillis, long nowMillis, Supplier<ClaimToken> tokens) {
    List<TimerRecord> leased = new ArrayList<>();
    wanted.forEach(
        (handler, max) -> {
          List<TimerRecord> free =
              handlersReady.getOrDefault(handler, new TreeSet<>()).stream()
                  .map(position -> records.get(position.key()))
                  .filter(record -> record != null && !paused(record.key().namespace()))
                  .limit(max)
                  .toList();
          for (TimerRecord current : free) {
            TimerRecord record = Transitions.lease(current, tokens.get(), untilMillis, nowMillis);
            put(current, record);
            leased.add(record);
          }
        });
    return leased;
  }

  public void pause(String scope) {
    paused.add(scope);
  }

  public void resume(String scope) {
    paused.remove(scope);
  }

  public int purge(long finishedBefore, long keep, int limit) {
    int purged = 0;
    Iterator<DuePosition> oldest = List.copyOf(finished).iterator();
    while (purged < limit && oldest.hasNext()) {
      DuePosition position = oldest.next();
      TimerRecord record = records.get(position.key());
      if (record == null || (position.fireAt() >= finishedBefore && finished.size() <= keep)) {
        break;
      }
      unindex(record);
      records.remove(position.key());
      purged++;
    }
    return purged;
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
