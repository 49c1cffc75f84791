// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.testkit.History.Answered;
import io.timewheel.durable.testkit.History.Began;
import io.timewheel.durable.testkit.History.Call;
import io.timewheel.durable.testkit.History.Completed;
import io.timewheel.durable.testkit.History.Event;
import io.timewheel.durable.testkit.History.Invoked;
import io.timewheel.durable.testkit.History.Postponed;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Checks that each attempt follows from a call and that no run is omitted. */
final class FiringRules {
  /** The default grace of timers. */
  private static final long GRACE_MILLIS = 60_000;

  /**
   * After a larger backward step of the clock, engines follow the clock and correct fixed rates.
   */
  private static final long BELIEVED_STEP_MILLIS = 5_000;

  private final TimerHistory timer;
  private final long clockErrorMillis;
  private final Map<Long, List<Origin>> origins = new HashMap<>();
  private final List<Origin> unnamed = new ArrayList<>();

  FiringRules(TimerHistory timer, long clockErrorMillis) {
    this.timer = timer;
    this.clockErrorMillis = clockErrorMillis;
    findOrigins();
  }

  void check() {
    checkEachAttempt();
    TreeSet<Long> versions = new TreeSet<>();
    for (Event event : timer.events()) {
      if (event instanceof Began began) {
        versions.add(began.version());
      }
    }
    versions.forEach(this::checkSchedule);
    checkNoScheduleEnds();
    checkRunsNow();
  }

  // One attempt

  private void checkEachAttempt() {
    Map<List<Long>, Integer> begun = new HashMap<>();
    Map<List<Long>, Integer> completed = new HashMap<>();
    int retried = 0;
    for (Event event : timer.events()) {
      if (event instanceof Invoked call && call.kind() == Call.RETRY && timer.mayBeDone(call)) {
        retried++;
      } else if (event instanceof Completed done) {
        completed.merge(List.of(done.version(), done.scheduledAtMillis()), 1, Integer::sum);
      } else if (event instanceof Began began) {
        if (began.atMillis() + clockErrorMillis < began.scheduledAtMillis()) {
          timer.violation("early", began);
        }
        int runs = runsAt(began);
        List<Long> run = List.of(began.version(), began.scheduledAtMillis());
        if (completed.getOrDefault(run, 0) >= runs) {
          timer.violation("begun again after its success was recorded", began);
        }
        List<Long> attempt =
            List.of(began.version(), began.scheduledAtMillis(), (long) began.attempt());
        if (begun.merge(attempt, 1, Integer::sum) > runs + retried) {
          timer.violation("the same attempt begun twice", began);
        }
      }
    }
  }

  /**
   * Returns the largest number of runs at one time: one scheduled run, the runs by hand and the
   * postponed runs.
   */
  private int runsAt(Began began) {
    long byHand = timer.calls(Call.RUN).stream().filter(run -> isRunBy(run, began)).count();
    boolean scheduled =
        origins(began.version()).stream()
            .anyMatch(origin -> origin.isRun(began.scheduledAtMillis()));
    return Math.max(1, (int) (byHand + postponed(began).count()) + (scheduled ? 1 : 0));
  }

  /**
   * Returns whether an attempt belongs to a run by hand. Its scheduled time is that of the call, by
   * the clock of the node that was called.
   */
  private boolean isRunBy(Invoked run, Began began) {
    return timer.mayBeDone(run)
        && Math.abs(began.scheduledAtMillis() - run.dueAtMillis()) <= clockErrorMillis;
  }

  private boolean mayBeByHand(Began began) {
    return timer.calls(Call.RUN).stream().anyMatch(run -> isRunBy(run, began));
  }

  private boolean isPostponed(Began began) {
    return postponed(began).findAny().isPresent();
  }

  /** Returns the requests to postpone that may explain a run at this time. */
  private Stream<Postponed> postponed(Began began) {
    return timer.events().stream()
        .filter(event -> event instanceof Postponed)
        .map(event -> (Postponed) event)
        .filter(run -> run.version() == began.version())
        .filter(run -> mayFireAt(run, began.scheduledAtMillis()));
  }

