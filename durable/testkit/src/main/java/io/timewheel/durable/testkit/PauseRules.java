// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import io.timewheel.durable.testkit.History.Answered;
import io.timewheel.durable.testkit.History.Began;
import io.timewheel.durable.testkit.History.Call;
import io.timewheel.durable.testkit.History.Event;
import io.timewheel.durable.testkit.History.Invoked;
import io.timewheel.durable.testkit.History.ScopeAnswered;
import io.timewheel.durable.testkit.History.ScopeInvoked;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Checks that no attempt begins after the answer to a pause of a namespace or of everything. After
 * the pause of a timer, at most the attempt that was claimed before may begin.
 */
final class PauseRules {
  private final TimerHistory timer;
  private final List<Event> events;

  PauseRules(TimerHistory timer) {
    this.timer = timer;
    events = timer.events();
  }

  void check() {
    for (int i = 0; i < events.size(); i++) {
      if (events.get(i) instanceof Answered answer
          && timer.isDone(answer, Call.PAUSE)
          && !mayBeUndone(answer, i)) {
        checkNothingBegins(i, 1, event -> event instanceof Invoked);
      } else if (events.get(i) instanceof ScopeAnswered answer
          && answer.pause()
          && !mayBeUndone(answer, i)) {
        checkNothingBegins(i, 0, event -> isResume(event, answer.scope()));
      }
    }
  }

  private void checkNothingBegins(int from, int claimed, Predicate<Event> end) {
    Map<Long, Integer> begun = new HashMap<>();
    for (int i = from; i < events.size() && !end.test(events.get(i)); i++) {
      if (events.get(i) instanceof Began began) {
        int claimedBefore = isMadeAfter(began.version(), from) ? 0 : claimed;
        if (begun.merge(began.version(), 1, Integer::sum) > claimedBefore) {
          timer.violation("begun while paused", began);
        }
      }
    }
  }

  private boolean isMadeAfter(long version, int event) {
    return timer.calls(Call.SCHEDULE).stream()
        .anyMatch(
            call -> {
              Answered answer = timer.answer(call);
              return timer.isMade(call)
                  && answer != null
                  && answer.version() == version
                  && timer.invokedAt(call) > event;
            });
  }

  /** Returns whether a concurrent call may have ended the pause. */
  private boolean mayBeUndone(Answered pause, int at) {
    int asked = timer.indexOfRequest(pause.call());
    return timer.calls().stream()
        .anyMatch(
            other ->
                other.call() != pause.call()
                    && timer.indexOfRequest(other.call()) < at
                    && !timer.isOverBefore(other, asked));
  }

  private boolean mayBeUndone(ScopeAnswered pause, int at) {
    int asked = indexOf(new ScopeInvoked(pause.call(), pause.scope(), true));
    return events.subList(0, at).stream()
        .filter(event -> isResume(event, pause.scope()))
        .map(event -> (ScopeInvoked) event)
        .map(resume -> indexOf(new ScopeAnswered(resume.call(), resume.scope(), false)))
        .anyMatch(answered -> answered < 0 || answered > asked);
  }

  private int indexOf(Event event) {
    return events.indexOf(event);
  }

  private static boolean isResume(Event event, String scope) {
    return event instanceof ScopeInvoked call && !call.pause() && call.scope().equals(scope);
  }
}
