// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Random runs of a cluster without a violation; and stores with a fault in them, which the same
 * runs must find. {@code -Dtimewheel.simulation.minutes=N} runs new seeds for N minutes, {@code
 * -Dtimewheel.simulation.seed=S} repeats one.
 */
class SimulationTest {
  private static final int STEPS = 400;

  @Test
  void keepsEveryPromiseUnderFaultsKillsAndSkew() {
    Long repeated = Long.getLong("timewheel.simulation.seed");
    if (repeated != null) {
      assertKept(repeated);
      return;
    }
    for (long seed = 1; seed <= 60; seed++) {
      assertKept(seed);
    }
    long minutes = Long.getLong("timewheel.simulation.minutes", 0);
    long beginNanos = System.nanoTime();
    long seed = beginNanos;
    while (System.nanoTime() - beginNanos < TimeUnit.MINUTES.toNanos(minutes)) {
      assertKept(seed++);
    }
    if (minutes > 0) {
      System.out.println((seed - beginNanos) + " simulations from seed " + beginNanos);
    }
  }

  private static void assertKept(long seed) {
    try {
      assertThat(new Simulation(seed).run(STEPS)).isEmpty();
    } catch (Throwable e) {
      throw new AssertionError("-Dtimewheel.simulation.seed=" + seed, e);
    }
  }

  @Test
  void givesTheSameRunForTheSameSeed() {
    UnaryOperator<TimerStore> faulty = NothingIsStored::new;
    assertThat(new Simulation(7, faulty).run(STEPS))
        .isEqualTo(new Simulation(7, faulty).run(STEPS));
  }

  private static void assertFound(UnaryOperator<TimerStore> fault, String violation) {
    List<String> found = new ArrayList<>();
    for (long seed = 1; seed <= 1_000 && found.isEmpty(); seed++) {
      new Simulation(seed, fault)
          .run(STEPS).stream().filter(text -> text.contains(violation)).forEach(found::add);
    }
    assertThat(found).isNotEmpty();
  }

  @Test
  void findsAStoreThatForgetsWhatItAcknowledged() {
    assertFound(NothingIsStored::new, "neither fired nor there");
  }

  @Test
  void findsAStoreThatDoesNotCancel() {
    assertFound(NothingIsCancelled::new, "begun after the answer");
  }

  @Test
  void findsAStoreThatLetsStaleOwnersBegin() {
    assertFound(EveryoneMayBegin::new, "begun");
  }

  @Test
  void findsAStoreThatDoesNotMove() {
    assertFound(NothingIsMoved::new, "moved, and neither fired then nor there");
  }

  @Test
  void findsAStoreThatDoesNotPause() {
    assertFound(NothingIsPaused::new, "begun while paused");
  }

  @Test
  void findsAStoreThatLeavesRunsOut() {
    assertFound(RunsAreLeftOut::new, "was left out");
  }

  @Test
  void findsAStoreThatEndsWhatRecurs() {
    assertFound(EverythingEnds::new, "has ended by itself");
  }

  /** Says that it has moved a timer, and has not. */
  private static final class NothingIsMoved extends ForwardingTimerStore {
    NothingIsMoved(TimerStore store) {
      super(store);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      if (changes.size() == 1 && changes.get(0) instanceof Change.Move move) {
        TimerRecord record = get(move.key());
        if (record != null && !record.state().isFinished()) {
          return List.of(new Outcome(Outcome.Answer.APPLIED, record.version(), record));
        }
      }
      return super.commit(changes);
    }
  }

  /** Says that it has paused a timer, and has not. */
  private static final class NothingIsPaused extends ForwardingTimerStore {
    NothingIsPaused(TimerStore store) {
      super(store);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      if (changes.size() == 1
          && changes.get(0) instanceof Change.Verb verb
          && verb.what() == Change.Verb.What.PAUSE) {
        TimerRecord record = get(verb.key());
        if (record != null && !record.state().isFinished()) {
          return List.of(new Outcome(Outcome.Answer.APPLIED, record.version(), record));
        }
      }
      return super.commit(changes);
    }
  }

