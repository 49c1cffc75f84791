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
 * Checks a history of any store and any faults against these rules:
 *
 * <ul>
 *   <li>A committed timer has fired, or was cancelled, replaced or moved by a later call, or is
 *       still in the store. The same applies to a moved timer at its new time.
 *   <li>A call that requires a version, or no timer, changes no other version.
 *   <li>No timer fires early or without having been scheduled.
 *   <li>A recurring timer omits no run, unless the run was missed. It runs at no other times, and
 *       does not end by itself. After a move, this applies from its new time on.
 *   <li>A timer that was run by hand has run, and a recurring timer keeps its times.
 *   <li>No attempt begins after the answer CANCELLED, and at most one after RUNNING.
 *   <li>While a namespace or everything is paused, no attempt begins in it. While a timer is
 *       paused, at most the attempt that was claimed before begins.
 *   <li>The answer COMPLETED is given only for a timer that has fired, and no attempt begins after
 *       it. The answer NOT_FOUND is never given for a timer that must exist.
 *   <li>No attempt begins after the recorded success of its run.
 *   <li>An attempt begins only once, unless its timer was retried.
 *   <li>Versions grow, and a repeated request gets the same answer.
 * </ul>
 *
 * A call without a definite answer may be applied at any later time, or never.
 *
 * <p>A timer has fired if an attempt has begun. If {@linkplain #HistoryChecker(long, boolean) every
 * success is in the history}, it has fired only if an attempt has succeeded. Attempts that failed,
 * or whose process crashed, must then be repeated.
 */
public final class HistoryChecker {
  private final long clockErrorMillis;
  private final boolean allSuccesses;

  /**
   * Creates a checker.
   *
   * @param clockErrorMillis the largest error of the clock by which timers fire, in milliseconds
   */
  public HistoryChecker(long clockErrorMillis) {
    this(clockErrorMillis, false);
  }

  /**
   * Creates a checker.
   *
   * @param clockErrorMillis the largest error of the clock by which timers fire, in milliseconds
   * @param allSuccesses true if the history has a {@link History.Completed} for every recorded
   *     success, as from a {@link RecordingStore} that outlives its engines
   */
  public HistoryChecker(long clockErrorMillis, boolean allSuccesses) {
    this.clockErrorMillis = clockErrorMillis;
    this.allSuccesses = allSuccesses;
  }

  /**
   * Checks a history.
   *
   * @param history the history
   * @param left the timers that are in the store at the end, with their states
   * @return descriptions of the violations; empty if there are none
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
