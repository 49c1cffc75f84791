// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.dispatch;

import io.timewheel.durable.internal.commit.Committer;
import io.timewheel.durable.internal.due.DueEntry;
import io.timewheel.durable.internal.due.InFlightLimit;
import io.timewheel.durable.internal.health.Health;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;

/** Blocks due timers whose handler no live node has, until a node has it. */
final class UnknownHandlers {
  private final Committer committer;
  private final EngineClock clock;
  private final Health health;
  private final InFlightLimit inFlight = new InFlightLimit(this::park);

  UnknownHandlers(Committer committer, EngineClock clock, Health health) {
    this.committer = committer;
    this.clock = clock;
    this.health = health;
  }

  void due(DueEntry entry) {
    inFlight.enter(entry);
  }

  private void park(DueEntry entry) {
    committer.submitOwn(
        new Change.Park(
            entry.due.key(),
            entry.due.version(),
            entry.due.revision(),
            entry.shard().epoch,
            "no node knows the handler \"" + entry.due.handler() + '"',
            clock.nowMillis()),
        outcome -> {
          if (outcome != null && outcome.answer() == Outcome.Answer.APPLIED) {
            health.counters.blocked.increment();
            if (entry.due.state() == TimerState.RUNNING) {
              health.counters.lost.increment();
            }
            health.operatorLog.add(
                "blocked",
                entry.due.key(),
                "no live node knows the handler \"" + entry.due.handler() + '"');
          }
          try {
            entry.shard().answered(entry.due.key(), outcome);
          } finally {
            inFlight.leave();
          }
        });
  }
}
