// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.spi.record.DueTimer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/**
 * Finds, at intervals, timers that other sessions have added to the shards of this one. Each sweep
 * covers timers that are due before the sweep after the next one, because one may fail. One read
 * covers many shards. If a shard has more than a page, its windows continue to read it.
 *
 * <p>Sweeps of a backlog find the same timers repeatedly. So a sweep is followed by a pause in
 * proportion to the number of timers that it has found. Timers behind a backlog must wait in any
 * case, and a notification causes a sweep of its shard at once.
 */
final class Sweeps {
  /**
   * The largest number of timers of one shard. The entries of a longer read would often be
   * outdated.
   */
  private static final int PAGE = 100;

  private static final int MAX_SHARDS = 64;

  /** The pause for each timer that was found, far longer than the time to read it. */
  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  private static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final DueContext context;
  private final OwnedShards shards;
  private final long intervalNanos;

  /** True if a read is queued or running. */
  private final AtomicBoolean reading = new AtomicBoolean();

  private final LongAdder found = new LongAdder();

  /** The number of sweeps to skip. Used only by the thread of the wheel. */
  private long toSkip;

  Sweeps(DueContext context, OwnedShards shards) {
    this.context = context;
    this.shards = shards;
    intervalNanos = context.store().traits().sweep().toNanos();
  }

  /**
   * Returns the end of the present sweep. Later sweeps find the timers after it before they are
   * due.
   */
  static long end(DueContext context) {
    long sweepMillis = context.store().traits().sweep().toMillis();
    long reachMillis =
        sweepMillis == 0 ? Long.MAX_VALUE : context.claimAheadMillis() + 2 * sweepMillis;
    return EpochMillis.saturatedAdd(context.nowMillis(), reachMillis);
  }

  void sweep() {
    toSkip--;
    long pauseNanos = Math.min(MAX_PAUSE_NANOS, PAUSE_NANOS * found.sumThenReset());
    toSkip = Math.max(toSkip, pauseNanos / intervalNanos);
    if (toSkip > 0 || reading.getAndSet(true)) {
      return;
    }
    if (!context.tasks().read(this::read)) {
      reading.set(false); // closed
    }
  }

  /** Counts timers that a window has found because it continued a sweep. */
  void found(int timers) {
    found.add(timers);
  }

  private void read() {
    try {
      context.lookAtClock().run();
      List<Integer> numbers = new ArrayList<>();
      shards.forEach(shard -> numbers.add(shard.number));
      for (int i = 0; i < numbers.size() && !context.tasks().isClosed(); i += MAX_SHARDS) {
        read(numbers.subList(i, Math.min(numbers.size(), i + MAX_SHARDS)));
        context.health().reading.answered();
      }
    } catch (RuntimeException | Error e) {
      if (!context.tasks().isClosed()) { // after the close, the store is not at fault
        context.health().reading.failed("a sweep", e);
      }
    } finally {
      reading.set(false);
    }
  }

  private void read(List<Integer> numbers) {
    List<DueTimer> timers = context.store().sweep(numbers, end(context), PAGE);
    found(timers.size());
    Map<Shard, Integer> counts = new HashMap<>();
    for (DueTimer due : timers) {
      Shard shard = shards.of(due.key());
      if (shard != null) {
        if (!shard.offer(due)) {
          return; // the wheel is full; the next tick reads again
        }
        if (counts.merge(shard, 1, Integer::sum) == PAGE) {
          shard.sweep(due.fireAt());
        }
      }
    }
  }
}
