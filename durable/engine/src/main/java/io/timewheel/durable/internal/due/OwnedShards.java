// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The shards that this session owns. The store adds and removes them. */
public final class OwnedShards {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final int MIN_WINDOW = 16;

  private final DueContext context;
  private final Sweeps sweeps;
  private final int shardCount;
  private final int windowCap;
  private final Map<Integer, Shard> shards = new ConcurrentHashMap<>();

  /**
   * @param maxWindow the largest number of entries in all windows together
   */
  public OwnedShards(DueContext context, int maxWindow) {
    this.context = context;
    shardCount = context.store().traits().shards();
    windowCap = Math.max(MIN_WINDOW, maxWindow / shardCount);
    sweeps = new Sweeps(context, this);
  }

  /** Returns the shard of a timer; null if this session does not own it. */
  @Nullable
  public Shard of(TimerKey key) {
    return shards.get(Shards.of(key, shardCount));
  }

  public boolean owns(int number) {
    return shards.containsKey(number);
  }

  public void forEach(Consumer<Shard> action) {
    shards.values().forEach(action);
  }

  public int count() {
    return shards.size();
  }

  public int entries() {
    return shards.values().stream().mapToInt(Shard::size).sum();
  }

  /** Passes a record to its shard after a commit. */
  public void observe(TimerRecord record) {
    Shard shard = of(record.key());
    if (shard != null) {
      shard.observe(record);
    }
  }

  /** Finds timers that other sessions have added to these shards. */
  public void sweep() {
    sweeps.sweep();
  }

  /** Handles a refused change whose shard has another owner. */
  public void stale(Change change) {
    Shard shard = of(change.key());
    if (shard != null && shard.epoch == change.epoch() && shards.remove(shard.number, shard)) {
      context.health().counters.staleOwner.increment();
      LOG.log(
          System.Logger.Level.WARNING,
          "shard {0} was lost: it now has another owner than epoch {1}",
          shard.number,
          shard.epoch);
      shard.close();
    }
  }

  /** Starts a shard that the store has given to this session. */
  public void acquired(int number, long epoch) {
    Shard shard = new Shard(context, sweeps, number, epoch, windowCap);
    Shard before = shards.put(number, shard);
    if (before != null) {
      before.close();
    }
    shard.look();
  }

  /** {@return a stage that completes when no timer of a shard is being handled} */
  public CompletionStage<Void> releasing(int number) {
    Shard shard = shards.get(number);
    if (shard == null) {
      return CompletableFuture.completedFuture(null);
    }
    shard.close();
    return shard.quiet();
  }

  /** Closes a shard that the store has taken from this session. */
  public void lost(int number) {
    Shard shard = shards.remove(number);
    if (shard != null) {
      shard.close();
    }
  }

  /** Notifies a shard that another session has added a timer to it. */
  public void added(int number, long fireAt) {
    Shard shard = shards.get(number);
    if (shard != null) {
      shard.notification(fireAt);
    }
  }
}
