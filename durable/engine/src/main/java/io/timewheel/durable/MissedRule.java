// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerRecord;
import org.jspecify.annotations.Nullable;

/** What a timer's rule for missed runs makes of one that is due: for handlers and for queues. */
final class MissedRule {
  private static final System.Logger LOG = GuardedLog.LOG;

  private final Engine engine;

  MissedRule(Engine engine) {
    this.engine = engine;
  }

  /** Begins the run that is due, or the one that makes up for it. */
  @FunctionalInterface
  interface Run {
    /**
     * Begins it.
     *
     * @param scheduledAt the time for which it is scheduled; {@link TimerRecord#NONE} for the one
     *     that its record has
     * @param dropped how many missed runs are dropped when it has begun
     */
    void begin(long scheduledAt, long dropped);
  }

  /**
   * Decides about an entry whose handling has begun, on an executor if it must be read for that.
   *
   * @param run begins what runs now
   * @param left is called when nothing does, and the entry has been answered
   * @return false if nothing will be called: the engine is closed, or its wheel was stopped
   */
  boolean decide(DueEntry entry, Run run, Runnable left) {
    boolean mayBeMissed =
        entry.due.recurring()
            && entry.due.state() == TimerState.SCHEDULED
            && (entry.due.deferred()
                || engine.nowMillis() - entry.due.fireAt() > engine.minGraceMillis());
    if (mayBeMissed) {
      return engine.executeStoreWork(() -> decideNow(entry, run, left));
    }
    run.begin(TimerRecord.NONE, 0);
    return true;
  }

  private void decideNow(DueEntry entry, Run run, Runnable left) {
    @Nullable Decision decision = null;
    long dropped = 0;
    try {
      TimerRecord record = engine.read(entry.due.key());
      if (record == null || !entry.isCurrent(record)) {
        entry.shard().ended(entry.due.key(), record);
        left.run();
        return;
      }
      // Otherwise it is no run of the series, or one that was decided about.
      if (record.runAt() == TimerRecord.NONE && record.attempt() == 0) {
        Recurrence recurrence = Recurrence.parse(record.definition().recurrence());
        decision =
            Decision.of(
                recurrence,
                record.definition().missed(),
                engine.graceMillis(record.definition()),
                record.dueAt(),
                engine.nowMillis());
        dropped = decision.dropped(recurrence, record.dueAt());
      }
    } catch (StoreException e) {
      engine.reading.failed("a reading of " + entry.due.key(), e);
      entry.shard().endedUnknown(entry.due.key());
      left.run();
      return;
    } catch (RuntimeException | Error e) {
      // One bad record stops nothing. It runs, and its attempt fails: so it is in its history.
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
    engine.submitOwn(
        new Change.Skip(
            entry.due.key(),
            entry.due.version(),
            entry.due.revision(),
            entry.shard().epoch,
            nextMillis,
            engine.nowMillis()),
        outcome -> {
          if (outcome != null && outcome.answer() == Outcome.Answer.APPLIED) {
            engine.dropped(entry.due.key(), dropped);
          }
          entry.shard().answered(entry.due.key(), outcome);
          left.run();
        });
  }
}
