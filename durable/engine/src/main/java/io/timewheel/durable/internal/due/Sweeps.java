// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.spi.DueTimer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/**
 * Looks, at intervals, for what other sessions have put into the shards of this one: as far as what
 * is due before the sweep after the next one, since one may be missed. One reading is for many
 * shards; a shard that has more than a page is read on by its windows.
 *
 * <p>Sweeps of a backlog find the same timers over and over. So one that has found many is followed
 * by a pause, for each of them. What others put behind a backlog has to wait anyway, and for what
 * is hinted at a shard is swept at once.
 */
final class Sweeps {
  /** Of one shard; what is offered from a long reading has often been done meanwhile. */
  private static final int PAGE = 100;

  private static final int MAX_SHARDS = 64;

  /** For each timer that was found: far longer than to read it takes. */
  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  private static final long MAX_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final DueContext context;
  private final OwnedShards shards;
  private final long intervalNanos;

  /** Whether a reading was handed over, or is under way. */
  private final AtomicBoolean reading = new AtomicBoolean();

  private final LongAdder found = new LongAdder();

  /** How many sweeps are still left out. Used by the thread of the wheel alone. */
  private long toSkip;

  Sweeps(DueContext context, OwnedShards shards) {
    this.context = context;
    this.shards = shards;
    intervalNanos = context.store().traits().sweep().toNanos();
  }

  /** What is due from then on is looked for by a later sweep, and in time. */
  static long end(DueContext context) {
    long sweepMillis = context.store().traits().sweep().toMillis();
    long reachMillis =
        sweepMillis == 0 ? Long.MAX_VALUE : context.claimAheadMillis() + 2 * sweepMillis;
    return EpochMillis.saturatedAdd(context.nowMillis(), reachMillis);
  }

  /** Called at each interval. */
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

  /** Counts what a window has found, which has read on. */
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
      if (!context.tasks().isClosed()) { // or it is no fault of the store
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
          return; // the wheel is full; with the next beat it is read again
        }
        if (counts.merge(shard, 1, Integer::sum) == PAGE) {
          shard.sweep(due.fireAt());
        }
      }
    }
  }
}
