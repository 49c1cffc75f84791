// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.testkit.History.Answer;
import io.timewheel.durable.testkit.History.Answered;
import io.timewheel.durable.testkit.History.Began;
import io.timewheel.durable.testkit.History.Call;
import io.timewheel.durable.testkit.History.Completed;
import io.timewheel.durable.testkit.History.Event;
import io.timewheel.durable.testkit.History.Invoked;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Judges a history, whatever store it came from and whatever went wrong:
 *
 * <ul>
 *   <li>what was acknowledged has fired, or was cancelled, replaced or moved by a later call, or is
 *       still there; what was moved has fired at its new time, likewise;
 *   <li>nothing fires early, and nothing fires that was never scheduled;
 *   <li>what recurs leaves no run out, unless it was missed, runs at no other times, and does not
 *       end by itself;
 *   <li>nothing begins after CANCELLED, and one attempt at most after FIRING;
 *   <li>while a timer is paused nothing begins but what had been claimed;
 *   <li>FIRED is said only of what has fired;
 *   <li>nothing begins again once its success was recorded;
 *   <li>an attempt is not begun twice;
 *   <li>versions grow; a repeated request is answered alike.
 * </ul>
 *
 * A call without a definite answer may have been done or not, at any time from then on.
 */
public final class HistoryChecker {
  /** The grace of timers that say nothing else. */
  private static final long GRACE_MILLIS = 60_000;

  private final long clockErrorMillis;

  /**
   * Makes a checker.
   *
   * @param clockErrorMillis how far the clock by which timers fire may have been ahead
   */
  public HistoryChecker(long clockErrorMillis) {
    this.clockErrorMillis = clockErrorMillis;
  }

  /**
   * Judges a history.
   *
   * @param history what happened
   * @param left the timers that are in the store afterwards, by their state
   * @return the violations, in words; none if all is well
   */
  public List<String> check(History history, Map<TimerKey, TimerState> left) {
    Map<TimerKey, List<Event>> byKey = new LinkedHashMap<>();
    history
        .events()
        .forEach(event -> byKey.computeIfAbsent(event.key(), key -> new ArrayList<>()).add(event));
    List<String> violations = new ArrayList<>();
    byKey.forEach((key, events) -> new OneTimer(key, events, left.get(key), violations).check());
    return violations;
  }

  /** The history of one timer. */
  private final class OneTimer {
    private final TimerKey key;
    private final List<Event> events;
    private final @Nullable TimerState left;
    private final List<String> violations;
    private final Map<Integer, Invoked> calls = new HashMap<>();
    private final Map<Integer, Integer> answeredAt = new HashMap<>();

    OneTimer(TimerKey key, List<Event> events, @Nullable TimerState left, List<String> violations) {
      this.key = key;
      this.events = events;
      this.left = left;
      this.violations = violations;
    }

    void check() {
      for (int i = 0; i < events.size(); i++) {
        if (events.get(i) instanceof Invoked call) {
          calls.put(call.call(), call);
        } else if (events.get(i) instanceof Answered answer) {
          answeredAt.put(answer.call(), i);
        }
      }
      checkFirings();
      checkRecurring();
      checkPauses();
      checkAnswers();
      checkNothingIsLost();
    }

    private void violation(String what, Event event) {
      violations.add(key + ": " + what + ": " + event);
    }

    private void checkFirings() {
      Set<List<Long>> begun = new HashSet<>();
      Set<List<Long>> completed = new HashSet<>();
      for (Event event : events) {
        if (event instanceof Completed done) {
          completed.add(List.of(done.version(), done.scheduledAtMillis()));
        } else if (event instanceof Began began) {
          if (began.atMillis() + clockErrorMillis < began.scheduledAtMillis()) {
            violation("early", began);
          }
          if (completed.contains(List.of(began.version(), began.scheduledAtMillis()))) {
            violation("begun again after its success was recorded", began);
          }
          if (!begun.add(
              List.of(began.version(), began.scheduledAtMillis(), (long) began.attempt()))) {
            violation("the same attempt begun twice", began);
          }
          if (!isScheduled(began)) {
            violation("never scheduled", began);
          }
        }
      }
    }

