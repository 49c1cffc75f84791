// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.testkit.History.Answer;
import io.timewheel.durable.testkit.History.Call;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Verifies the checker with a history for each fault that it must find, and with correct histories
 * that look suspicious.
 */
class HistoryCheckerTest {
  private static final TimerKey KEY = new TimerKey("ns", "a");

  private History history = new History();
  private long version;
  private Map<TimerKey, TimerState> left = Map.of();
  private int calls;

  private int schedule(Answer answer, long version) {
    return schedule(answer, version, null);
  }

  private int schedule(Answer answer, long version, String requestId) {
    history.add(new History.Invoked(++calls, KEY, Call.SCHEDULE, 100, requestId));
    history.add(new History.Answered(calls, KEY, answer, version));
    return calls;
  }

  private void cancel(Answer answer, long version) {
    history.add(new History.Invoked(++calls, KEY, Call.CANCEL, 0, null));
    history.add(new History.Answered(calls, KEY, answer, version));
  }

  private void began(long version, int attempt, long at) {
    history.add(new History.Began(KEY, version, 100, attempt, at));
  }

  private void completed(long version) {
    history.add(new History.Completed(KEY, version, 100));
  }

  private void assertFound(String violation) {
    assertThat(new HistoryChecker(5).check(history, left))
        .anySatisfy(found -> assertThat(found).contains(violation));
  }

  private void assertFine() {
    assertThat(new HistoryChecker(5).check(history, left)).isEmpty();
  }

  private void ifVersion(Call kind, long wanted, Answer answer, long answered) {
    history.add(new History.Invoked(++calls, KEY, kind, 100, 0, null, wanted));
    history.add(new History.Answered(calls, KEY, answer, answered));
  }

  @Test
  void findsAChangeOfAnotherVersionThanTheRequiredOne() {
    String violation = "applied, although the timer had another version";
    left = Map.of(KEY, TimerState.SCHEDULED);
    schedule(Answer.CREATED, 1);
    ifVersion(Call.CANCEL, 1, Answer.CANCELLED, 1);
    schedule(Answer.CREATED, 2);
    ifVersion(Call.SCHEDULE, 1, Answer.CREATED, 3);
    assertFound(violation);
    for (Call kind : List.of(Call.MOVE, Call.PAUSE)) {
      history = new History();
      schedule(Answer.CREATED, 1);
      schedule(Answer.REPLACED, 2);
      ifVersion(kind, 2, Answer.DONE, 0);
      assertFine();
      ifVersion(kind, 1, Answer.DONE, 0);
      assertFound(violation);
    }
    history = new History();
    schedule(Answer.CREATED, 1);
    ifVersion(Call.SCHEDULE, 1, Answer.REPLACED, 2);
    assertFine();
    ifVersion(Call.SCHEDULE, 1, Answer.REPLACED, 3);
    assertFound(violation);
    history = new History();
    ifVersion(Call.SCHEDULE, History.Invoked.ABSENT, Answer.CREATED, 1);
    assertFine();
    ifVersion(Call.SCHEDULE, History.Invoked.ABSENT, Answer.REPLACED, 2);
    assertFound(violation);
    history = new History();
    schedule(Answer.CREATED, 2);
    ifVersion(Call.CANCEL, 1, Answer.CANCELLED, 2);
    assertFound(violation);
  }

  @Test
  void acceptsAFixedRateThatContinuesInANewVersionOnlyIfTheClockMayHaveGoneBack() {
    history.add(new History.Invoked(++calls, KEY, Call.SCHEDULE, 100, 100, null));
    history.add(new History.Answered(calls, KEY, Answer.CREATED, 1));
    left = Map.of(KEY, TimerState.SCHEDULED);
    for (long at = 100; at <= 400; at += 100) {
      history.add(new History.Began(KEY, 1, at, 1, at));
    }
    history.add(new History.Began(KEY, 2, 200, 1, 200));
    history.add(new History.Began(KEY, 2, 300, 1, 300));
    assertFound("never scheduled");
    HistoryChecker checker = new HistoryChecker(6_000);
    assertThat(checker.check(history, left)).isEmpty();
    history.add(new History.Began(KEY, 2, 350, 1, 350));
    assertThat(checker.check(history, left))
        .singleElement()
        .asString()
        .contains("not in its schedule");
  }

