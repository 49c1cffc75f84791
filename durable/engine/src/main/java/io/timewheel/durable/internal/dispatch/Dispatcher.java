// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.dispatch;

import io.timewheel.durable.internal.attempt.AttemptContext;
import io.timewheel.durable.internal.attempt.AttemptEndRecorder;
import io.timewheel.durable.internal.attempt.Handlers;
import io.timewheel.durable.internal.attempt.KnownHandlers;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.due.DueEntry;
import io.timewheel.durable.internal.due.DueSink;
import io.timewheel.durable.internal.due.MissedRule;
import io.timewheel.durable.internal.due.Shard;
import io.timewheel.durable.internal.queue.ReadyTimers;

/**
 * Decides the next step of a due entry. Its handler runs it, or it becomes ready for a consumer or
 * for a node with its handler, or it is blocked. Overdue entries wait in {@link OverdueRate} first.
 */
public final class Dispatcher implements DueSink {
  private final Handlers handlers;
  private final KnownHandlers known;
  private final ReadyTimers ready;
  private final UnknownHandlers unknownHandlers;
  private final AttemptEndRecorder ends;
  private final StoreTasks tasks;
  private final OverdueRate overdueRate;

  public Dispatcher(
      AttemptContext context,
      MissedRule missed,
      Handlers handlers,
      KnownHandlers known,
      StoreTasks tasks,
      int overduePerSecond) {
    this.handlers = handlers;
    this.known = known;
    this.tasks = tasks;
    ends = context.ends();
    ready = new ReadyTimers(context, missed, tasks);
    unknownHandlers = new UnknownHandlers(context.committer(), context.clock(), context.health());
    overdueRate = new OverdueRate(context.delays(), overduePerSecond, this::dispatch);
  }

  @Override
  public void due(DueEntry entry) {
    if (entry.shard().isPaced(entry.due.fireAt())) {
      overdueRate.add(entry);
    } else {
      dispatch(entry);
    }
  }

  private void dispatch(DueEntry entry) {
    if (tasks.isClosed()) {
      return;
    }
    if (entry.due.queue()) {
      ready.due(entry);
    } else if (!handlers.add(entry)) {
      if (known.contains(entry.due.handler())) {
        ready.due(entry); // another node leases it, as a consumer does
      } else {
        unknownHandlers.due(entry);
      }
    }
  }

  /** Returns the number of overdue entries that wait for their turn. */
  public int overdue() {
    return overdueRate.size();
  }

  @Override
  public void left(Shard shard) {
    ends.leave(shard);
    handlers.all().forEach(queue -> queue.giveBack(run -> run.isOf(shard)));
  }
}