  /**
   * Returns whether a postponed run may fire at a time. If it was postponed to a time of its
   * schedule, it fires a millisecond later.
   */
  private boolean mayFireAt(Postponed run, long scheduledAtMillis) {
    long toMillis = run.toMillis();
    return scheduledAtMillis == toMillis
        || (scheduledAtMillis == toMillis + 1
            && origins(run.version()).stream()
                .anyMatch(origin -> origin.periodMillis() > 0 && origin.isRun(toMillis)));
  }

  // All attempts of a version

  /**
   * A call that may have created a version, and its schedule.
   *
   * @param startMillis the start of the schedule, which a move may precede by one run
   */
  private record Origin(long dueAtMillis, long periodMillis, long startMillis) {
    boolean isRun(long scheduledAtMillis) {
      if (periodMillis == 0 || scheduledAtMillis == dueAtMillis) {
        return scheduledAtMillis == dueAtMillis;
      }
      long sinceSecond = scheduledAtMillis - next(dueAtMillis);
      return sinceSecond >= 0 && sinceSecond % periodMillis == 0;
    }

    /**
     * Returns whether a run is a whole number of periods before or after those of this schedule.
     */
    boolean mayContinueAt(long scheduledAtMillis) {
      return scheduledAtMillis >= startMillis
          && (scheduledAtMillis - next(dueAtMillis)) % periodMillis == 0;
    }

    /** Returns the run that follows another one. */
    long next(long scheduledAtMillis) {
      return Math.max(scheduledAtMillis + periodMillis, startMillis);
    }
  }

  private record Complaint(String text, Began began) {}

  private void checkSchedule(long version) {
    List<Began> begun = timer.begun(version);
    List<Origin> origins = origins(version);
    if (origins.isEmpty()) {
      begun.forEach(began -> timer.violation("never scheduled", began));
      return;
    }
    Set<Began> byHand = begun.stream().filter(this::mayBeByHand).collect(Collectors.toSet());
    origins.stream()
        .map(origin -> complaints(origin, begun, byHand))
        .min(Comparator.comparingInt(List::size))
        .ifPresent(least -> least.forEach(c -> timer.violation(c.text(), c.began())));
  }

  private List<Complaint> complaints(Origin origin, List<Began> begun, Set<Began> byHand) {
    List<Complaint> complaints = new ArrayList<>();
    long expectedMillis = origin.dueAtMillis();
    boolean postponed = false;
    for (Began began : begun) {
      if (isPostponed(began) && began.scheduledAtMillis() != expectedMillis) {
        postponed = true; // runs that became due before its end were missed
        continue;
      }
      if (byHand.contains(began) && began.scheduledAtMillis() != expectedMillis) {
        continue; // and its schedule does not change
      }
      if (origin.periodMillis() == 0) {
        // Its handler may have postponed it without an event in the history.
        if (began.scheduledAtMillis() < origin.dueAtMillis()) {
          complaints.add(new Complaint("never scheduled", began));
        }
        continue;
      }
      if (!origin.isRun(began.scheduledAtMillis())) {
        complaints.add(new Complaint("a run at a time that is not in its schedule", began));
      } else if (began.scheduledAtMillis() > expectedMillis
          && !postponed
          && began.atMillis() + clockErrorMillis - expectedMillis < GRACE_MILLIS) {
        complaints.add(
            new Complaint("the run at " + expectedMillis + " was left out before", began));
      }
      postponed = false;
      expectedMillis = Math.max(expectedMillis, origin.next(began.scheduledAtMillis()));
    }
    return complaints;
  }

  /**
   * Returns the calls that may have created a version: the call whose answer names it, or any
   * without an answer.
   */
  private List<Origin> origins(long version) {
    List<Origin> named = origins.get(version);
    return named != null
        ? named
        : Stream.concat(unnamed.stream(), continuedIn(version)).distinct().toList();
  }