    private boolean isScheduled(Began began) {
      boolean mayBeUnknown = false;
      for (Invoked call : calls.values()) {
        Answered answer = answer(call);
        if (call.what() == Call.SCHEDULE) {
          if (answer != null && answer.version() == began.version()) {
            return true;
          }
          mayBeUnknown |= isUnknown(answer) && call.dueAtMillis() <= began.scheduledAtMillis();
        } else if (call.what() == Call.MOVE) {
          // The answer does not name the version that a move has made.
          mayBeUnknown |= mayBeDone(answer) && call.dueAtMillis() <= began.scheduledAtMillis();
        }
      }
      return mayBeUnknown;
    }

    private void checkRecurring() {
      for (Invoked call : calls.values()) {
        Answered answer = answer(call);
        if (answer != null
            && (answer.answer() == Answer.CREATED || answer.answer() == Answer.REPLACED)
            && call.periodMillis() > 0
            && !isRepeated(call)) {
          checkRuns(call, answer);
          if ((left == null || left == TimerState.DONE) && !mayBeSuperseded(answer)) {
            violation("recurs, and has ended by itself", answer);
          }
        }
      }
    }

    /** Whether its answer may be that of another call, which asked for something else. */
    private boolean isRepeated(Invoked call) {
      return call.requestId() != null
          && calls.values().stream()
              .anyMatch(
                  other ->
                      other.call() != call.call() && call.requestId().equals(other.requestId()));
    }

    private void checkRuns(Invoked call, Answered made) {
      long expectedMillis = call.dueAtMillis();
      for (Event event : events) {
        if (!(event instanceof Began began) || began.version() != made.version()) {
          continue;
        }
        long sinceFirst = began.scheduledAtMillis() - call.dueAtMillis();
        if (sinceFirst < 0 || sinceFirst % call.periodMillis() != 0) {
          violation("a run at a time that is not in its series", began);
        } else if (began.scheduledAtMillis() > expectedMillis
            && began.atMillis() + clockErrorMillis - expectedMillis < GRACE_MILLIS) {
          violation("the run at " + expectedMillis + " was left out before", began);
        }
        expectedMillis = Math.max(expectedMillis, began.scheduledAtMillis() + call.periodMillis());
      }
    }

    /** Whoever has asked for a pause and was answered sees no more than what had been claimed. */
    private void checkPauses() {
      for (int i = 0; i < events.size(); i++) {
        if (events.get(i) instanceof Answered answer
            && isDone(answer, Call.PAUSE)
            && !mayBeUndone(answer, i)) {
          Map<Long, Integer> begun = new HashMap<>();
          for (Event event : events.subList(i, events.size())) {
            if (event instanceof Invoked) {
              break;
            }
            if (event instanceof Began began && begun.merge(began.version(), 1, Integer::sum) > 1) {
              violation("begun while paused", began);
            }
          }
        }
      }
    }

    /** Whether another call was under way, and may have ended the pause. */
    private boolean mayBeUndone(Answered pause, int at) {
      int asked = indexOfRequest(pause.call());
      return calls.values().stream()
          .anyMatch(
              other -> {
                Integer answered = answeredAt.get(other.call());
                boolean before = answered != null && !isUnknown(answer(other)) && answered < asked;
                return other.call() != pause.call() && indexOfRequest(other.call()) < at && !before;
              });
    }

    private void checkAnswers() {
      long latest = 0;
      Map<String, Answered> requests = new HashMap<>();
      for (int i = 0; i < events.size(); i++) {
        if (!(events.get(i) instanceof Answered answer)) {
          continue;
        }
        Invoked call = calls.get(answer.call());
        String requestId = call == null ? null : call.requestId();
        if (requestId != null && !isUnknown(answer) && answer.answer() != Answer.REFUSED) {
          Answered first = requests.putIfAbsent(requestId, answer);
          if (first != null) {
            if (first.answer() != answer.answer() || first.version() != answer.version()) {
              violation("a repeated request was answered otherwise", answer);
            }
            continue;
          }
          if (call != null && isRepeated(call)) {
            continue; // so its version may be that of an earlier call, answered later or never
          }
        }
        switch (answer.answer()) {
          case CREATED, REPLACED -> {
            if (answer.version() <= latest && !overlaps(answer, i)) {
              violation("the version did not grow", answer);
            }
            latest = Math.max(latest, answer.version());
          }
          case CANCELLED -> checkNothingBegins(answer, i, 0);
          case FIRING -> checkNothingBegins(answer, i, 1);
          case FIRED -> {
            if (events.subList(0, i).stream()
                .noneMatch(e -> e instanceof Began b && b.version() == answer.version())) {
              violation("said to have fired, and has not", answer);
            }
          }
          default -> {}
        }
      }
    }

