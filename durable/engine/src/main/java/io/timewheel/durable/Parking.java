// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.TimerRecord;

/** Parks what is due for a handler that nobody here knows, until a node does. */
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
    if (entry.due.state() == TimerState.FIRING) {
      giveBack(entry);
      return;
    }
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
            engine.counters.parked.increment();
            engine.troubles.add(
                "parked", entry.due.key(), "no handler \"" + entry.due.handler() + "\" here");
          }
          entry.shard().answered(entry.due.key(), outcome);
          gate.leave();
        });
  }

  /** Claims an attempt that died with its process, only to give it back to be parked. */
  private void giveBack(DueEntry entry) {
    Change.Begin begin = entry.claim(TimerRecord.NONE, engine.nowMillis());
    engine.submitOwn(
        begin,
        outcome -> {
          if (outcome != null && outcome.answer() == Outcome.Answer.APPLIED) {
            engine.ends.record(
                entry.shard(),
                new AttemptEnd(
                    new Change.Finish(
                        entry.due.key(),
                        begin.token(),
                        begin.epoch(),
                        Change.Finish.End.GIVEN_BACK,
                        engine.nowMillis(),
                        null,
                        engine.nowMillis()),
                    0));
          } else {
            entry.shard().answered(entry.due.key(), outcome);
          }
          gate.leave();
        });
  }
}
