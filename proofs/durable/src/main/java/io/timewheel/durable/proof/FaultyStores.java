// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.List;

/** Stores with a fault that a test must find. */
final class FaultyStores {
  private FaultyStores() {}

  /** Adds faults to a store. The names are separated by {@code +}. */
  static TimerStore seed(String faults, TimerStore store) {
    TimerStore seeded = store;
    for (String fault : faults.split("\\+", -1)) {
      seeded = seedOne(fault, seeded);
    }
    return seeded;
  }

  private static TimerStore seedOne(String fault, TimerStore store) {
    return switch (fault) {
      case Log.NONE, Effects.OUTSIDE -> store;
      case "forgets" -> new Forgets(store);
      case "repeats" -> new Repeats(store);
      case "late-cancel" -> new LateCancel(store);
      default -> throw new IllegalArgumentException("fault: " + fault);
    };
  }

  /** Reports every tenth timer as committed without storing it. */
  private static final class Forgets extends ForwardingTimerStore {
    private int schedules;

    Forgets(TimerStore store) {
      super(store);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      List<Outcome> outcomes = new ArrayList<>(changes.size());
      for (Change change : changes) {
        boolean forgotten = change instanceof Change.Schedule && ++schedules % 10 == 0;
        outcomes.add(
            forgotten
                ? new Outcome(Outcome.Answer.CREATED, Long.MAX_VALUE / 2 + schedules, null)
                : super.commit(List.of(change)).get(0));
      }
      return outcomes;
    }
  }

  /** Reports a success as recorded, and records nothing. */
  private static final class Repeats extends ForwardingTimerStore {
    Repeats(TimerStore store) {
      super(store);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      List<Outcome> outcomes = new ArrayList<>(changes.size());
      for (Change change : changes) {
        TimerRecord record = get(change.key());
        outcomes.add(
            record != null
                    && change instanceof Change.Finish finish
                    && finish.end() == Change.Finish.End.SUCCEEDED
                ? new Outcome(Outcome.Answer.APPLIED, record.version(), record)
                : super.commit(List.of(change)).get(0));
      }
      return outcomes;
    }
  }

  /** Returns CANCELLED, but cancels with the next commit, which a kill may prevent. */
  private static final class LateCancel extends ForwardingTimerStore {
    private final List<TimerKey> late = new ArrayList<>();

    LateCancel(TimerStore store) {
      super(store);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      List<Outcome> outcomes = new ArrayList<>(changes.size());
      for (Change change : changes) {
        TimerRecord record = get(change.key());
        if (change instanceof Change.Cancel
            && record != null
            && record.claim() == null
            && !record.state().isFinished()) {
          late.add(change.key());
          outcomes.add(new Outcome(Outcome.Answer.CANCELLED, record.version(), record));
        } else {
          outcomes.add(super.commit(List.of(change)).get(0));
        }
      }
      return outcomes;
    }

    @Override
    public void close() {
      late.forEach(key -> super.commit(List.of(new Change.Cancel(key, 0, 0))));
      super.close();
    }
  }
}
