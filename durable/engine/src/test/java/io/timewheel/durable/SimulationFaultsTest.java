// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static io.timewheel.durable.spi.record.TimerRecord.NONE;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.internal.time.Recurrence;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Change.Verb.Command;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Verifies that the runs of {@link SimulationTest} find the faults of faulty stores. */
class SimulationFaultsTest {
  /** Begins with a seed that finds the fault. After a change of the engine, a later one may. */
  private static void assertFound(int first, UnaryOperator<TimerStore> fault, String violation) {
    List<String> found = new ArrayList<>();
    for (long seed = first; seed < first + 1_000 && found.isEmpty(); seed++) {
      new Simulation(seed, fault)
          .run(SimulationTest.STEPS).stream()
              .filter(text -> text.contains(violation))
              .forEach(found::add);
    }
    assertThat(found).isNotEmpty();
  }

  @Test
  void findsAStoreThatLosesCommittedTimers() {
    assertFound(14, NothingIsStored::new, "neither fired nor in the store");
  }

  @Test
  void findsAStoreThatDoesNotCancel() {
    assertFound(1, NothingIsCancelled::new, "begun after the answer");
  }

  @Test
  @Tag("promise-41")
  void findsAStoreThatAllowsStaleOwnersToBegin() {
    assertFound(1, EveryoneMayBegin::new, "begun");
  }

  @Test
  void findsAStoreThatRecordsFailuresAsSuccesses() {
    assertFound(
        31,
        store -> new SuccessInPlaceOf(Change.Finish.End.FAILED, store),
        "neither fired nor in the store");
  }

  @Test
  void findsAStoreThatCompletesLostAttempts() {
    assertFound(827, TheDeadAreDone::new, "neither fired nor in the store");
  }

  @Test
  void findsAStoreThatNeverFindsCancelledTimers() {
    assertFound(
        1,
        store -> new CancelsAreAnswered(store, Outcome.Answer.NOT_FOUND, TimerState.SCHEDULED),
        "answered NOT_FOUND, but must exist");
  }

  @Test
  void findsAStoreThatReportsRetriedTimersAsFired() {
    assertFound(
        125,
        store -> new CancelsAreAnswered(store, Outcome.Answer.COMPLETED, TimerState.RETRYING),
        "answered COMPLETED, but has not fired");
    assertFound(
        54,
        store -> new CancelsAreAnswered(store, Outcome.Answer.COMPLETED, TimerState.RETRYING),
        "begun after the answer");
  }

  @Test
  void findsAStoreThatDoesNotMove() {
    assertFound(
        24, NothingIsMoved::new, "moved, but neither fired at the new time nor in the store");
  }

  @Test
  void findsAStoreThatDoesNotPause() {
    assertFound(
        42,
        store -> new NothingIsDone(store, Command.PAUSE, TimerState.SCHEDULED, TimerState.RETRYING),
        "begun while paused");
  }

  @Test
  @Tag("promise-50")
  void findsAStoreThatOmitsRuns() {
    assertFound(1, RunsAreLeftOut::new, "was left out");
  }

  @Test
  void findsAStoreThatEndsRecurringTimers() {
    assertFound(9, EverythingEnds::new, "has ended by itself");
  }

  @Test
  void findsAStoreThatDoesNotPauseNamespaces() {
    assertFound(1, NoScopeIsPaused::new, "begun while paused");
  }

  @Test
  void findsAStoreThatDoesNotRunNow() {
    assertFound(
        91,
        store -> new NothingIsDone(store, Command.RUN, TimerState.SCHEDULED),
        "run by hand, but has not begun");
  }

  @Test
  void findsAStoreThatDoesNotRetry() {
    assertFound(
        46,
        store -> new NothingIsDone(store, Command.RETRY, TimerState.FAILED),
        "retried, but has not begun");
  }

  @Test
  void findsAStoreThatRunsNowByMovingTheSchedule() {
    assertFound(1, RunNowMoves::new, "a run at a time that is not in its schedule");
  }

  @Test
  void findsAStoreThatCountsARunByHandAsTheNextScheduledRun() {
    assertFound(2, RunNowCounts::new, "was left out");
  }

  @Test
  void findsAStoreThatOmitsRunsAfterAMove() {
    assertFound(1, RunsAreLeftOutAfterAMove::new, "was left out");
  }

