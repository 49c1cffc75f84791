// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Makes the timers of queues ready when they are due, and ends their claim leases. */
final class Queues {
  private static final System.Logger LOG = GuardedLog.LOG;

  private final Engine engine;
  private final Gate readying = new Gate(this::handle);

  Queues(Engine engine) {
    this.engine = engine;
  }

  // Owner

  void due(DueEntry entry) {
    readying.enter(entry);
  }

  private void handle(DueEntry entry) {
    if (entry.due.state() == TimerState.RUNNING && entry.due.queue()) {
      if (!engine.executeStoreWork(() -> leaseIsOver(entry))) {
        readying.leave();
      }
      return;
    }
    if (!engine.missed.decide(
        entry, (scheduledAt, dropped) -> makeReady(entry, scheduledAt, dropped), readying::leave)) {
      readying.leave();
    }
  }

  /** Has a run claimed by whoever wants it, for which so many were dropped. */
  private void makeReady(DueEntry entry, long scheduledAt, long dropped) {
    engine.submitBulk(
        new Change.MakeReady(
            entry.due.key(),
            entry.due.version(),
            entry.due.revision(),
            entry.shard().epoch,
            scheduledAt,
            engine.nowMillis()),
        outcome -> {
          try {
            if (outcome != null && outcome.answer() == Outcome.Answer.APPLIED) {
              if (entry.due.state() == TimerState.RUNNING) {
                engine.counters.lost.increment();
              }
              engine.dropped(entry.due.key(), dropped);
            }
          } finally {
            answered(entry, outcome);
          }
        });
  }

  private void answered(DueEntry entry, @Nullable Outcome outcome) {
    try {
      entry.shard().answered(entry.due.key(), outcome);
    } finally {
      readying.leave();
    }
  }

  private void leaseIsOver(DueEntry entry) {
    try {
      TimerRecord record = engine.read(entry.due.key());
      Claim claim = record == null ? null : record.claim();
      if (record == null || claim == null || !entry.isCurrent(record)) {
        entry.shard().ended(entry.due.key(), record);
        readying.leave();
        return;
      }
      AttemptEnd lost =
          failure(record, claim, true, entry.shard().epoch, "the lease ran out", null);
      engine.submitOwn(
          lost.change(),
          outcome -> {
            if (outcome != null) {
              engine.ends.recorded(lost, outcome);
            }
            answered(entry, outcome);
          });
    } catch (RuntimeException | Error e) {
      engine.reading.failed("a reading of " + entry.due.key(), e);
      entry.shard().endedUnknown(entry.due.key());
      readying.leave();
    }
  }

  /** Never, if this release cannot read the recurrence: then the timer fails. */
  private NextRun nextRun(TimerRecord record, Claim claim) {
    try {
      return engine.nextRun(record, claim);
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.WARNING, "no next run of " + record.key(), e);
      return new NextRun(TimerRecord.NEVER, 0);
    }
  }

  private AttemptEnd failure(
      TimerRecord record,
      Claim claim,
      boolean lost,
      long epoch,
      String error,
      @Nullable Duration after) {
    long now = engine.nowMillis();
    boolean exhausted = claim.attempt() >= record.definition().retry().maxAttempts();
    if (exhausted) {
      NextRun next = nextRun(record, claim);
      return new AttemptEnd(
          new Change.Finish(
              record.key(),
              claim.token(),
              epoch,
              lost ? Change.Finish.End.LOST_EXHAUSTED : Change.Finish.End.EXHAUSTED,
              next.atMillis(),
              error,
              now),
          next.dropped());
    }
    long waitMillis =
        after != null
            ? EpochMillis.ceil(after)
            : record.definition().retry().waitMillis(claim.attempt(), engine.random());
    return new AttemptEnd(
        new Change.Finish(
            record.key(),
            claim.token(),
            epoch,
            lost ? Change.Finish.End.LOST : Change.Finish.End.FAILED,
            EpochMillis.saturatedAdd(now, waitMillis),
            error,
            now),
        0);
  }

  // Consumers

  /** What ends a lease as its consumer wants it; null if it is not open. */
  @Nullable AttemptEnd end(
      TimerRecord record, ClaimToken token, @Nullable String error, @Nullable Duration after) {
    Claim claim = record.claim();
    if (claim == null || !claim.token().equals(token)) {
      return null;
    }
    if (error != null) {
      return failure(record, claim, false, 0, error, after);
    }
    NextRun next = engine.nextRun(record, claim);
    return new AttemptEnd(success(record.key(), token, next.atMillis()), next.dropped());
  }

  Change.Finish success(TimerKey key, ClaimToken token, long nextMillis) {
    return new Change.Finish(
        key, token, 0, Change.Finish.End.SUCCEEDED, nextMillis, null, engine.nowMillis());
  }
}