    /** Whether other calls were under way at the same time, so that their order is open. */
    private boolean overlaps(Answered answer, int at) {
      int begun = 0;
      for (int i = 0; i < at; i++) {
        if (events.get(i) instanceof Invoked call && call.call() == answer.call()) {
          begun = i;
        }
      }
      return events.subList(begun, at).stream()
          .anyMatch(event -> event instanceof Answered other && other.call() != answer.call());
    }

    private void checkNothingBegins(Answered answer, int at, int atMost) {
      long begun =
          events.subList(at, events.size()).stream()
              .filter(e -> e instanceof Began b && b.version() == answer.version())
              .count();
      if (begun > atMost) {
        violation(begun + " attempts begun after the answer, expected at most " + atMost, answer);
      }
    }

    private void checkNothingIsLost() {
      if (left != null && !left.isFinished()) {
        return;
      }
      for (int i = 0; i < events.size(); i++) {
        boolean acknowledged =
            events.get(i) instanceof Answered a
                && (a.answer() == Answer.CREATED || a.answer() == Answer.REPLACED);
        if (acknowledged) {
          Answered answer = (Answered) events.get(i);
          boolean fired =
              events.stream()
                  .anyMatch(e -> e instanceof Began b && b.version() == answer.version());
          if (!fired && !mayBeSuperseded(answer)) {
            violation("acknowledged, neither fired nor there", answer);
          }
        } else if (events.get(i) instanceof Answered answer && isDone(answer, Call.MOVE)) {
          long dueAtMillis = requireNonNull(calls.get(answer.call())).dueAtMillis();
          boolean fired =
              events.stream()
                  .anyMatch(e -> e instanceof Began b && b.scheduledAtMillis() == dueAtMillis);
          if (!fired && !mayBeSuperseded(answer)) {
            violation("moved, and neither fired then nor there", answer);
          }
        }
      }
    }

    private boolean isDone(Answered answer, Call what) {
      Invoked call = calls.get(answer.call());
      return answer.answer() == Answer.DONE && call != null && call.what() == what;
    }

    /** Whether some other call may have cancelled, replaced or moved what this one made. */
    private boolean mayBeSuperseded(Answered made) {
      int madeAt = indexOfRequest(made.call());
      for (Invoked call : calls.values()) {
        Integer answered = answeredAt.get(call.call());
        Answered answer = answer(call);
        boolean before = answered != null && !isUnknown(answer) && answered < madeAt;
        if (call.call() == made.call() || before) {
          continue;
        }
        if (isUnknown(answer)) {
          if (call.what() == Call.PAUSE || call.what() == Call.RESUME) {
            continue;
          }
          return true;
        }
        boolean did =
            answer != null
                && switch (answer.answer()) {
                  case CREATED, REPLACED -> answer.version() > made.version();
                  case CANCELLED, FIRING -> answer.version() >= made.version();
                  case DONE -> call.what() == Call.MOVE;
                  default -> false;
                };
        if (did) {
          return true;
        }
      }
      return false;
    }

    /** Where a call was made, or the first one of which it may be a repetition. */
    private int indexOfRequest(int call) {
      Invoked made = calls.get(call);
      String requestId = made == null ? null : made.requestId();
      for (int i = 0; i < events.size(); i++) {
        if (events.get(i) instanceof Invoked invoked
            && (invoked.call() == call
                || (requestId != null && requestId.equals(invoked.requestId())))) {
          return i;
        }
      }
      return 0;
    }

    private @Nullable Answered answer(Invoked call) {
      Integer at = answeredAt.get(call.call());
      return at == null ? null : (Answered) events.get(at);
    }

    private boolean mayBeDone(@Nullable Answered answer) {
      return isUnknown(answer) || (answer != null && answer.answer() == Answer.DONE);
    }

    private boolean isUnknown(@Nullable Answered answer) {
      return answer == null || answer.answer() == Answer.UNKNOWN;
    }
  }
}
