// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import io.timewheel.durable.internal.attempt.AttemptContext;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.due.DueEntry;
import io.timewheel.durable.internal.due.InFlightLimit;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * Makes due timers ready: timers of queues for a consumer, and timers of other nodes' handlers for
 * a node that knows the handler. Expired claim leases go to {@link ExpiredClaimLeases}.
 */
public final class ReadyTimers {
  private final AttemptContext context;
  private final ExpiredClaimLeases expired;
  private final InFlightLimit inFlight = new InFlightLimit(this::handle);

  public ReadyTimers(AttemptContext context, StoreTasks tasks) {
    this.context = context;
    expired = new ExpiredClaimLeases(context, tasks, inFlight::leave);
  }

  public void due(DueEntry entry) {
    inFlight.enter(entry);
  }

  private void handle(DueEntry entry) {
    if (entry.due.state() == TimerState.RUNNING && entry.due.queue()) {
      expired.end(entry);
    } else {
      context
          .missed()
          .decide(
              entry,
              (scheduledAt, dropped) -> makeReady(entry, scheduledAt, dropped),
              inFlight::leave);
    }
  }

  private void makeReady(DueEntry entry, long scheduledAt, long dropped) {
    Change.MakeReady change =
        new Change.MakeReady(
            entry.due.key(),
            entry.due.version(),
            entry.due.revision(),
            entry.shard().epoch,
            scheduledAt,
            context.nowMillis());
    context.committer().submitBulk(change, outcome -> madeReady(entry, dropped, outcome));
  }

  private void madeReady(DueEntry entry, long dropped, @Nullable Outcome outcome) {
    try {
      if (outcome != null && outcome.answer() == Outcome.Answer.APPLIED) {
        if (entry.due.state() == TimerState.RUNNING) {
          context.health().counters.lost.increment();
        }
        context.health().dropped(entry.due.key(), dropped);
      }
      entry.shard().answered(entry.due.key(), outcome);
    } finally {
      inFlight.leave();
    }
  }
}
