// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static io.timewheel.durable.spi.record.TimerRecord.NEVER;
import static io.timewheel.durable.spi.record.TimerRecord.NONE;
import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The store under test, and the steps of an engine on it. */
abstract class StoreSteps {
  /** In the future: a database may look for due timers from a minute before its own time. */
  static final long NOW = 4_000_000_000_000L;

  TimerStore store;
  final Map<Integer, Long> epochs = new ConcurrentHashMap<>();
  long tokens;

  protected abstract TimerStore create();

  protected abstract TimerStore reopen(TimerStore closed);

  @BeforeEach
  void open() {
    store = create();
    store.start(listener());
  }

  @AfterEach
  void close() {
    store.close();
  }

  StoreListener listener() {
    return new StoreListener() {
      @Override
      public HandlerNames handlers() {
        return HandlerNames.NONE;
      }

      @Override
      public boolean ownsShards() {
        return true;
      }

      @Override
      public void known(HandlerNames ofLiveSessions) {}

      @Override
      public void ready(String handler) {}

      @Override
      public void acquired(int shard, long epoch) {
        epochs.put(shard, epoch);
      }

      @Override
      public CompletionStage<Void> releasing(int shard) {
        return CompletableFuture.completedFuture(null);
      }

      @Override
      public void lost(int shard) {}

      @Override
      public void paused(String scope) {}

      @Override
      public void added(int shard, long fireAt) {}

      @Override
      public void ready(String namespace, String queue) {}
    };
  }

  void restart() {
    store.close();
    store = reopen(store);
    store.start(listener());
  }

  // Steps

  static TimerKey key(String id) {
    return new TimerKey("shop", id);
  }

  static TimerDefinition definition(boolean queue, String recurrence) {
    return definition("orders", queue, recurrence);
  }

  static TimerDefinition definition(String handler, boolean queue, String recurrence) {
    return definition(handler, queue, recurrence, new byte[] {1, 0, -1});
  }

  static TimerDefinition definition(byte[] payload) {
    return definition("orders", false, "", payload);
  }

  private static TimerDefinition definition(
      String handler, boolean queue, String recurrence, byte[] payload) {
    return new TimerDefinition(
        recurrence,
        handler,
        queue,
        payload,
        Map.of("traceparent", "00-ä"),
        RetryPolicy.DEFAULT,
        MissedRuns.FIRE_ONCE,
        60_000);
  }

  static Change.Schedule schedule(TimerKey key, long dueAt) {
    return schedule(key, dueAt, definition(false, ""), Change.Condition.NONE, 0, null);
  }

  static Change.Schedule schedule(
      TimerKey key,
      long dueAt,
      TimerDefinition definition,
      Change.Condition condition,
      long version,
      @Nullable String requestId) {
    return new Change.Schedule(
        key,
        definition,
        dueAt,
        false,
        condition,
        version,
        false,
        requestId == null ? null : RequestId.of(requestId),
        NEVER,
        NOW);
  }

  Outcome commit(Change change) {
    return store.commit(List.of(change)).get(0);
  }

  TimerRecord read(TimerKey key) {
    return requireNonNull(store.get(key), key.toString());
  }

  int shard(TimerKey key) {
    return Shards.of(key, store.traits().shards());
  }

  long epoch(TimerKey key) {
    return requireNonNull(epochs.get(shard(key)));
  }

  Change.Begin begin(TimerKey key) {
    return begin(key, NONE);
  }

  Change.Begin begin(TimerKey key, long scheduledAt) {
    TimerRecord record = read(key);
    return new Change.Begin(
        key,
        record.version(),
        record.revision(),
        epoch(key),
        new ClaimToken(epoch(key), ++tokens),
        scheduledAt,
        NOW);
  }

  static Change.Finish finish(Change.Begin claim, Change.Finish.End end, long nextAt) {
    String error = end == Change.Finish.End.SUCCEEDED ? null : "no luck";
    return new Change.Finish(claim.key(), claim.token(), claim.epoch(), end, nextAt, error, NOW);
  }

  List<DueTimer> due(long until) {
    List<DueTimer> all = new ArrayList<>();
    for (int shard = 0; shard < store.traits().shards(); shard++) {
      all.addAll(store.due(shard, until, null, 10_000));
    }
    return all;
  }

  static TimerQuery query(String prefix, Set<TimerState> states) {
    return new TimerQuery("shop", prefix, states, Long.MIN_VALUE, NEVER, null, true);
  }
}