  @Test
  void acceptsAPostponedRunAndTheRunsThatItPasses() {
    history.add(new History.Invoked(++calls, KEY, Call.SCHEDULE, 100, 100, null));
    history.add(new History.Answered(calls, KEY, Answer.CREATED, 1));
    left = Map.of(KEY, TimerState.SCHEDULED);
    began(1, 1, 100);
    history.add(new History.Began(KEY, 1, 350, 1, 350));
    assertFound("not in its schedule");
    history.add(new History.Postponed(KEY, 1, 100, 350));
    assertFine();
    history.add(new History.Began(KEY, 1, 400, 1, 400));
    assertFine();
    history.add(new History.Began(KEY, 1, 600, 1, 600));
    assertFound("was left out");
  }

  @Test
  void acceptsThatARunPostponedToATimeOfItsScheduleFollowsIt() {
    scheduleEvery(100);
    beganAt(1, 100, 100);
    history.add(new History.Postponed(KEY, 1, 100, 300));
    beganAt(1, 301, 301);
    assertFine();
    history = new History();
    scheduleEvery(100);
    beganAt(1, 100, 100);
    history.add(new History.Postponed(KEY, 1, 100, 250));
    beganAt(1, 251, 251);
    assertFound("not in its schedule");
  }

  @Test
  void findsALostTimer() {
    schedule(Answer.CREATED, 1);
    assertFound("neither fired nor in the store");
    left = Map.of(KEY, TimerState.SCHEDULED);
    assertFine();
  }

  @Test
  void findsACompletedTimerThatHasNeverFired() {
    schedule(Answer.CREATED, 1);
    left = Map.of(KEY, TimerState.COMPLETED);
    assertFound("neither fired nor in the store");
  }

  @Test
  void acceptsThePossibleEffectOfACallWithoutAnswer() {
    schedule(Answer.CREATED, 1);
    history.add(new History.Invoked(++calls, KEY, Call.CANCEL, 0, null));
    assertFine();
  }

  @Test
  void doesNotAcceptACancelThatCameBefore() {
    cancel(Answer.NOT_FOUND, 0);
    schedule(Answer.CREATED, 1);
    assertFound("neither fired nor in the store");
  }

  @Test
  void findsAnEarlyFiring() {
    schedule(Answer.CREATED, 1);
    began(1, 1, 94);
    assertFound("early");
  }

  @Test
  void acceptsTheErrorOfTheClock() {
    schedule(Answer.CREATED, 1);
    began(1, 1, 95);
    assertFine();
  }

  @Test
  void findsAFiringAfterItsSuccess() {
    schedule(Answer.CREATED, 1);
    began(1, 1, 100);
    completed(1);
    began(1, 2, 200);
    assertFound("begun again after its success");
  }

  @Test
  void acceptsARetry() {
    schedule(Answer.CREATED, 1);
    began(1, 1, 100);
    began(1, 2, 200);
    completed(1);
    assertFine();
  }

  @Test
  void findsAnAttemptThatTwoNodesBegan() {
    schedule(Answer.CREATED, 1);
    began(1, 1, 100);
    began(1, 1, 100);
    assertFound("the same attempt begun twice");
  }

  @Test
  void findsAFiringAfterCancelled() {
    schedule(Answer.CREATED, 1);
    cancel(Answer.CANCELLED, 1);
    began(1, 1, 100);
    assertFound("1 attempts begun after the answer, expected at most 0");
  }

  @Test
  void findsASecondAttemptAfterFiring() {
    schedule(Answer.CREATED, 1);
    cancel(Answer.RUNNING, 1);
    began(1, 1, 100);
    assertFine();
    began(1, 2, 100);
    assertFound("2 attempts begun after the answer, expected at most 1");
  }

  @Test
  void findsACompletedAnswerWithoutAFiring() {
    schedule(Answer.CREATED, 1);
    cancel(Answer.COMPLETED, 1);
    assertFound("answered COMPLETED, but has not fired");
  }