  /** Changes the ends of runs on their way to the store. */
  private abstract static class OtherEnds extends ForwardingTimerStore {
    OtherEnds(TimerStore store) {
      super(store);
    }

    abstract long nextAt(Change.Finish end, TimerRecord record);

    @Override
    public List<Outcome> commit(List<Change> changes) {
      return super.commit(changes.stream().map(this::changed).toList());
    }

    private Change changed(Change change) {
      TimerRecord record = get(change.key());
      boolean ends =
          change instanceof Change.Finish end
              && end.end() == Change.Finish.End.SUCCEEDED
              && end.nextAt() != TimerRecord.NEVER
              && record != null;
      if (!ends) {
        return change;
      }
      Change.Finish end = (Change.Finish) change;
      return new Change.Finish(
          end.key(),
          end.token(),
          end.epoch(),
          end.end(),
          nextAt(end, record),
          end.error(),
          end.now());
    }
  }

  private static final class RunsAreLeftOut extends OtherEnds {
    RunsAreLeftOut(TimerStore store) {
      super(store);
    }

    @Override
    long nextAt(Change.Finish end, TimerRecord record) {
      return end.nextAt() + (end.nextAt() - record.dueAt());
    }
  }

  private static final class EverythingEnds extends OtherEnds {
    EverythingEnds(TimerStore store) {
      super(store);
    }

    @Override
    long nextAt(Change.Finish end, TimerRecord record) {
      return TimerRecord.NEVER;
    }
  }

  /** Answers every seventh schedule without storing it. */
  private static final class NothingIsStored extends ForwardingTimerStore {
    private int schedules;

    NothingIsStored(TimerStore store) {
      super(store);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      if (changes.stream().allMatch(change -> change instanceof Change.Schedule)
          && changes.size() == 1
          && ++schedules % 7 == 0) {
        return List.of(new Outcome(Outcome.Answer.CREATED, 1_000_000 + schedules, null));
      }
      return super.commit(changes);
    }
  }

  /** Says CANCELLED, and does nothing. */
  private static final class NothingIsCancelled extends ForwardingTimerStore {
    NothingIsCancelled(TimerStore store) {
      super(store);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      if (changes.size() == 1 && changes.get(0) instanceof Change.Cancel cancel) {
        TimerRecord record = get(cancel.key());
        if (record != null && !record.state().isFinished()) {
          return List.of(new Outcome(Outcome.Answer.CANCELLED, record.version(), null));
        }
      }
      return super.commit(changes);
    }
  }

  /** Lets attempts begin that are not claimed: each claim is answered as if it had been taken. */
  private static final class EveryoneMayBegin extends ForwardingTimerStore {
    EveryoneMayBegin(TimerStore store) {
      super(store);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      List<Outcome> outcomes = new ArrayList<>(super.commit(changes));
      for (int i = 0; i < changes.size(); i++) {
        TimerRecord record = get(changes.get(i).key());
        boolean refused =
            outcomes.get(i).answer() == Outcome.Answer.OUTDATED
                || outcomes.get(i).answer() == Outcome.Answer.STALE_OWNER;
        if (changes.get(i) instanceof Change.Begin begin && refused && record != null) {
          outcomes.set(
              i,
              new Outcome(
                  Outcome.Answer.APPLIED, record.version(), claimed(record, begin.token())));
        }
      }
      return outcomes;
    }

    private static TimerRecord claimed(TimerRecord record, ClaimToken token) {
      return new TimerRecord(
          record.key(),
          record.version(),
          record.revision(),
          TimerState.FIRING,
          record.definition(),
          record.dueAt(),
          record.fireAt(),
          record.runAt(),
          record.attempt(),
          new Claim(
              token,
              record.version(),
              record.dueAt(),
              Math.max(1, record.attempt()),
              1,
              record.changedAt(),
              TimerRecord.NEVER,
              null),
          null,
          false,
          false,
          record.createdAt(),
          record.changedAt(),
          null,
          List.of(),
          List.of());
    }
  }

  @Test
  void hasNothingToSayAboutAnEmptyHistory() {
    assertThat(new HistoryChecker(0).check(new History(), Map.of())).isEmpty();
  }
}
