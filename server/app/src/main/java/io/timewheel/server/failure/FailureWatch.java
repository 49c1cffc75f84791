// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.failure;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.List;
import java.util.function.Consumer;

/** A store that reports each record that a commit leaves failed. */
final class FailureWatch extends ForwardingTimerStore {
  private final Consumer<TimerRecord> failed;

  FailureWatch(TimerStore store, Consumer<TimerRecord> failed) {
    super(store);
    this.failed = failed;
  }

  @Override
  public List<Outcome> commit(List<Change> changes) {
    List<Outcome> outcomes = super.commit(changes);
    for (int i = 0; i < outcomes.size(); i++) {
      TimerRecord record = outcomes.get(i).record();
      if (changes.get(i) instanceof Change.Finish
          && record != null
          && record.state() == TimerState.FAILED) {
        failed.accept(record);
      }
    }
    return outcomes;
  }
}