  @Test
  void findsAFiringAfterTheAnswerCompleted() {
    schedule(Answer.CREATED, 1);
    began(1, 1, 100);
    cancel(Answer.COMPLETED, 1);
    assertFine();
    began(1, 2, 200);
    assertFound("1 attempts begun after the answer, expected at most 0");
  }

  @Test
  void findsAnExistingTimerThatIsNotFound() {
    schedule(Answer.CREATED, 1);
    left = Map.of(KEY, TimerState.SCHEDULED);
    cancel(Answer.NOT_FOUND, 0);
    assertFound("answered NOT_FOUND, but must exist");
    cancel(Answer.CANCELLED, 1);
    assertFound("answered NOT_FOUND, but must exist");
  }

  @Test
  void acceptsThatAFiredTimerIsNotFound() {
    schedule(Answer.CREATED, 1);
    began(1, 1, 100);
    cancel(Answer.NOT_FOUND, 0);
    assertFine();
  }

  @Test
  void findsATimerThatWasLostBeforeAnotherWasCreated() {
    schedule(Answer.CREATED, 1);
    schedule(Answer.CREATED, 2);
    left = Map.of(KEY, TimerState.SCHEDULED);
    assertFound("neither fired nor in the store");
    began(1, 1, 100);
    assertFine();
  }

  @Test
  void findsAnAttemptThatCountsForASuccess() {
    schedule(Answer.CREATED, 1);
    began(1, 1, 100);
    left = Map.of(KEY, TimerState.COMPLETED);
    assertFine();
    assertThat(new HistoryChecker(5, true).check(history, left))
        .anySatisfy(found -> assertThat(found).contains("neither fired nor in the store"));
    completed(1);
    assertThat(new HistoryChecker(5, true).check(history, left)).isEmpty();
  }

  @Test
  void findsAVersionThatDoesNotGrow() {
    schedule(Answer.CREATED, 2);
    schedule(Answer.REPLACED, 1);
    assertFound("the version did not grow");
  }

  @Test
  void findsAFiringWithoutASchedule() {
    began(1, 1, 100);
    assertFound("never scheduled");
    schedule(Answer.UNKNOWN, 0);
    assertFine();
  }

  @Test
  void findsARepeatedRequestThatIsAppliedAgain() {
    schedule(Answer.CREATED, 1, "r");
    schedule(Answer.CREATED, 1, "r");
    began(1, 1, 100);
    assertFine();
    schedule(Answer.REPLACED, 2, "r");
    assertFound("a repeated request got a different answer");
  }

  @Test
  void acceptsTheOldVersionOfARequestWhoseFirstAnswerWasLost() {
    schedule(Answer.UNKNOWN, 0, "r");
    schedule(Answer.REPLACED, 2);
    schedule(Answer.CREATED, 1, "r");
    began(2, 1, 100);
    assertFine();
  }

  @Test
  void acceptsARepeatedRequestForAReplacedTimer() {
    schedule(Answer.CREATED, 1, "r");
    schedule(Answer.REPLACED, 2);
    schedule(Answer.CREATED, 1, "r");
    began(2, 1, 100);
    assertFine();
  }

  // Moves, pauses, recurring timers

  private void verb(Call kind, Answer answer, long dueAt) {
    history.add(new History.Invoked(++calls, KEY, kind, dueAt, null));
    history.add(new History.Answered(calls, KEY, answer, 0));
  }

  private void beganAt(long version, long scheduledAt, long at) {
    history.add(new History.Began(KEY, version, scheduledAt, 1, at));
  }

  private void scheduleEvery(long period) {
    history.add(new History.Invoked(++calls, KEY, Call.SCHEDULE, 100, period, null));
    history.add(new History.Answered(calls, KEY, Answer.CREATED, 1));
    left = Map.of(KEY, TimerState.SCHEDULED);
  }

  @Test
  void findsAMoveThatWasNotApplied() {
    schedule(Answer.CREATED, 1);
    verb(Call.MOVE, Answer.DONE, 500);
    began(1, 1, 100);
    assertFound("moved, but neither fired at the new time nor in the store");
    beganAt(2, 500, 500);
    assertFine();
  }

