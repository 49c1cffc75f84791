// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.testkit.History.Answer;
import io.timewheel.durable.testkit.History.Answered;
import io.timewheel.durable.testkit.History.Began;
import io.timewheel.durable.testkit.History.Call;
import io.timewheel.durable.testkit.History.Completed;
import io.timewheel.durable.testkit.History.Event;
import io.timewheel.durable.testkit.History.Invoked;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Checks that each answer to a caller is consistent with all later events. */
final class AnswerRules {
  private final TimerHistory timer;
  private final List<Event> events;
  private final boolean allSuccesses;

  AnswerRules(TimerHistory timer, boolean allSuccesses) {
    this.timer = timer;
    this.allSuccesses = allSuccesses;
    events = timer.events();
  }

  void check() {
    checkAnswers();
    checkNothingIsLost();
  }

  private void checkAnswers() {
    long latest = 0;
    Map<String, Answered> requests = new HashMap<>();
    for (int i = 0; i < events.size(); i++) {
      if (!(events.get(i) instanceof Answered answer)) {
        continue;
      }
      Invoked call = timer.call(answer);
      String requestId = call == null ? null : call.requestId();
      boolean definite = answer.answer() != Answer.UNKNOWN && answer.answer() != Answer.REFUSED;
      if (call != null && requestId != null && definite) {
        Answered first = requests.putIfAbsent(requestId, answer);
        if (first != null
            && (first.answer() != answer.answer() || first.version() != answer.version())) {
          timer.violation("a repeated request got a different answer", answer);
        }
        if (timer.isRepeated(call)) {
          continue; // the version in the answer may come from an earlier call
        }
      }
      if (call != null && call.version() != 0) {
        checkCondition(call, answer);
      }
      switch (answer.answer()) {
        case CREATED, REPLACED -> {
          if (answer.version() <= latest && !overlaps(answer, i)) {
            timer.violation("the version did not grow", answer);
          }
          latest = Math.max(latest, answer.version());
        }
        case CANCELLED -> checkNothingBegins(answer, i, 0);
        case RUNNING -> checkNothingBegins(answer, i, 1);
        case COMPLETED -> {
          if (!hasFired(answer.version(), i)) {
            timer.violation("answered COMPLETED, but has not fired", answer);
          }
          checkNothingBegins(answer, i, 0);
        }
        case NOT_FOUND -> {
          if (mustBeThere(answer, i)) {
            timer.violation("answered NOT_FOUND, but must exist", answer);
          }
        }
        default -> {}
      }
    }
  }

  /** Checks that a call changes no other version than the required one, and no absent timer. */
  private void checkCondition(Invoked call, Answered answer) {
    boolean done =
        switch (answer.answer()) {
          case CREATED -> call.version() != Invoked.ABSENT && isOutdated(call); // or it has fired
          case REPLACED, DONE -> call.version() == Invoked.ABSENT || isOutdated(call);
          case CANCELLED, RUNNING, COMPLETED -> answer.version() != call.version();
          default -> false;
        };
    if (done) {
      timer.violation("applied, although the timer had another version", answer);
    }
  }

  /** Returns whether the timer had another version than the required one when the call was made. */
  private boolean isOutdated(Invoked call) {
    return timer.calls(Call.SCHEDULE).stream()
        .filter(other -> timer.isMade(other) && timer.isOverBefore(other, timer.invokedAt(call)))
        .anyMatch(other -> requireNonNull(timer.answer(other)).version() > call.version());
  }

  /** Returns whether there were concurrent calls, so that their order is unknown. */
  private boolean overlaps(Answered answer, int at) {
    Invoked call = timer.call(answer);
    int begun = call == null ? 0 : timer.invokedAt(call);
    return events.subList(begun, at).stream()
        .anyMatch(event -> event instanceof Answered other && other.call() != answer.call());
  }

  private void checkNothingBegins(Answered answer, int at, int atMost) {
    long begun = countBegun(answer.version(), at, events.size());
    if (begun > atMost) {
      timer.violation(
          begun + " attempts begun after the answer, expected at most " + atMost, answer);
    }
  }

  private long countBegun(long version, int from, int to) {
    return events.subList(from, to).stream()
        .filter(event -> event instanceof Began began && began.version() == version)
        .count();
  }

  /** Returns whether a version has fired before an event, as far as the history shows. */
  private boolean hasFired(long version, int before) {
    return events.subList(0, before).stream()
        .anyMatch(
            event ->
                allSuccesses
                    ? event instanceof Completed done && done.version() == version
                    : event instanceof Began began && began.version() == version);
  }

  /** Returns whether the timer existed during the whole lookup. */
  private boolean mustBeThere(Answered notFound, int at) {
    Invoked looked = timer.call(notFound);
    int from = looked == null ? 0 : timer.invokedAt(looked);
    return timer.calls(Call.SCHEDULE).stream()
        .filter(made -> timer.isMade(made) && timer.isOverBefore(made, from))
        .anyMatch(made -> isThere(made, requireNonNull(timer.answer(made)), at));
  }

  private boolean isThere(Invoked made, Answered answer, int at) {
    return (made.periodMillis() > 0 || !hasFired(answer.version(), at))
        && !timer.mayBeSuperseded(answer, at);
  }

  private void checkNothingIsLost() {
    boolean over = timer.left() == null || timer.left().isFinished();
    for (Event event : events) {
      if (!(event instanceof Answered answer)) {
        continue;
      }
      if (TimerHistory.isMade(answer)) {
        if (!over && !timer.isOverBeforeAnother(answer)) {
          continue;
        }
        boolean fired = hasFired(answer.version(), events.size());
        if (!fired && !timer.mayBeSuperseded(answer)) {
          timer.violation("committed, but neither fired nor in the store", answer);
        }
      } else if (over && timer.isDone(answer, Call.MOVE)) {
        Invoked move = requireNonNull(timer.call(answer));
        boolean fired =
            events.stream()
                .anyMatch(e -> e instanceof Began b && b.scheduledAtMillis() == move.dueAtMillis());
        if (!fired && !isRunNow(move) && !timer.mayBeSuperseded(answer)) {
          timer.violation("moved, but neither fired at the new time nor in the store", answer);
        }
      }
    }
  }

  /** Returns whether a timer that fires once was run by hand, so that it has no other time. */
  private boolean isRunNow(Invoked move) {
    return timer.calls(Call.RUN).stream()
        .anyMatch(run -> timer.mayBeDone(run) && !timer.isOverBefore(run, timer.invokedAt(move)));
  }
}
