// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.testkit.History.Answer;
import io.timewheel.durable.testkit.History.Answered;
import io.timewheel.durable.testkit.History.Began;
import io.timewheel.durable.testkit.History.Call;
import io.timewheel.durable.testkit.History.Event;
import io.timewheel.durable.testkit.History.Invoked;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What happened to one timer and to its namespace, in order, and what can be said of each call: a
 * call without a definite answer may have been done or not, at any time from then on.
 */
final class TimerHistory {
  private final TimerKey key;
  private final List<Event> events;
  private final @Nullable TimerState left;
  private final List<String> violations;
  private final Map<Integer, Invoked> calls = new LinkedHashMap<>();
  private final Map<Call, List<Invoked>> callsOf = new EnumMap<>(Call.class);
  private final Map<Integer, Integer> invokedAt = new HashMap<>();
  private final Map<Integer, Integer> answeredAt = new HashMap<>();
  private final Map<String, List<Invoked>> requests = new HashMap<>();

  TimerHistory(
      TimerKey key, List<Event> events, @Nullable TimerState left, List<String> violations) {
    this.key = key;
    this.events = events;
    this.left = left;
    this.violations = violations;
    for (int i = 0; i < events.size(); i++) {
      if (events.get(i) instanceof Invoked call) {
        calls.put(call.call(), call);
        callsOf.computeIfAbsent(call.what(), what -> new ArrayList<>()).add(call);
        invokedAt.put(call.call(), i);
        if (call.requestId() != null) {
          requests.computeIfAbsent(call.requestId(), id -> new ArrayList<>()).add(call);
        }
      } else if (events.get(i) instanceof Answered answer) {
        answeredAt.put(answer.call(), i);
      }
    }
  }

  void violation(String what, Event event) {
    violations.add(key + ": " + what + ": " + event);
  }

  List<Event> events() {
    return events;
  }

  /** The state in which it was left; null if it was not there. */
  @Nullable TimerState left() {
    return left;
  }

  /** The attempts that began, of one version. */
  List<Began> begun(long version) {
    List<Began> begun = new ArrayList<>();
    for (Event event : events) {
      if (event instanceof Began began && began.version() == version) {
        begun.add(began);
      }
    }
    return begun;
  }

  // Calls

  Collection<Invoked> calls() {
    return calls.values();
  }

  List<Invoked> calls(Call what) {
    return callsOf.getOrDefault(what, List.of());
  }

  /** The call of an answer; null if nobody made it. */
  @Nullable Invoked call(Answered answer) {
    return calls.get(answer.call());
  }

  @Nullable Answered answer(Invoked call) {
    Integer at = answeredAt.get(call.call());
    return at == null ? null : (Answered) events.get(at);
  }

  boolean isUnknown(Invoked call) {
    Answered answer = answer(call);
    return answer == null || answer.answer() == Answer.UNKNOWN;
  }

  /** Whether a verb or a move was done, or may have been. */
  boolean mayBeDone(Invoked call) {
    Answered answer = answer(call);
    return isUnknown(call) || (answer != null && answer.answer() == Answer.DONE);
  }

  boolean isDone(Answered answer, Call what) {
    Invoked call = call(answer);
    return answer.answer() == Answer.DONE && call != null && call.what() == what;
  }

  /** Whether a call made a version; not the answer to a repeated request, which another made. */
  boolean isMade(Invoked call) {
    Answered answer = answer(call);
    return answer != null && isMade(answer) && !isRepeated(call);
  }

  static boolean isMade(Answered answer) {
    return answer.answer() == Answer.CREATED || answer.answer() == Answer.REPLACED;
  }

  int invokedAt(Invoked call) {
    return invokedAt.getOrDefault(call.call(), 0);
  }

  /** Whether a call was over before an event: it has done by then whatever it did. */
  boolean isOverBefore(Invoked call, int event) {
    Integer at = answeredAt.get(call.call());
    return at != null && at < event && !isUnknown(call);
  }

  /** Whether its answer may be that of another call, which asked for something else. */
  boolean isRepeated(Invoked call) {
    return call.requestId() != null
        && requests.getOrDefault(call.requestId(), List.of()).size() > 1;
  }

  /** Where a call was made, or the first one of which it may be a repetition. */
  int indexOfRequest(int call) {
    Invoked made = calls.get(call);
    if (made == null) {
      return 0;
    }
    return made.requestId() == null
        ? invokedAt(made)
        : invokedAt(requests.getOrDefault(made.requestId(), List.of(made)).get(0));
  }

  /** Whether some other call may have cancelled, replaced or moved what this one made. */
  boolean mayBeSuperseded(Answered made) {
    return mayBeSuperseded(made, events.size());
  }

  /** The same, by calls that were made before an event. */
  boolean mayBeSuperseded(Answered made, int before) {
    int madeAt = indexOfRequest(made.call());
    return calls.values().stream()
        .filter(call -> call.call() != made.call() && !isOverBefore(call, madeAt))
        .filter(call -> invokedAt(call) < before)
        .anyMatch(call -> supersedes(call, made));
  }

  /** Whether the end of a version shows in what was made after it. */
  boolean isOverBeforeAnother(Answered made) {
    return calls(Call.SCHEDULE).stream()
        .map(call -> isRepeated(call) ? null : answer(call))
        .anyMatch(
            answer ->
                answer != null
                    && answer.answer() == Answer.CREATED
                    && answer.version() > made.version());
  }

  private boolean supersedes(Invoked call, Answered made) {
    boolean ends =
        call.what() == Call.SCHEDULE || call.what() == Call.CANCEL || call.what() == Call.MOVE;
    Answered answer = answer(call);
    if (answer == null || isUnknown(call)) {
      return ends;
    }
    return switch (answer.answer()) {
      // Something new is made only where there was nothing, or what was there had ended.
      case CREATED -> isRepeated(call) && answer.version() > made.version();
      case REPLACED -> answer.version() > made.version();
      case CANCELLED, RUNNING -> answer.version() >= made.version();
      case DONE -> call.what() == Call.MOVE;
      default -> false;
    };
  }
}
