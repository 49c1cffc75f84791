// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.internal.commit.Committer;
import io.timewheel.durable.internal.commit.Delays;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.internal.time.Recurrence;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Corrects waits after the clock was set back, so that they last as long as intended. Moves
 * backoffs and claim leases back by the same amount. Moves the next runs of fixed rates and delays
 * to at most one period from now. Times that a user has set, and those of crons, are not moved. It
 * reads the due index of each shard of this session a page at a time. It reads the next page when
 * the store has answered all changes of the previous one.
 *
 * <p>A run that begins before the step and ends after it sets the time of the next run by the old
 * clock. So once the clock was set back, each record of a recurring timer is checked when its run
 * ends.
 */
public final class ClockSteps {
  private static final System.Logger LOG = GuardedLog.LOG;
  private static final int PAGE = 1_000;
  private static final Duration RETRY_WAIT = Duration.ofSeconds(1);

  /** The time after the step within which all nodes that make changes have detected the step. */
  private static final long NOTICED_WITHIN_MILLIS = 10_000;

  private final TimerStore store;
  private final StoreTasks tasks;
  private final Delays delays;
  private final EngineClock clock;
  private final OwnedShards shards;
  private final Committer committer;

  private volatile boolean wentBack;

  public ClockSteps(DueContext context, OwnedShards shards, Committer committer) {
    store = context.store();
    tasks = context.tasks();
    delays = context.delays();
    clock = context.clock();
    this.shards = shards;
    this.committer = committer;
  }

  void wentBack(long backMillis, long nowMillis) {
    wentBack = true;
    new Pass(backMillis, nowMillis - NOTICED_WITHIN_MILLIS).next();
  }

  /** Checks a record after the end of a run, which sets the time of the next one. */
  public void ended(TimerRecord record) {
    if (!wentBack || record.state() != TimerState.SCHEDULED) {
      return;
    }
    Shard shard = shards.of(record.key());
    Change.Retime change = shard == null ? null : afterClockStep(record, shard);
    if (change != null) {
      committer.submitOwn(change, outcome -> {});
    }
  }

  /**
   * {@return the change that corrects the next run of a recurring timer; null if none is needed}
   */
  private Change.@Nullable Retime afterClockStep(TimerRecord record, Shard shard) {
    if (!record.definition().isRecurring() || !record.isScheduledRun()) {
      return null;
    }
    long nowMillis = clock.nowMillis();
    long dueMillis =
        Recurrence.parse(record.definition().recurrence()).afterClockStep(record, nowMillis);
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

  /** A pass over the shards. Each step begins when the previous one has ended. */
  private final class Pass {
    private final long backMillis;
    private final long steppedToMillis;
    private final ArrayDeque<Shard> left = new ArrayDeque<>();
    private @Nullable DuePosition after;

    Pass(long backMillis, long steppedToMillis) {
      this.backMillis = backMillis;
      this.steppedToMillis = steppedToMillis;
      shards.forEach(left::add);
    }

    void next() {
      boolean unused = tasks.maintain(this::step); // refused only by a closed engine
    }

    private void step() {
      Shard shard = left.peek();
      if (shard == null || tasks.isClosed()) {
        return;
      }
      List<DueTimer> page;
      List<Change.Retime> changes;
      try {
        page = shard.isClosed() ? List.of() : store.due(shard.number, Long.MAX_VALUE, after, PAGE);
        changes =
            page.stream().map(due -> changeIfSound(due, shard)).filter(Objects::nonNull).toList();
      } catch (RuntimeException | Error e) {
        LOG.log(System.Logger.Level.DEBUG, "waits are corrected later: the clock went back", e);
        delays.start(this::next, RETRY_WAIT);
        return;
      }
      if (page.size() == PAGE) {
        after = page.get(PAGE - 1).position();
      } else {
        after = null;
        left.remove();
      }
      submit(changes);
    }

    /** Returns the change of a timer; null also if its record or recurrence cannot be read. */
    private Change.@Nullable Retime changeIfSound(DueTimer due, Shard shard) {
      try {
        return change(due, shard);
      } catch (IllegalArgumentException e) {
        LOG.log(System.Logger.Level.DEBUG, "the wait of " + due.key() + " is not corrected", e);
        return null;
      } catch (StoreException e) {
        if (e.kind() != StoreException.Kind.REJECTED) {
          throw e;
        }
        return null;
      }
    }

    private Change.@Nullable Retime change(DueTimer due, Shard shard) {
      if (due.state() == TimerState.SCHEDULED) {
        TimerRecord record = due.recurring() ? store.get(due.key()) : null;
        return record == null || record.state() != TimerState.SCHEDULED
            ? null
            : afterClockStep(record, shard);
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
              clock.nowMillis());
    }

    private void submit(List<Change.Retime> changes) {
      AtomicInteger unanswered = new AtomicInteger(changes.size());
      if (changes.isEmpty()) {
        next();
      }
      for (Change.Retime change : changes) {
        committer.submitOwn(
            change,
            outcome -> {
              if (unanswered.decrementAndGet() == 0) {
                next();
              }
            });
      }
    }
  }
}
