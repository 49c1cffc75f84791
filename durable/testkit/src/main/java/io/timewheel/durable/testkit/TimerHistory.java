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
 * The events of one timer and of its namespace, in order, and the possible effects of each call. A
 * call without a definite answer may be applied at any later time, or never.
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
        callsOf.computeIfAbsent(call.kind(), kind -> new ArrayList<>()).add(call);
        invokedAt.put(call.call(), i);
        if (call.requestId() != null) {
          requests.computeIfAbsent(call.requestId(), id -> new ArrayList<>()).add(call);
        }
      } else if (events.get(i) instanceof Answered answer) {
        answeredAt.put(answer.call(), i);
      }
    }
  }

  void violation(String text, Event event) {
    violations.add(key + ": " + text + ": " + event);
  }

  List<Event> events() {
    return events;
  }

  /** Returns its state at the end; null if it was not in the store. */
  @Nullable TimerState left() {
    return left;
  }

  /** Returns the attempts of one version that began. */
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

  List<Invoked> calls(Call kind) {
    return callsOf.getOrDefault(kind, List.of());
  }

  /** Returns the call of an answer; null if there is none. */
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

  /** Returns whether a command or a move was or may have been applied. */
  boolean mayBeDone(Invoked call) {
    Answered answer = answer(call);
    return isUnknown(call) || (answer != null && answer.answer() == Answer.DONE);
  }

  boolean isDone(Answered answer, Call kind) {
    Invoked call = call(answer);
    return answer.answer() == Answer.DONE && call != null && call.kind() == kind;
  }

  /**
   * Returns whether a call created a version. The answer to a repeated request may name a version
   * of another call.
   */
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

  /**
   * Returns whether a call was answered before an event, so that its effect also came before the
   * event.
   */
  boolean isOverBefore(Invoked call, int event) {
    Integer at = answeredAt.get(call.call());
    return at != null && at < event && !isUnknown(call);
  }

  /** Returns whether its answer may be that of another call with different content. */
  boolean isRepeated(Invoked call) {
    return call.requestId() != null
        && requests.getOrDefault(call.requestId(), List.of()).size() > 1;
  }

  /** Returns the position of a call, or of the first call that it may repeat. */
  int indexOfRequest(int call) {
    Invoked made = calls.get(call);
    if (made == null) {
      return 0;
    }
    return made.requestId() == null
        ? invokedAt(made)
        : invokedAt(requests.getOrDefault(made.requestId(), List.of(made)).get(0));
  }

  /**
   * Returns whether another call may have cancelled, replaced or moved the version of this call.
   */
  boolean mayBeSuperseded(Answered made) {
    return mayBeSuperseded(made, events.size());
  }

  /**
   * Does the same as {@link #mayBeSuperseded(Answered)}, for calls that were made before an event.
   */
  boolean mayBeSuperseded(Answered made, int before) {
    int madeAt = indexOfRequest(made.call());
    return calls.values().stream()
        .filter(call -> call.call() != made.call() && !isOverBefore(call, madeAt))
        .filter(call -> invokedAt(call) < before)
        .anyMatch(call -> supersedes(call, made));
  }

  /** Returns whether a later version proves that this version has ended. */
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
        call.kind() == Call.SCHEDULE || call.kind() == Call.CANCEL || call.kind() == Call.MOVE;
    Answered answer = answer(call);
    if (answer == null || isUnknown(call)) {
      return ends;
    }
    return switch (answer.answer()) {
      // A timer is new only if there was none before, or if the former one had ended.
      case CREATED -> isRepeated(call) && answer.version() > made.version();
      case REPLACED -> answer.version() > made.version();
      case CANCELLED, RUNNING -> answer.version() >= made.version();
      case DONE -> call.kind() == Call.MOVE;
      default -> false;
    };
  }
}
