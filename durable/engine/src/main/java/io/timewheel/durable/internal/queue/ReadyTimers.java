// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import io.timewheel.durable.internal.attempt.AttemptContext;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.due.DueEntry;
import io.timewheel.durable.internal.due.InFlightLimit;
import io.timewheel.durable.internal.due.MissedRule;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * Makes due timers ready: timers of queues for a consumer, and timers of other nodes' handlers for
 * a node that knows the handler. Expired claim leases go to {@link ExpiredClaimLeases}.
 */
public final class ReadyTimers {
  private final AttemptContext context;
  private final MissedRule missed;
  private final ExpiredClaimLeases expired;
  private final InFlightLimit inFlight = new InFlightLimit(this::handle);

  public ReadyTimers(AttemptContext context, MissedRule missed, StoreTasks tasks) {
    this.context = context;
    this.missed = missed;
    expired = new ExpiredClaimLeases(context, tasks, inFlight::leave);
  }

  public void due(DueEntry entry) {
    inFlight.enter(entry);
  }

  private void handle(DueEntry entry) {
    if (entry.due.state() == TimerState.RUNNING && entry.due.queue()) {
      expired.end(entry);
      return;
    }
    missed.decide(
        entry,
        run -> {
          if (run == null) {
            inFlight.leave();
          } else if (run.skips()) {
            Change skip = entry.skip(run.atMillis(), context.nowMillis());
            context.committer().submitOwn(skip, outcome -> answered(entry, run, outcome));
          } else {
            context
                .committer()
                .submitBulk(readied(entry, run), outcome -> answered(entry, run, outcome));
          }
        });
  }

  private Change readied(DueEntry entry, MissedRule.Run run) {
    return new Change.MakeReady(
        entry.due.key(),
        entry.due.version(),
        entry.due.revision(),
        entry.shard().epoch,
        run.atMillis(),
        context.nowMillis());
  }

  private void answered(DueEntry entry, MissedRule.Run run, @Nullable Outcome outcome) {
    try {
      if (outcome != null && outcome.answer() == Outcome.Answer.APPLIED) {
        if (entry.due.state() == TimerState.RUNNING) {
          context.health().counters.lost.increment();
        }
        context.health().dropped(entry.due.key(), run.dropped());
      }
      entry.shard().answered(entry.due.key(), outcome);
    } finally {
      inFlight.leave();
    }
  }
}
