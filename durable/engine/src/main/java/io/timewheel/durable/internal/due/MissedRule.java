// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.health.Health;
import io.timewheel.durable.internal.time.Decision;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.internal.time.MissedRunPolicy;
import io.timewheel.durable.internal.time.Recurrence;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Applies the rule for missed runs to a due entry: runs it now, catches up an earlier run, or skips
 * to the next one.
 */
public final class MissedRule {
  private static final System.Logger LOG = GuardedLog.LOG;

  private final TimerStore store;
  private final StoreTasks tasks;
  private final EngineClock clock;
  private final MissedRunPolicy policy;
  private final Health health;

  public MissedRule(
      TimerStore store,
      StoreTasks tasks,
      EngineClock clock,
      Health health,
      MissedRunPolicy policy) {
    this.store = store;
    this.tasks = tasks;
    this.clock = clock;
    this.health = health;
    this.policy = policy;
  }

  /**
   * The decision about a due run.
   *
   * @param skips true if the schedule continues without the run
   * @param atMillis the scheduled time of the run that begins, {@link TimerRecord#NONE} for that of
   *     the record; or the next run if this one is skipped
   * @param dropped the number of missed runs that are dropped once the decision is committed
   */
  public record Run(boolean skips, long atMillis, long dropped) {
    static final Run OF_RECORD = new Run(false, TimerRecord.NONE, 0);
  }

  /**
   * Decides about an entry that was handed over. If its record must be read, this happens on an
   * executor.
   *
   * @param then receives the decision once; null if nothing is left to do, because the timer has
   *     changed, its store has failed, or the engine is closed. The shard knows it then.
   */
  public void decide(DueEntry entry, Consumer<@Nullable Run> then) {
    boolean mayBeMissed =
        entry.due.recurring()
            && entry.due.state() == TimerState.SCHEDULED
            && (entry.due.deferred()
                || clock.nowMillis() - entry.due.fireAt() > policy.minGraceMillis());
    if (!mayBeMissed) {
      then.accept(Run.OF_RECORD);
    } else if (!tasks.read(() -> then.accept(read(entry)))) { // closed
      entry.shard().endedUnknown(entry.due.key());
      then.accept(null);
    }
  }

  private @Nullable Run read(DueEntry entry) {
    try {
      TimerRecord record = store.get(entry.due.key());
      if (record == null || !entry.isCurrent(record)) {
        entry.shard().ended(entry.due.key(), record);
        return null;
      }
      return run(record);
    } catch (StoreException e) {
      health.reading.failed("a reading of " + entry.due.key(), e);
      entry.shard().endedUnknown(entry.due.key());
      return null;
    } catch (RuntimeException | Error e) {
      // A damaged record must not stop others. Its attempt runs and fails, so that the history
      // shows the damage.
      LOG.log(System.Logger.Level.WARNING, "cannot decide about " + entry.due.key(), e);
      return Run.OF_RECORD;
    }
  }

  private Run run(TimerRecord record) {
    if (record.runAt() != TimerRecord.NONE || record.attempt() != 0) {
      return Run.OF_RECORD; // it is separate from the schedule, or the decision was made before
    }
    Recurrence recurrence = Recurrence.parse(record.definition().recurrence());
    Decision decision =
        Decision.of(
            recurrence,
            record.definition().missed(),
            policy.graceMillis(record.definition()),
            record.dueAt(),
            clock.nowMillis());
    return new Run(
        !decision.fires(), decision.atMillis(), decision.dropped(recurrence, record.dueAt()));
  }
}