  /**
   * Returns the fixed rates that may have continued in a new version after their clock was set
   * back.
   */
  private Stream<Origin> continuedIn(long version) {
    if (clockErrorMillis <= BELIEVED_STEP_MILLIS) {
      return Stream.empty();
    }
    List<Began> begun = timer.begun(version);
    return Stream.concat(origins.values().stream().flatMap(List::stream), unnamed.stream())
        .filter(origin -> origin.periodMillis() > 0)
        .flatMap(
            origin ->
                begun.stream()
                    .map(Began::scheduledAtMillis)
                    .filter(origin::mayContinueAt)
                    .limit(1)
                    .map(at -> new Origin(at, origin.periodMillis(), origin.startMillis())));
  }

  private void findOrigins() {
    for (Invoked call : timer.calls(Call.SCHEDULE)) {
      Answered answer = timer.answer(call);
      Origin origin = new Origin(call.dueAtMillis(), call.periodMillis(), call.dueAtMillis());
      if (answer != null && timer.isMade(call)) {
        origins.put(answer.version(), List.of(origin));
      } else if (timer.isUnknown(call) || timer.isRepeated(call)) {
        unnamed.add(origin);
      }
    }
    // The answer to a move does not contain the new version.
    for (Invoked move : timer.calls(Call.MOVE)) {
      if (timer.mayBeDone(move)) {
        schedulesBefore(move)
            .map(call -> new Origin(move.dueAtMillis(), call.periodMillis(), call.dueAtMillis()))
            .distinct()
            .forEach(unnamed::add);
      }
    }
  }

  /** Returns the possible periods of the moved timer; 0 if it may fire once. */
  private List<Long> periodsBefore(Invoked move) {
    return schedulesBefore(move).map(Invoked::periodMillis).distinct().toList();
  }

  private Stream<Invoked> schedulesBefore(Invoked move) {
    return timer.calls(Call.SCHEDULE).stream().filter(call -> mayBeInForce(call, move));
  }

  private boolean mayBeInForce(Invoked call, Invoked move) {
    Answered answer = timer.answer(call);
    boolean refused = answer != null && answer.answer() == History.Answer.REFUSED;
    return !refused
        && timer.calls(Call.SCHEDULE).stream()
            .noneMatch(
                later ->
                    timer.isMade(later)
                        && timer.isOverBefore(call, timer.invokedAt(later))
                        && timer.isOverBefore(later, timer.invokedAt(move)));
  }

  // Recurring timers and runs by hand

  private void checkNoScheduleEnds() {
    if (timer.left() != null && timer.left() != TimerState.COMPLETED) {
      return;
    }
    for (Invoked call : timer.calls()) {
      Answered answer = timer.answer(call);
      if (answer == null) {
        continue;
      }
      boolean recurs =
          (timer.isMade(call) && call.periodMillis() > 0)
              || (timer.isDone(answer, Call.MOVE)
                  && periodsBefore(call).stream().allMatch(period -> period > 0));
      if (recurs && !timer.mayBeSuperseded(answer)) {
        timer.violation("recurs, and has ended by itself", answer);
      }
    }
  }

  private void checkRunsNow() {
    TimerState left = timer.left();
    if (left == null || left.isFinished() || left == TimerState.SCHEDULED) {
      answersWithoutAttempt(Call.RUN, began -> began.attempt() > 1 || mayBeByHand(began))
          .filter(answer -> !timer.mayBeSuperseded(answer))
          .forEach(answer -> timer.violation("run by hand, but has not begun", answer));
    }
    if (left == TimerState.FAILED) { // regardless of later events: it has not begun since
      answersWithoutAttempt(Call.RETRY, began -> true)
          .forEach(answer -> timer.violation("retried, but has not begun", answer));
    }
  }

  /** Returns the answers to calls after which no matching attempt has begun. */
  private Stream<Answered> answersWithoutAttempt(Call kind, Predicate<Began> expected) {
    List<Event> events = timer.events();
    return timer.calls(kind).stream()
        .filter(
            call ->
                events.subList(timer.invokedAt(call), events.size()).stream()
                    .noneMatch(e -> e instanceof Began began && expected.test(began)))
        .map(timer::answer)
        .filter(answer -> answer != null && timer.isDone(answer, kind));
  }
}
