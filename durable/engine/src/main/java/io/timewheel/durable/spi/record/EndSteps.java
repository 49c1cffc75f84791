// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

import static io.timewheel.durable.model.TimerState.CANCELLED;
import static io.timewheel.durable.model.TimerState.COMPLETED;
import static io.timewheel.durable.model.TimerState.FAILED;
import static io.timewheel.durable.model.TimerState.PAUSED;
import static io.timewheel.durable.model.TimerState.READY;
import static io.timewheel.durable.model.TimerState.RETRYING;
import static io.timewheel.durable.model.TimerState.RUNNING;
import static io.timewheel.durable.model.TimerState.SCHEDULED;
import static io.timewheel.durable.spi.record.TimerRecord.NEVER;
import static io.timewheel.durable.spi.record.TimerRecord.NONE;
import static io.timewheel.durable.spi.record.Transitions.answer;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Outcome.Answer;

/** Ends claims and extends claim leases. */
final class EndSteps {
  private EndSteps() {}

  static Outcome finish(TimerRecord current, Change.Finish change) {
    Claim open = current.claim();
    if (open == null || !open.token().equals(change.token())) {
      return repeated(current, change);
    }
    boolean lost =
        change.end() == Change.Finish.End.LOST || change.end() == Change.Finish.End.LOST_EXHAUSTED;
    if (lost && open.until() > change.now()) {
      return answer(Answer.OUTDATED, current);
    }
    TimerRecord.Builder next =
        current.toBuilder().end(endOf(change.end()), change.error(), change.trace(), change.now());
    switch (change.end()) {
      case SUCCEEDED -> completed(current, change, next);
      case EXHAUSTED, LOST_EXHAUSTED -> exhausted(current, change, next);
      case FAILED, LOST -> again(current, next, RETRYING, change);
      case RESCHEDULED -> {
        postponed(current, change, next);
        again(current, next.attempt(0), SCHEDULED, change);
      }
      case GIVEN_BACK -> {
        int attempt = current.attempt() - 1;
        boolean leased = open.until() != NEVER;
        TimerState state = leased ? READY : attempt > 0 ? RETRYING : SCHEDULED;
        again(current, next.attempt(attempt), state, change);
      }
    }
    return answer(Answer.APPLIED, next.build(change.now()));
  }

  /** Moves a run out of the schedule. The last run of a schedule has no later due time. */
  private static void postponed(
      TimerRecord current, Change.Finish change, TimerRecord.Builder next) {
    if (!current.isScheduledRun()) {
      next.runAt(change.nextAt());
    } else if (!current.definition().isRecurring()) {
      next.dueAt(change.nextAt());
    } else if (change.nextScheduledAt() == NEVER) {
      long at = Math.max(change.nextAt(), current.dueAt());
      next.countRun().runAt(at).dueAt(at);
    } else {
      next.countRun().runAt(change.nextAt()).dueAt(change.nextScheduledAt());
    }
  }

  private static void completed(
      TimerRecord current, Change.Finish change, TimerRecord.Builder next) {
    if (current.definition().isRecurring() && current.isScheduledRun()) {
      next.countRun();
    }
    boolean goesOn = current.definition().isRecurring() && change.nextAt() != NEVER;
    if (current.definition().isRecurring() && current.cancelRequested()) {
      next.state(CANCELLED, NEVER);
    } else if (!goesOn) {
      next.state(COMPLETED, NEVER);
    } else {
      next.attempt(0).runAt(NONE).dueAt(change.nextAt());
      if (current.paused()) {
        next.state(PAUSED, NEVER);
      } else {
        next.state(SCHEDULED, Math.max(change.nextAt(), change.now()));
      }
    }
  }

  private static void exhausted(
      TimerRecord current, Change.Finish change, TimerRecord.Builder next) {
    if (current.cancelRequested()) {
      next.state(CANCELLED, NEVER);
    } else if (current.definition().isRecurring() && change.nextAt() != NONE) {
      completed(current, change, next);
    } else {
      next.state(FAILED, NEVER).note(change.error());
    }
  }

  private static void again(
      TimerRecord current, TimerRecord.Builder next, TimerState state, Change.Finish change) {
    if (current.cancelRequested()) {
      next.state(CANCELLED, NEVER);
    } else if (current.paused()) {
      next.state(PAUSED, NEVER);
    } else {
      // An attempt that has run was not early, even if the clock was set back since then.
      boolean hasRun =
          change.end() == Change.Finish.End.FAILED || change.end() == Change.Finish.End.LOST;
      long earliest = hasRun ? change.now() : Math.max(current.scheduledAt(), change.now());
      long at = Math.max(change.nextAt(), earliest);
      next.state(state, state == READY ? NEVER : at);
    }
  }

  /** Answers a repeated end, or an end that arrives after the timer was replaced. */
  private static Outcome repeated(TimerRecord current, Change.Finish change) {
    Claim former = current.former();
    if (former == null || !former.token().equals(change.token())) {
      return answer(Answer.OUTDATED, current);
    }
    if (former.end() == endOf(change.end())) {
      return new Outcome(Answer.APPLIED, current.version(), current, true);
    }
    boolean superseded = former.end() == Attempt.End.SUPERSEDED;
    return answer(superseded ? Answer.APPLIED : Answer.OUTDATED, current);
  }

  private static Attempt.End endOf(Change.Finish.End end) {
    return switch (end) {
      case SUCCEEDED -> Attempt.End.SUCCEEDED;
      case FAILED, EXHAUSTED -> Attempt.End.FAILED;
      case LOST, LOST_EXHAUSTED -> Attempt.End.LOST;
      case RESCHEDULED -> Attempt.End.RESCHEDULED;
      case GIVEN_BACK -> Attempt.End.GIVEN_BACK;
    };
  }

  static Outcome extend(TimerRecord current, Change.Extend change) {
    Claim open = current.claim();
    if (open == null || open.until() == NEVER || !open.token().equals(change.token())) {
      return answer(Answer.OUTDATED, current);
    }
    long until = Math.max(open.until(), change.until());
    return answer(
        Answer.APPLIED,
        current.toBuilder().state(RUNNING, until).claim(open.extended(until)).build(change.now()));
  }
}