  @Test
  void acceptsAMoveThatWasCancelledOrMovedAgain() {
    schedule(Answer.CREATED, 1);
    verb(Call.MOVE, Answer.DONE, 500);
    verb(Call.MOVE, Answer.DONE, 600);
    assertFound("moved, but neither fired at the new time nor in the store");
    cancel(Answer.CANCELLED, 3);
    assertFine();
  }

  @Test
  void findsAVersionThatNoMoveCanHaveMade() {
    schedule(Answer.CREATED, 1);
    began(1, 1, 100);
    beganAt(2, 500, 500);
    assertFound("never scheduled");
    verb(Call.MOVE, Answer.REFUSED, 400);
    assertFound("never scheduled");
    verb(Call.MOVE, Answer.UNKNOWN, 400);
    assertFine();
  }

  @Test
  void findsAFiringWhilePaused() {
    schedule(Answer.CREATED, 1);
    verb(Call.PAUSE, Answer.DONE, 0);
    began(1, 1, 100);
    assertFine(); // it was already claimed
    began(1, 2, 200);
    assertFound("begun while paused");
  }

  @Test
  void acceptsAFiringAfterAResume() {
    schedule(Answer.CREATED, 1);
    verb(Call.PAUSE, Answer.DONE, 0);
    verb(Call.RESUME, Answer.DONE, 0);
    began(1, 1, 100);
    began(1, 2, 200);
    assertFine();
  }

  @Test
  void acceptsAFiringIfAResumeWasConcurrentWithThePause() {
    schedule(Answer.CREATED, 1);
    history.add(new History.Invoked(++calls, KEY, Call.RESUME, 0, null));
    verb(Call.PAUSE, Answer.DONE, 0);
    began(1, 1, 100);
    began(1, 2, 200);
    assertFine();
  }

  @Test
  void findsAnOmittedRun() {
    scheduleEvery(50);
    beganAt(1, 100, 100);
    beganAt(1, 150, 150);
    assertFine();
    beganAt(1, 250, 250);
    assertFound("the run at 200 was left out");
  }

  @Test
  void acceptsRunsThatWereMissed() {
    scheduleEvery(50);
    beganAt(1, 100, 100);
    beganAt(1, 250, 60_250);
    assertFine();
  }

  @Test
  void findsARunOutsideItsSchedule() {
    scheduleEvery(50);
    beganAt(1, 100, 100);
    beganAt(1, 160, 160);
    assertFound("not in its schedule");
  }

  @Test
  void findsARecurringTimerThatEndedByItself() {
    scheduleEvery(50);
    beganAt(1, 100, 100);
    left = Map.of(KEY, TimerState.COMPLETED);
    assertFound("has ended by itself");
    cancel(Answer.RUNNING, 1);
    assertFine();
  }

  // After a move

  @Test
  void checksAScheduleFromTheTimeToWhichItWasMoved() {
    scheduleEvery(50);
    beganAt(1, 100, 100);
    verb(Call.MOVE, Answer.DONE, 170);
    beganAt(2, 170, 170);
    beganAt(2, 220, 220);
    assertFine();
    beganAt(2, 250, 250);
    assertFound("not in its schedule");
  }

  @Test
  void findsAnOmittedRunAfterAMove() {
    scheduleEvery(50);
    verb(Call.MOVE, Answer.DONE, 170);
    beganAt(2, 170, 170);
    beganAt(2, 270, 270);
    assertFound("the run at 220 was left out");
  }

  @Test
  void findsAScheduleThatEndedAfterAMove() {
    scheduleEvery(50);
    verb(Call.MOVE, Answer.DONE, 170);
    beganAt(2, 170, 170);
    left = Map.of(KEY, TimerState.COMPLETED);
    assertFound("has ended by itself");
  }

  @Test
  void doesNotMistakeTheReplacedScheduleForTheMovedOne() {
    scheduleEvery(50);
    schedule(Answer.REPLACED, 2);
    history.add(new History.Invoked(++calls, KEY, Call.SCHEDULE, 100, 70, null));
    history.add(new History.Answered(calls, KEY, Answer.REPLACED, 3));
    verb(Call.MOVE, Answer.DONE, 200);
    beganAt(4, 200, 200);
    beganAt(4, 270, 270);
    assertFine();
    beganAt(4, 300, 300);
    assertFound("not in its schedule");
  }