  @Test
  void findsAStoreThatDoesNotReleaseBlockedTimers() {
    assertFound(
        2_012,
        store -> new NothingIsDone(store, Command.RELEASE, TimerState.BLOCKED),
        "overdue in the end");
  }

  @Test
  void findsAStoreThatIgnoresConditions() {
    assertFound(
        2,
        store -> new AnythingGoes(store, Change.Condition.ABSENT),
        "applied, although the timer had another version");
    assertFound(
        15,
        store -> new AnythingGoes(store, Change.Condition.VERSION),
        "applied, although the timer had another version");
  }

  @Test
  void findsAStoreThatLosesPostponedRuns() {
    assertFound(
        403,
        store -> new SuccessInPlaceOf(Change.Finish.End.RESCHEDULED, store),
        "neither fired nor in the store");
  }

  @Test
  void findsAStoreThatListsTooFewTimers() {
    assertFound(1, PagesAreShort::new, "and listed as");
  }

  private static Change succeeded(TimerKey key, ClaimToken token, long epoch, long now) {
    return new Change.Finish(
        key, token, epoch, Change.Finish.End.SUCCEEDED, TimerRecord.NEVER, null, now);
  }

  private static boolean firesOnce(TimerRecord record) {
    return record != null && !record.definition().isRecurring();
  }

  /** Records attempts that ended in another way as successes. */
  private static final class SuccessInPlaceOf extends ForwardingTimerStore {
    private final Change.Finish.End replaced;

    SuccessInPlaceOf(Change.Finish.End replaced, TimerStore store) {
      super(store);
      this.replaced = replaced;
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      return super.commit(changes.stream().map(this::changed).toList());
    }

    private Change changed(Change change) {
      return change instanceof Change.Finish end
              && end.end() == replaced
              && firesOnce(get(end.key()))
          ? succeeded(end.key(), end.token(), end.epoch(), end.now())
          : change;
    }
  }

  /** Records attempts that were lost with their owner as successes, instead of repeating them. */
  private static final class TheDeadAreDone extends ForwardingTimerStore {
    TheDeadAreDone(TimerStore store) {
      super(store);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      return changes.stream().map(this::commit).toList();
    }

    private Outcome commit(Change change) {
      TimerRecord record = get(change.key());
      if (!(change instanceof Change.Begin begin)
          || !firesOnce(record)
          || record.claim() == null
          || record.claim().epoch() >= begin.epoch()
          || record.revision() != begin.revision()) {
        return super.commit(List.of(change)).get(0);
      }
      ClaimToken dead = record.claim().token();
      Outcome done =
          super.commit(List.of(succeeded(begin.key(), dead, begin.epoch(), begin.now()))).get(0);
      return done.answer() == Outcome.Answer.STALE_OWNER
          ? done
          : new Outcome(Outcome.Answer.OUTDATED, done.version(), done.record());
    }
  }

  /** Answers cancels of timers in one state without cancelling them. */
  private static final class CancelsAreAnswered extends ForwardingTimerStore {
    private final Outcome.Answer answer;
    private final TimerState state;

    CancelsAreAnswered(TimerStore store, Outcome.Answer answer, TimerState state) {
      super(store);
      this.answer = answer;
      this.state = state;
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      return changes.stream().map(this::commit).toList();
    }

    private Outcome commit(Change change) {
      TimerRecord record = get(change.key());
      if (!(change instanceof Change.Cancel) || record == null || record.state() != state) {
        return super.commit(List.of(change)).get(0);
      }
      return answer == Outcome.Answer.NOT_FOUND
          ? new Outcome(answer, 0, null)
          : new Outcome(answer, record.version(), record);
    }
  }

  /** Answers a move without moving the timer. */
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

  /** Ignores the conditions of a schedule. */
  private static final class AnythingGoes extends ForwardingTimerStore {
    private final Change.Condition ignored;

    AnythingGoes(TimerStore store, Change.Condition ignored) {
      super(store);
      this.ignored = ignored;
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      return super.commit(changes.stream().map(this::changed).toList());
    }

    private Change changed(Change change) {
      return change instanceof Change.Schedule schedule && schedule.condition() == ignored
          ? new Change.Schedule(
              schedule.key(),
              schedule.definition(),
              schedule.dueAt(),
              schedule.relative(),
              Change.Condition.NONE,
              0,
              schedule.evenFinished(),
              schedule.request(),
              schedule.maxPending(),
              schedule.now())
          : change;
    }
  }

