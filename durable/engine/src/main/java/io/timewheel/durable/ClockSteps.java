// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Continues waits by elapsed time after the clock has gone back: moves backoffs and claim leases
 * back by as much. Times of runs are not moved, because they identify the runs. It reads the due
 * index of each shard of this session a page at a time, and reads the next page when the store has
 * answered all changes of the page before.
 */
final class ClockSteps {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final int PAGE = 1_000;
  private static final Duration RETRY_WAIT = Duration.ofSeconds(1);

  /** How long after the step, at most, all nodes that make changes have noticed it. */
  private static final long NOTICED_WITHIN_MILLIS = 10_000;

  private final Engine engine;
  private final TimerStore store;

  ClockSteps(Engine engine, TimerStore store) {
    this.engine = engine;
    this.store = store;
  }

  /** The clock has gone back. */
  void wentBack(long backMillis, long nowMillis) {
    new Pass(backMillis, nowMillis - NOTICED_WITHIN_MILLIS).next();
  }

  /** A pass over the shards: each step begins when the one before it has ended. */
  private final class Pass {
    private final long backMillis;
    private final long steppedToMillis;
    private final ArrayDeque<Shard> shards = new ArrayDeque<>();
    private @Nullable DuePosition after;

    Pass(long backMillis, long steppedToMillis) {
      this.backMillis = backMillis;
      this.steppedToMillis = steppedToMillis;
      engine.shards.forEach(shards::add);
    }

    void next() {
      boolean unused = engine.executeUpkeep(this::step); // refused only by a closed engine
    }

    private void step() {
      Shard shard = shards.peek();
      if (shard == null || engine.isClosing()) {
        return;
      }
      List<DueTimer> page;
      try {
        page = shard.isClosed() ? List.of() : store.due(shard.number, Long.MAX_VALUE, after, PAGE);
      } catch (RuntimeException | Error e) {
        LOG.log(System.Logger.Level.DEBUG, "waits are moved after the clock went back, later", e);
        engine.waits().start(this::next, RETRY_WAIT);
        return;
      }
      if (page.size() == PAGE) {
        after = page.get(PAGE - 1).position();
      } else {
        after = null;
        shards.remove();
      }
      move(shard, page.stream().filter(Pass::mayElapse).toList());
    }

    private static boolean mayElapse(DueTimer due) {
      return due.state() == TimerState.RETRYING
          || (due.state() == TimerState.RUNNING && due.queue());
    }

    private void move(Shard shard, List<DueTimer> found) {
      AtomicInteger left = new AtomicInteger(found.size());
      if (found.isEmpty()) {
        next();
      }
      for (DueTimer due : found) {
        engine.submitOwn(
            new Change.Retime(
                due.key(),
                due.version(),
                due.revision(),
                shard.epoch,
                backMillis,
                steppedToMillis,
                engine.nowMillis()),
            outcome -> {
              if (left.decrementAndGet() == 0) {
                next();
              }
            });
      }
    }
  }
}
