// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.HandlerNames;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The shards that this session owns, as the store gives and takes them. */
final class OwnedShards implements StoreListener {
  private static final System.Logger LOG = GuardedLog.LOG;

  private final Engine engine;
  private final TimerStore store;
  private final int windowCap;
  private final Map<Integer, Shard> shards = new ConcurrentHashMap<>();

  OwnedShards(Engine engine, TimerStore store, int windowCap) {
    this.engine = engine;
    this.store = store;
    this.windowCap = windowCap;
  }

  /** The shard of a timer; null if this session does not own it. */
  @Nullable Shard of(TimerKey key) {
    return shards.get(Shards.of(key, store.traits().shards()));
  }

  boolean owns(int number) {
    return shards.containsKey(number);
  }

  void forEach(Consumer<Shard> action) {
    shards.values().forEach(action);
  }

  int count() {
    return shards.size();
  }

  /** How many entries the windows hold. */
  int entries() {
    return shards.values().stream().mapToInt(Shard::size).sum();
  }

  /** A record as it was left by a commit. */
  void observe(TimerRecord record) {
    Shard shard = of(record.key());
    if (shard != null) {
      shard.observe(record);
    }
  }

  /** The store has refused a change: its shard has another owner. */
  void stale(Change change) {
    Shard shard = of(change.key());
    if (shard != null && shard.epoch == change.epoch() && shards.remove(shard.number, shard)) {
      engine.counters.staleOwner.increment();
      LOG.log(
          System.Logger.Level.WARNING,
          "shard {0} was lost: it has another owner than epoch {1} by now",
          shard.number,
          shard.epoch);
      shard.close();
    }
  }

  @Override
  public HandlerNames handlers() {
    return engine.ownHandlers();
  }

  @Override
  public boolean ownsShards() {
    return !engine.isClient();
  }

  @Override
  public void known(HandlerNames ofLiveSessions) {
    engine.known(ofLiveSessions);
  }

  @Override
  public void acquired(int number, long epoch) {
    if (engine.isClosing()) {
      return;
    }
    Shard shard = new Shard(engine, store, number, epoch, windowCap);
    Shard before = shards.put(number, shard);
    if (before != null) {
      before.close();
    }
    shard.look();
    engine.acquired();
  }

  @Override
  public CompletionStage<Void> releasing(int number) {
    Shard shard = shards.get(number);
    if (shard == null) {
      return CompletableFuture.completedFuture(null);
    }
    shard.close();
    return shard.quiet();
  }

  @Override
  public void lost(int number) {
    Shard shard = shards.remove(number);
    if (shard != null) {
      shard.close();
    }
  }

  @Override
  public int paused(String scope) {
    return engine.paused(scope);
  }

  @Override
  public void added(int number, long fireAt) {
    Shard shard = shards.get(number);
    if (shard != null) {
      shard.hint(fireAt);
    }
  }

  @Override
  public void ready(String namespace, String queue) {
    engine.consumers().ready(namespace, queue);
  }

  @Override
  public void ready(String handler) {
    engine.leases().ready(handler);
  }
}
