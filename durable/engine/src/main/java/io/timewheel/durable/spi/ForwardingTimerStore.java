// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store that forwards every call to another one. Extend it to observe or change some calls. Each
 * method calls the same method of the store below and no other method of this object.
 */
public class ForwardingTimerStore implements TimerStore {
  private final TimerStore store;

  /**
   * Creates a store on top of another one.
   *
   * @param store the store below
   */
  protected ForwardingTimerStore(TimerStore store) {
    this.store = requireNonNull(store, "store");
  }

  @Override
  public List<Outcome> commit(List<Change> changes) {
    return store.commit(changes);
  }

  @Override
  public StoreTraits traits() {
    return store.traits();
  }

  @Override
  public void start(StoreListener listener) {
    store.start(listener);
  }

  @Override
  public List<DueTimer> due(int shard, long until, @Nullable DuePosition after, int limit) {
    return store.due(shard, until, after, limit);
  }

  @Override
  public List<DueTimer> sweep(Collection<Integer> shards, long until, int limit) {
    return store.sweep(shards, until, limit);
  }

  @Override
  public List<DueTimer> releasable(
      int shard,
      HandlerNames handlers,
      Set<String> namespaces,
      @Nullable DueTimer after,
      int limit) {
    return store.releasable(shard, handlers, namespaces, after, limit);
  }

  @Override
  public @Nullable TimerRecord get(TimerKey key) {
    return store.get(key);
  }

  @Override
  public Map<TimerKey, TimerRecord> read(Collection<TimerKey> keys) {
    return store.read(keys);
  }

  @Override
  public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
    return store.page(query, after, limit);
  }

  @Override
  public TimerPage sorted(
      TimerQuery query, TimerOrder order, @Nullable DuePosition after, int limit) {
    return store.sorted(query, order, after, limit);
  }

  @Override
  public long acquire(
      String name, SharedLimit limit, String holder, long untilMillis, long nowMillis) {
    return store.acquire(name, limit, holder, untilMillis, nowMillis);
  }

  @Override
  public void release(String name, String holder) {
    store.release(name, holder);
  }

  @Override
  public long[] histogram(@Nullable String namespace, long[] bounds) {
    return store.histogram(namespace, bounds);
  }

  @Override
  public Map<String, Map<TimerState, Long>> counts() {
    return store.counts();
  }

  @Override
  public Map<TimerKey, Map<TimerState, Long>> queueCounts(@Nullable String namespace) {
    return store.queueCounts(namespace);
  }

  @Override
  public Map<TimerKey, Long> readySince(Collection<TimerKey> queues) {
    return store.readySince(queues);
  }

  @Override
  public List<TimerRecord> lease(
      List<LeaseRequest> requests, int limit, long nowMillis, Supplier<ClaimToken> tokens) {
    return store.lease(requests, limit, nowMillis, tokens);
  }

  @Override
  public List<String> readyHandlers(@Nullable String after, int limit) {
    return store.readyHandlers(after, limit);
  }

  @Override
  public void pause(String scope) {
    store.pause(scope);
  }

  @Override
  public void resume(String scope) {
    store.resume(scope);
  }

  @Override
  public Set<String> paused() {
    return store.paused();
  }

  @Override
  public int purge(long finishedBefore, long keep, int limit) {
    return store.purge(finishedBefore, keep, limit);
  }

  @Override
  public int purgeAnswers(long answeredBefore, int limit) {
    return store.purgeAnswers(answeredBefore, limit);
  }

  @Override
  public void copyTo(TimerSink sink) {
    store.copyTo(sink);
  }

  @Override
  public void beginImport(long lastVersion, Set<String> paused) {
    store.beginImport(lastVersion, paused);
  }

  @Override
  public void endImport() {
    store.endImport();
  }

  @Override
  public int importTimers(List<CopiedTimer> timers) {
    return store.importTimers(timers);
  }

  @Override
  public long clockOffsetMillis() {
    return store.clockOffsetMillis();
  }

  @Override
  public void close() {
    store.close();
  }
}
