// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.History.Event;
import io.timewheel.durable.testkit.History.OfScope;
import io.timewheel.durable.testkit.History.OfTimer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Judges a history, whatever store it came from and whatever went wrong:
 *
 * <ul>
 *   <li>what was acknowledged has fired, or was cancelled, replaced or moved by a later call, or is
 *       still there; what was moved has fired at its new time, likewise;
 *   <li>a call that is for one version, or for none, changes no other;
 *   <li>nothing fires early, and nothing fires that was never scheduled;
 *   <li>what recurs leaves no run out, unless it was missed, runs at no other times, and does not
 *       end by itself; after a move, too, from its new time on;
 *   <li>what was to run now has run, and what recurs keeps its times;
 *   <li>nothing begins after CANCELLED, and one attempt at most after RUNNING;
 *   <li>while a namespace or everything is paused, no attempt begins in it; while a timer is
 *       paused, at most the attempt that was claimed before begins;
 *   <li>COMPLETED is said only of what has fired, and nothing begins after it; NOT_FOUND is never
 *       said of what must be there;
 *   <li>nothing begins again once its success was recorded;
 *   <li>an attempt is not begun twice, unless its timer was retried;
 *   <li>versions grow; a repeated request is answered alike.
 * </ul>
 *
 * A call without a definite answer may have been done or not, at any time from then on.
 *
 * <p>To have fired is to have begun; where {@linkplain #HistoryChecker(long, boolean) every success
 * is in the history}, it is to have succeeded: then what failed, or died with its process, must be
 * attempted again.
 */
public final class HistoryChecker {
  private final long clockErrorMillis;
  private final boolean allSuccesses;

  /**
   * Makes a checker.
   *
   * @param clockErrorMillis how far the clock by which timers fire may have been wrong
   */
  public HistoryChecker(long clockErrorMillis) {
    this(clockErrorMillis, false);
  }

  /**
   * Makes a checker.
   *
   * @param clockErrorMillis how far the clock by which timers fire may have been wrong
   * @param allSuccesses whether the history has a {@link History.Completed} for every success that
   *     was recorded, as from a {@link RecordingStore} that outlives its engines
   */
  public HistoryChecker(long clockErrorMillis, boolean allSuccesses) {
    this.clockErrorMillis = clockErrorMillis;
    this.allSuccesses = allSuccesses;
  }

  /**
   * Judges a history.
   *
   * @param history what happened
   * @param left the timers that are in the store afterwards, by their state
   * @return the violations, in words; none if all is well
   */
  public List<String> check(History history, Map<TimerKey, TimerState> left) {
    List<Event> events = history.events();
    Map<TimerKey, List<Event>> byKey = new LinkedHashMap<>();
    for (Event event : events) {
      if (event instanceof OfTimer ofTimer) {
        byKey.putIfAbsent(ofTimer.key(), new ArrayList<>());
      }
    }
    for (Event event : events) {
      if (event instanceof OfTimer ofTimer) {
        byKey.getOrDefault(ofTimer.key(), List.of()).add(event);
      } else if (event instanceof OfScope ofScope) {
        byKey.forEach(
            (key, its) -> {
              if (isIn(key, ofScope.scope())) {
                its.add(event);
              }
            });
      }
    }
    List<String> violations = new ArrayList<>();
    byKey.forEach((key, its) -> check(new TimerHistory(key, its, left.get(key), violations)));
    return violations;
  }

  private static boolean isIn(TimerKey key, String scope) {
    return scope.equals(TimerStore.EVERYTHING) || scope.equals(key.namespace());
  }

  private void check(TimerHistory timer) {
    new FiringRules(timer, clockErrorMillis).check();
    new PauseRules(timer).check();
    new AnswerRules(timer, allSuccesses).check();
  }
}