  /** Answers a command without applying it. */
  private static final class NothingIsDone extends ForwardingTimerStore {
    private final Command command;
    private final Set<TimerState> states;

    NothingIsDone(TimerStore store, Command command, TimerState... states) {
      super(store);
      this.command = command;
      this.states = Set.of(states);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      return changes.stream().map(this::commit).toList();
    }

    private Outcome commit(Change change) {
      TimerRecord record = get(change.key());
      return change instanceof Change.Verb verb
              && verb.command() == command
              && record != null
              && states.contains(record.state())
          ? new Outcome(Outcome.Answer.APPLIED, record.version(), record)
          : super.commit(List.of(change)).get(0);
    }
  }

  /** Changes the ends of runs before they reach the store. */
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
  static final class NothingIsStored extends ForwardingTimerStore {
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

  /** Answers CANCELLED without cancelling. */
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

  /** Lets unclaimed attempts begin: each claim is answered as if it had been applied. */
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
          TimerState.RUNNING,
          record.definition(),
          record.dueAt(),
          record.fireAt(),
          record.runAt(),
          record.attempt(),
          record.runs(),
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
          null,
          List.of());
    }
  }

  /** Answers the pause of a namespace or of everything without pausing it. */
  private static final class NoScopeIsPaused extends ForwardingTimerStore {
    NoScopeIsPaused(TimerStore store) {
      super(store);
    }

    @Override
    public void pause(String scope) {}
  }

  /** Runs a timer by hand by moving its schedule. */
  private static final class RunNowMoves extends ForwardingTimerStore {
    RunNowMoves(TimerStore store) {
      super(store);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      return super.commit(
          changes.stream()
              .map(
                  change ->
                      change instanceof Change.Verb verb && verb.command() == Command.RUN
                          ? new Change.Move(verb.key(), verb.version(), verb.now(), verb.now())
                          : change)
              .toList());
    }
  }

  /** Skips the next run after a run by hand has ended. */
  private static final class RunNowCounts extends ForwardingTimerStore {
    RunNowCounts(TimerStore store) {
      super(store);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      Map<TimerKey, TimerRecord> byHand = new HashMap<>();
      for (Change change : changes) {
        TimerRecord record = get(change.key());
        if (change instanceof Change.Finish && record != null && record.runAt() != NONE) {
          byHand.put(change.key(), record);
        }
      }
      List<Outcome> outcomes = super.commit(changes);
      byHand.forEach((key, before) -> skipNext(before));
      return outcomes;
    }

    private void skipNext(TimerRecord before) {
      TimerRecord record = get(before.key());
      if (record != null
          && record.version() == before.version()
          && record.runAt() == NONE
          && record.definition().isRecurring()) {
        long next =
            Recurrence.parse(record.definition().recurrence())
                .preview(Instant.ofEpochMilli(record.dueAt()), 1)
                .get(0)
                .toEpochMilli();
        super.commit(
            List.of(
                new Change.Skip(
                    record.key(),
                    record.version(),
                    record.revision(),
                    0,
                    next,
                    before.changedAt())));
      }
    }
  }

  /** Omits every other run of a moved timer. */
  private static final class RunsAreLeftOutAfterAMove extends OtherEnds {
    private static final Set<TimerKey> MOVED = new HashSet<>();

    RunsAreLeftOutAfterAMove(TimerStore store) {
      super(store);
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      for (Change change : changes) {
        if (change instanceof Change.Move) {
          MOVED.add(change.key());
        } else if (change instanceof Change.Schedule) {
          MOVED.remove(change.key());
        }
      }
      return super.commit(changes);
    }

    @Override
    long nextAt(Change.Finish end, TimerRecord record) {
      return MOVED.contains(end.key())
          ? end.nextAt() + (end.nextAt() - record.dueAt())
          : end.nextAt();
    }
  }

  /** Omits the last timer of each full page. */
  private static final class PagesAreShort extends ForwardingTimerStore {
    PagesAreShort(TimerStore store) {
      super(store);
    }

    @Override
    public TimerPage page(TimerQuery query, TimerKey after, int limit) {
      TimerPage page = super.page(query, after, limit);
      return page.records().size() < limit
          ? page
          : new TimerPage(page.records().subList(0, limit - 1), page.next());
    }
  }
}
