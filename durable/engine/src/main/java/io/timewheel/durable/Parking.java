// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Outcome;

/** Blocks due timers whose handler no live node knows, until a node does. */
final class Parking {
  private final Engine engine;
  private final Gate gate = new Gate(this::park);

  Parking(Engine engine) {
    this.engine = engine;
  }

  void due(DueEntry entry) {
    gate.enter(entry);
  }

  private void park(DueEntry entry) {
    engine.submitOwn(
        new Change.Park(
            entry.due.key(),
            entry.due.version(),
            entry.due.revision(),
            entry.shard().epoch,
            "no node knows the handler \"" + entry.due.handler() + '"',
            engine.nowMillis()),
        outcome -> {
          if (outcome != null && outcome.answer() == Outcome.Answer.APPLIED) {
            engine.counters.blocked.increment();
            if (entry.due.state() == TimerState.RUNNING) {
              engine.counters.lost.increment();
            }
            engine.troubles.add(
                "blocked",
                entry.due.key(),
                "no live node knows the handler \"" + entry.due.handler() + '"');
          }
          entry.shard().answered(entry.due.key(), outcome);
          gate.leave();
        });
  }
}