  // Run now, retry

  @Test
  void acceptsARunByHandThatDoesNotChangeTheSchedule() {
    scheduleEvery(50);
    verb(Call.RUN, Answer.DONE, 80);
    beganAt(1, 80, 80);
    beganAt(1, 100, 100);
    assertFine();
    beganAt(1, 130, 130);
    assertFound("not in its schedule");
  }

  @Test
  void findsARunByHandThatReplacedAnotherRun() {
    scheduleEvery(50);
    verb(Call.RUN, Answer.DONE, 80);
    beganAt(1, 80, 80);
    beganAt(1, 150, 150);
    assertFound("the run at 100 was left out");
  }

  @Test
  void findsARunByHandThatDidNotBegin() {
    scheduleEvery(50);
    verb(Call.RUN, Answer.DONE, 80);
    beganAt(1, 100, 100);
    assertFound("run by hand, but has not begun");
    history.add(new History.Began(KEY, 1, 100, 2, 120));
    assertFine(); // the waiting attempt has run
  }

  @Test
  void findsAPostponedRunThatKeepsItsTimeAfterARunByHand() {
    scheduleEvery(100);
    beganAt(1, 100, 100);
    history.add(new History.Postponed(KEY, 1, 100, 150));
    verb(Call.RUN, Answer.DONE, 120);
    history.add(new History.Began(KEY, 1, 150, 1, 120));
    assertFound("early");
  }

  @Test
  void acceptsThatARunByHandWasRefused() {
    scheduleEvery(50);
    verb(Call.RUN, Answer.REFUSED, 80);
    beganAt(1, 100, 100);
    assertFine();
  }

  @Test
  void acceptsTheSameAttemptAgainAfterARetry() {
    schedule(Answer.CREATED, 1);
    began(1, 1, 100);
    verb(Call.RETRY, Answer.REFUSED, 0);
    began(1, 1, 150);
    assertFound("the same attempt begun twice");
    verb(Call.RETRY, Answer.DONE, 0);
    began(1, 1, 200);
    began(1, 1, 250);
    assertFound("the same attempt begun twice");
  }

  @Test
  void findsARetryThatDidNotBegin() {
    schedule(Answer.CREATED, 1);
    began(1, 1, 100);
    verb(Call.RETRY, Answer.DONE, 0);
    left = Map.of(KEY, TimerState.FAILED);
    assertFound("retried, but has not begun");
    began(1, 1, 150);
    assertFine();
  }

  // Pauses of namespaces

  private void scope(String scope, boolean pause) {
    history.add(new History.ScopeInvoked(++calls, scope, pause));
    history.add(new History.ScopeAnswered(calls, scope, pause));
  }

  @Test
  void findsAFiringWhileItsNamespaceOrEverythingIsPaused() {
    for (String scope : List.of("ns", "")) {
      schedule(Answer.REPLACED, ++version);
      scope(scope, true);
      beganAt(version, 100, 100);
      assertFound("begun while paused");
      history = new History();
    }
  }

  @Test
  void findsAFiringOfATimerScheduledDuringThePause() {
    scope("ns", true);
    schedule(Answer.CREATED, 1);
    began(1, 1, 100);
    assertFound("begun while paused");
  }

  @Test
  void acceptsFiringsOfOtherNamespacesAndAfterAResume() {
    schedule(Answer.CREATED, 1);
    scope("other", true);
    scope("ns", true);
    scope("", false);
    scope("ns", false);
    began(1, 1, 100);
    began(1, 2, 200);
    assertFine();
  }

  @Test
  void acceptsAFiringIfAResumeOfTheNamespaceWasConcurrent() {
    schedule(Answer.CREATED, 1);
    history.add(new History.ScopeInvoked(++calls, "ns", false));
    scope("ns", true);
    began(1, 1, 100);
    began(1, 2, 200);
    assertFine();
  }
}
