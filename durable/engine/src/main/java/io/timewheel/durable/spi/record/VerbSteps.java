// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

import static io.timewheel.durable.model.TimerState.BLOCKED;
import static io.timewheel.durable.model.TimerState.FAILED;
import static io.timewheel.durable.model.TimerState.PAUSED;
import static io.timewheel.durable.model.TimerState.RETRYING;
import static io.timewheel.durable.model.TimerState.SCHEDULED;
import static io.timewheel.durable.spi.record.TimerRecord.NEVER;
import static io.timewheel.durable.spi.record.TimerRecord.NONE;
import static io.timewheel.durable.spi.record.Transitions.answer;
import static io.timewheel.durable.spi.record.Transitions.differs;
import static io.timewheel.durable.spi.record.Transitions.unchanged;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Outcome.Answer;

/**
 * Applies the commands of operators (pause, resume, run by hand, retry) and the releases of
 * engines.
 */
final class VerbSteps {
  private VerbSteps() {}

  static Outcome apply(TimerRecord current, Change.Verb change) {
    if (differs(current, change.version())) {
      return answer(Answer.VERSION_DIFFERS, current);
    }
    if (current.state().isFinished()) {
      return answer(Answer.WRONG_STATE, current);
    }
    return switch (change.command()) {
      case PAUSE -> pause(current, change.now());
      case RESUME -> resume(current, change.now());
      case RELEASE ->
          current.isHeld() || current.state() == BLOCKED
              ? back(current, change.now())
              : unchanged(current);
      case RUN -> run(current, change.now());
      case RETRY -> retry(current, change.now());
    };
  }

  private static Outcome pause(TimerRecord current, long now) {
    return switch (current.state()) {
      case FAILED -> answer(Answer.WRONG_STATE, current);
      case RUNNING ->
          current.paused()
              ? unchanged(current)
              : answer(Answer.APPLIED, current.toBuilder().paused(true).build(now));
      default ->
          current.paused() && current.state() == PAUSED
              ? unchanged(current)
              : answer(
                  Answer.APPLIED,
                  current.toBuilder().paused(true).state(PAUSED, NEVER).note(null).build(now));
    };
  }

  private static Outcome resume(TimerRecord current, long now) {
    if (current.state() != PAUSED) {
      return current.paused()
          ? answer(Answer.APPLIED, current.toBuilder().paused(false).build(now))
          : unchanged(current);
    }
    return back(current, now);
  }

  /**
   * Returns the timer to the state that its time implies. The time is still in the future if the
   * timer was claimed ahead. Failed attempts stay counted.
   */
  private static Outcome back(TimerRecord current, long now) {
    TimerState next = current.attempt() > 0 ? RETRYING : SCHEDULED;
    return answer(
        Answer.APPLIED,
        current.toBuilder()
            .paused(false)
            .note(null)
            .state(next, Math.max(current.scheduledAt(), now))
            .build(now));
  }

  private static Outcome run(TimerRecord current, long now) {
    return switch (current.state()) {
      case READY -> unchanged(current);
      case RUNNING, FAILED -> answer(Answer.WRONG_STATE, current);
      case RETRYING -> answer(Answer.APPLIED, current.toBuilder().state(RETRYING, now).build(now));
      default -> answer(Answer.APPLIED, runByHand(current, now));
    };
  }

  /**
   * Begins the same run again, however late it is, because the rule for missed runs does not apply
   * to it. Its time is still in the future only if it was claimed ahead.
   */
  private static Outcome retry(TimerRecord current, long now) {
    boolean recurring = current.definition().isRecurring();
    long scheduledAt = current.scheduledAt();
    boolean failed = current.state() == FAILED || current.state() == BLOCKED;
    return failed
        ? answer(
            Answer.APPLIED,
            current.toBuilder()
                .state(SCHEDULED, Math.max(scheduledAt, now))
                .runAt(recurring ? scheduledAt : current.runAt())
                .attempt(0)
                .note(null)
                .build(now))
        : answer(Answer.WRONG_STATE, current);
  }

  /**
   * Runs a timer by hand. A run that has begun keeps its time, and so does a separate run that is
   * overdue. Otherwise, the run by hand is a separate run at the present time. It replaces a
   * postponed run.
   */
  private static TimerRecord runByHand(TimerRecord current, long now) {
    boolean overdue = current.runAt() != NONE && current.runAt() <= now;
    return current.toBuilder()
        .state(SCHEDULED, now)
        .runAt(current.attempt() > 0 || overdue ? current.runAt() : now)
        .note(null)
        .build(now);
  }
}
