// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import io.timewheel.durable.internal.commit.Committer;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.internal.health.Health;
import io.timewheel.durable.internal.time.Decision;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.internal.time.MissedRunPolicy;
import io.timewheel.durable.internal.time.Recurrence;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
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
  private final Committer committer;
  private final Health health;

  public MissedRule(
      TimerStore store,
      StoreTasks tasks,
      EngineClock clock,
      Health health,
      MissedRunPolicy policy,
      Committer committer) {
    this.store = store;
    this.tasks = tasks;
    this.clock = clock;
    this.health = health;
    this.policy = policy;
    this.committer = committer;
  }

  /** Begins the due run or its catch-up run. */
  @FunctionalInterface
  public interface Run {
    /**
     * Begins the run.
     *
     * @param scheduledAt the scheduled time; {@link TimerRecord#NONE} for that of the record
     * @param dropped the number of missed runs that are dropped when it has begun
     */
    void begin(long scheduledAt, long dropped);
  }

  /**
   * Decides about an entry whose handling has begun. If its record must be read, this happens on an
   * executor.
   *
   * @param run begins the run
   * @param left called if no run begins, after the shard has received the answer
   */
  public void decide(DueEntry entry, Run run, Runnable left) {
    boolean mayBeMissed =
        entry.due.recurring()
            && entry.due.state() == TimerState.SCHEDULED
            && (entry.due.deferred()
                || clock.nowMillis() - entry.due.fireAt() > policy.minGraceMillis());
    if (!mayBeMissed) {
      run.begin(TimerRecord.NONE, 0);
    } else if (!tasks.read(() -> decideNow(entry, run, left))) { // closed
      ended(() -> entry.shard().endedUnknown(entry.due.key()), left);
    }
  }

  private void decideNow(DueEntry entry, Run run, Runnable left) {
    @Nullable Decision decision = null;
    long dropped = 0;
    try {
      TimerRecord record = store.get(entry.due.key());
      if (record == null || !entry.isCurrent(record)) {
        ended(() -> entry.shard().ended(entry.due.key(), record), left);
        return;
      }
      // Otherwise, the run is separate from the schedule, or the decision was made before.
      if (record.runAt() == TimerRecord.NONE && record.attempt() == 0) {
        Recurrence recurrence = Recurrence.parse(record.definition().recurrence());
        decision =
            Decision.of(
                recurrence,
                record.definition().missed(),
                policy.graceMillis(record.definition()),
                record.dueAt(),
                clock.nowMillis());
        dropped = decision.dropped(recurrence, record.dueAt());
      }
    } catch (StoreException e) {
      health.reading.failed("a reading of " + entry.due.key(), e);
      ended(() -> entry.shard().endedUnknown(entry.due.key()), left);
      return;
    } catch (RuntimeException | Error e) {
      // A damaged record must not stop others. Its attempt runs and fails, so that the history
      // shows the damage.
      LOG.log(System.Logger.Level.WARNING, "cannot decide about " + entry.due.key(), e);
      decision = null;
    }
    if (decision == null) {
      run.begin(TimerRecord.NONE, 0);
    } else if (decision.fires()) {
      run.begin(decision.atMillis(), dropped);
    } else {
      skip(entry, decision.atMillis(), dropped, left);
    }
  }

  private void skip(DueEntry entry, long nextMillis, long dropped, Runnable left) {
    committer.submitOwn(
        new Change.Skip(
            entry.due.key(),
            entry.due.version(),
            entry.due.revision(),
            entry.shard().epoch,
            nextMillis,
            clock.nowMillis()),
        outcome -> {
          if (outcome != null && outcome.answer() == Outcome.Answer.APPLIED) {
            health.dropped(entry.due.key(), dropped);
          }
          ended(() -> entry.shard().answered(entry.due.key(), outcome), left);
        });
  }

  private static void ended(Runnable answer, Runnable left) {
    try {
      answer.run();
    } finally {
      left.run();
    }
  }
}
