// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.internal.commit.Delays;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.health.Health;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.model.StackTraces;
import io.timewheel.durable.spi.StoreTraits;
import java.time.Instant;
import java.util.concurrent.Executor;

/** Provides a shard of an empty store, without an engine. */
final class LoneShard {
  private static final Executor HERE = Runnable::run;

  private final Timer timer = HierarchicalWheelTimer.builder().build();
  private final InMemoryTimerStore store = InMemoryTimerStore.create(StoreTraits.embedded());
  private final Delays waits = new Delays(timer, () -> {});
  final DueContext context =
      new DueContext(
          store,
          new EngineClock(() -> Instant.EPOCH, () -> 0),
          waits,
          new StoreTasks(new StoreTasks.Executors(HERE, HERE, HERE), waits),
          new Health(timer.timeSource(), StackTraces.NONE),
          new NoSink(),
          new NoHandlers(),
          () -> {});
  private final Sweeps sweeps = new Sweeps(context, new OwnedShards(context, 16));
  final Shard shard = new Shard(context, sweeps, 0, 1, 16);

  void stop() {
    timer.stop();
  }

  private static final class NoSink implements DueSink {
    @Override
    public void due(DueEntry entry) {}

    @Override
    public void left(Shard closed) {}
  }

  private static final class NoHandlers implements LocalHandlers {
    @Override
    public boolean knows(String handler) {
      return false;
    }

    @Override
    public int shares() {
      return 1;
    }
  }
}
