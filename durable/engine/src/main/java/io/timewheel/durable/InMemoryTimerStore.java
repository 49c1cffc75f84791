// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.memory.MemoryTables;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.SharedLimit;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerSink;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Stores timers in memory, for tests and experiments. The timers do not survive the process.
 *
 * <p>The data outlives a session. A test can close a {@link DurableTimer} and open the data again
 * with {@link #reopen}, as after a restart. Several sessions can share the data, as the nodes of a
 * cluster share a database: see {@link #join} and {@link #takeShard}.
 */
public final class InMemoryTimerStore implements TimerStore {
  private final Data data;
  private final boolean shared;
  private volatile boolean closed;
  private volatile @Nullable StoreListener listener;

  /** The data that the sessions share. Its own lock guards it. */
  private static final class Data {
    final StoreTraits traits;
    final MemoryTables tables;
    final @Nullable InMemoryTimerStore[] owners;
    final List<InMemoryTimerStore> sessions = new CopyOnWriteArrayList<>();
    volatile boolean notifications = true;

    Data(StoreTraits traits) {
      this.traits = traits;
      tables = new MemoryTables(traits.shards());
      owners = new InMemoryTimerStore[traits.shards()];
    }
  }

  private InMemoryTimerStore(Data data, boolean shared) {
    this.data = data;
    this.shared = shared;
  }

  /** {@return an empty store} */
  public static InMemoryTimerStore create() {
    return create(StoreTraits.embedded());
  }

  /**
   * Creates an empty store with the given traits.
   *
   * @param traits the traits
   * @return the store
   */
  public static InMemoryTimerStore create(StoreTraits traits) {
    return new InMemoryTimerStore(new Data(requireNonNull(traits, "traits")), false);
  }

  /**
   * Returns a new session on the same data that takes all shards, like a restarted process. From
   * its start on, changes of the previous owners are refused.
   *
   * @return the session
   */
  public InMemoryTimerStore reopen() {
    return new InMemoryTimerStore(data, false);
  }

  /**
   * Returns a new session on the same data, like a node that joins a cluster. It owns no shards
   * until {@link #takeShard}.
   *
   * @return the session
   */
  public InMemoryTimerStore join() {
    return new InMemoryTimerStore(data, true);
  }

  /**
   * Gives a shard to this session, whatever its present owner. The epoch is new even if this
   * session owned the shard before.
   *
   * @param shard the shard
   */
  public void takeShard(int shard) {
    StoreListener mine = requireNonNull(listener, "not started");
    InMemoryTimerStore before;
    long epoch;
    synchronized (data) {
      before = data.owners[shard];
      data.owners[shard] = this;
      epoch = data.tables.nextEpoch(shard);
    }
    if (before != null && !before.closed && before.listener != null) {
      before.listener.lost(shard);
    }
    mine.acquired(shard, epoch);
  }

  /**
   * Sets whether sessions are notified of timers that other sessions add (default: true).
   *
   * @param notifications true to notify sessions
   */
  public void notifications(boolean notifications) {
    data.notifications = notifications;
  }

  @Override
  public StoreTraits traits() {
    return data.traits;
  }

  @Override
  public void start(StoreListener engine) {
    listener = engine;
    if (!shared) {
      data.sessions.clear(); // it replaces all other sessions
    }
    data.sessions.add(this);
    if (shared) {
      tellHandlers();
    } else {
      for (int shard = 0; shard < data.traits.shards(); shard++) {
        takeShard(shard);
      }
    }
  }

  /** Reports to all sessions the handlers that at least one of them has. */
  private void tellHandlers() {
    List<StoreListener> live = new ArrayList<>();
    for (InMemoryTimerStore session : data.sessions) {
      if (session.listener != null) {
        live.add(session.listener);
      }
    }
    HandlerNames known = HandlerNames.union(live.stream().map(StoreListener::handlers).toList());
    live.forEach(session -> session.known(known));
  }

  @Override
  public List<Outcome> commit(List<Change> changes) {
    List<Outcome> outcomes = locked(() -> data.tables.commit(changes));
    if (data.notifications) {
      outcomes.forEach(this::notification);
    }
    return outcomes;
  }

  private void notification(Outcome outcome) {
    TimerRecord record = outcome.record();
    if (record == null) {
      return;
    }
    int shard = data.tables.shardOf(record.key());
    InMemoryTimerStore owner;
    synchronized (data) {
      owner = data.owners[shard];
    }
    if (record.isIndexed() && owner != this && owner != null && owner.listener != null) {
      owner.listener.added(shard, record.fireAt());
    }
    if (record.state() == TimerState.READY) {
      for (InMemoryTimerStore session : data.sessions) {
        if (session != this && session.listener != null) {
          ready(session.listener, record);
        }
      }
    }
  }

  private static void ready(StoreListener engine, TimerRecord record) {
    String handler = record.definition().handler();
    if (record.definition().queue()) {
      engine.ready(record.key().namespace(), handler);
    } else {
      engine.ready(handler);
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new StoreException(StoreException.Kind.UNAVAILABLE, "the session is closed", null);
    }
  }

  private <T extends @Nullable Object> T locked(Supplier<T> read) {
    synchronized (data) {
      checkOpen();
      return read.get();
    }
  }

  @Override
  public List<DueTimer> due(int shard, long until, @Nullable DuePosition after, int limit) {
    return locked(() -> data.tables.due(shard, until, after, limit));
  }

  @Override
  public List<DueTimer> releasable(
      int shard,
      HandlerNames handlers,
      Set<String> namespaces,
      @Nullable DueTimer after,
      int limit) {
    return locked(() -> data.tables.releasable(shard, handlers, namespaces, after, limit));
  }

  @Override
  public @Nullable TimerRecord get(TimerKey key) {
    return this.<@Nullable TimerRecord>locked(() -> data.tables.get(key));
  }

  @Override
  public Map<TimerKey, TimerRecord> read(Collection<TimerKey> keys) {
    return locked(() -> data.tables.read(keys));
  }

  @Override
  public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
    return locked(() -> data.tables.page(query, after, limit));
  }

  @Override
  public TimerPage sorted(
      TimerQuery query, TimerOrder order, @Nullable DuePosition after, int limit) {
    return locked(() -> data.tables.sorted(query, order, after, limit));
  }

  @Override
  public long acquire(
      String name, SharedLimit limit, String holder, long untilMillis, long nowMillis) {
    return data.tables.limits().acquire(name, limit, holder, untilMillis, nowMillis);
  }

  @Override
  public void release(String name, String holder) {
    data.tables.limits().release(name, holder);
  }

  @Override
  public long[] histogram(@Nullable String namespace, long[] bounds) {
    return locked(() -> data.tables.histogram(namespace, bounds));
  }

  @Override
  public Map<String, Map<TimerState, Long>> counts() {
    return locked(() -> data.tables.counts().namespaces());
  }

  @Override
  public Map<TimerKey, Map<TimerState, Long>> queueCounts(@Nullable String namespace) {
    return locked(() -> data.tables.counts().queues(namespace));
  }

  @Override
  public Map<TimerKey, Long> readySince(Collection<TimerKey> queues) {
    return locked(() -> data.tables.readySince(queues));
  }

  @Override
  public List<TimerRecord> lease(
      List<LeaseRequest> requests, int limit, long nowMillis, Supplier<ClaimToken> tokens) {
    List<TimerRecord> leased = locked(() -> data.tables.lease(requests, limit, nowMillis, tokens));
    if (data.notifications) {
      leased.forEach(record -> notification(new Outcome(Outcome.Answer.APPLIED, 0, record)));
    }
    return leased;
  }

  @Override
  public List<String> readyHandlers(@Nullable String after, int limit) {
    return locked(() -> data.tables.readyHandlers(after, limit));
  }

  @Override
  public void pause(String scope) {
    Set<InMemoryTimerStore> sessions =
        locked(
            () -> {
              data.tables.pause(scope);
              Set<InMemoryTimerStore> live = new LinkedHashSet<>(data.sessions);
              live.addAll(Arrays.asList(data.owners));
              return live;
            });
    for (InMemoryTimerStore session : sessions) {
      if (session != null && !session.closed && session.listener != null) {
        session.listener.paused(scope);
      }
    }
  }

  @Override
  public void resume(String scope) {
    locked(
        () -> {
          data.tables.resume(scope);
          return true;
        });
  }

  @Override
  public Set<String> paused() {
    return locked(data.tables::paused);
  }

  @Override
  public int purge(long finishedBefore, long keep, int limit) {
    return locked(() -> data.tables.purge(finishedBefore, keep, limit));
  }

  @Override
  public void copyTo(TimerSink sink) {
    record Content(long lastVersion, Set<String> paused, List<TimerRecord> timers) {}
    Content content =
        locked(
            () -> new Content(data.tables.lastVersion(), data.tables.paused(), data.tables.all()));
    sink.begin(content.lastVersion(), content.paused());
    content.timers().forEach(record -> sink.take(new CopiedTimer(record, null)));
    sink.end();
  }

  @Override
  public void beginImport(long lastVersion, Set<String> paused) {
    locked(
        () -> {
          data.tables.raiseVersion(lastVersion);
          paused.forEach(data.tables::pause);
          return true;
        });
  }

  @Override
  public int importTimers(List<CopiedTimer> timers) {
    List<TimerRecord> taken = locked(() -> data.tables.take(timers));
    if (data.notifications) {
      taken.forEach(record -> notification(new Outcome(Outcome.Answer.APPLIED, 0, record)));
    }
    return taken.size();
  }

  @Override
  public int purgeAnswers(long answeredBefore, int limit) {
    return locked(() -> data.tables.purgeAnswers(answeredBefore, limit));
  }

  @Override
  public void close() {
    synchronized (data) {
      closed = true;
      data.sessions.remove(this);
    }
    if (shared) {
      tellHandlers();
    }
  }
}
