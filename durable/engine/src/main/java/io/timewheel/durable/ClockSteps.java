// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Continues waits by elapsed time after the clock has gone back: moves backoffs and claim leases
 * back by as much, and the next runs of fixed rates and delays to at most one period from now.
 * Times that a person has named, and those of crons, are not moved. It reads the due index of each
 * shard of this session a page at a time, and reads the next page when the store has answered all
 * changes of the page before.
 *
 * <p>A run that begins before the step and ends after it gives the next run a time by the old
 * clock. So once the clock has gone back, each record of a recurring timer is looked at when it is
 * committed.
 */
final class ClockSteps {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final int PAGE = 1_000;
  private static final Duration RETRY_WAIT = Duration.ofSeconds(1);

  /** How long after the step, at most, all nodes that make changes have noticed it. */
  private static final long NOTICED_WITHIN_MILLIS = 10_000;

  private final Engine engine;
  private final TimerStore store;

  /** True once the clock has gone back. */
  private volatile boolean wentBack;

  ClockSteps(Engine engine, TimerStore store) {
    this.engine = engine;
    this.store = store;
  }

  /** The clock has gone back. */
  void wentBack(long backMillis, long nowMillis) {
    wentBack = true;
    new Pass(backMillis, nowMillis - NOTICED_WITHIN_MILLIS).next();
  }

  /** A change is committed that left this record. */
  void observe(TimerRecord record) {
    if (!wentBack || record.state() != TimerState.SCHEDULED) {
      return;
    }
    Shard shard = engine.shards.of(record.key());
    Change.Retime change = shard == null ? null : continued(record, shard);
    if (change != null) {
      engine.submitOwn(change, outcome -> {});
    }
  }

  /**
   * {@return the change that lets a recurring timer continue; null if it does not wait too long}
   */
  private Change.@Nullable Retime continued(TimerRecord record, Shard shard) {
    if (!record.definition().isRecurring() || !record.isOfSeries()) {
      return null;
    }
    long nowMillis = engine.nowMillis();
    long dueMillis =
        Recurrence.parse(record.definition().recurrence()).continued(record, nowMillis);
    return dueMillis == record.dueAt()
        ? null
        : new Change.Retime(
            record.key(),
            record.version(),
            record.revision(),
            shard.epoch,
            dueMillis,
            nowMillis,
            nowMillis);
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
      List<Change.Retime> changes;
      try {
        page = shard.isClosed() ? List.of() : store.due(shard.number, Long.MAX_VALUE, after, PAGE);
        changes = page.stream().map(due -> change(due, shard)).filter(Objects::nonNull).toList();
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
      submit(changes);
    }

    private Change.@Nullable Retime change(DueTimer due, Shard shard) {
      if (due.state() == TimerState.SCHEDULED) {
        TimerRecord record = due.recurring() ? store.get(due.key()) : null;
        return record == null || record.state() != TimerState.SCHEDULED
            ? null
            : continued(record, shard);
      }
      boolean elapses =
          due.state() == TimerState.RETRYING || (due.state() == TimerState.RUNNING && due.queue());
      return !elapses
          ? null
          : new Change.Retime(
              due.key(),
              due.version(),
              due.revision(),
              shard.epoch,
              due.fireAt() - backMillis,
              steppedToMillis,
              engine.nowMillis());
    }

    private void submit(List<Change.Retime> changes) {
      AtomicInteger left = new AtomicInteger(changes.size());
      if (changes.isEmpty()) {
        next();
      }
      for (Change.Retime change : changes) {
        engine.submitOwn(
            change,
            outcome -> {
              if (left.decrementAndGet() == 0) {
                next();
              }
            });
      }
    }
  }
}
