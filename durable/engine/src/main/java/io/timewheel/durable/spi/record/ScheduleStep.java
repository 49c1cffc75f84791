// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

import static io.timewheel.durable.model.TimerState.COMPLETED;
import static io.timewheel.durable.model.TimerState.FAILED;
import static io.timewheel.durable.spi.record.Transitions.answer;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.spi.record.Outcome.Answer;
import org.jspecify.annotations.Nullable;

/** Applies a {@link Change.Schedule} to an existing or absent timer. */
final class ScheduleStep {
  private ScheduleStep() {}

  static Outcome apply(@Nullable TimerRecord current, Change.Schedule change, Facts facts) {
    boolean unfinished = current != null && !current.state().isFinished();
    boolean ended = !unfinished && current != null && hasEnded(current, change);
    TimerRecord present = unfinished || change.evenFinished() || ended ? current : null;
    if (change.condition() == Change.Condition.ABSENT && present != null) {
      return answer(Answer.EXISTS, present);
    }
    if (change.condition() == Change.Condition.VERSION) {
      if (current == null) {
        return new Outcome(Answer.VERSION_DIFFERS, 0, null);
      } else if (current.version() != change.version()) {
        return answer(Answer.VERSION_DIFFERS, current);
      } else if (present == null) { // it has fired, and keeps its version
        return answer(current.state() == COMPLETED ? Answer.COMPLETED : Answer.CANCELLED, current);
      }
    }
    if (present != null && isSame(present, change)) {
      return answer(Answer.UNCHANGED, present);
    }
    if (!unfinished
        && change.maxPending() != TimerRecord.NEVER
        && facts.pending(change.key().namespace()) >= change.maxPending()) {
      return current == null
          ? new Outcome(Answer.OVER_LIMIT, 0, null)
          : answer(Answer.OVER_LIMIT, current);
    }
    return answer(unfinished ? Answer.REPLACED : Answer.CREATED, made(current, change, facts));
  }

  /**
   * Returns whether the schedule of this very timer has nothing left. To schedule it again at the
   * next start of the application must not repeat its runs.
   */
  private static boolean hasEnded(TimerRecord current, Change.Schedule change) {
    return current.state() == COMPLETED
        && current.definition().isRecurring()
        && change.condition() != Change.Condition.VERSION
        && isSame(current, change);
  }

  private static boolean isSame(TimerRecord current, Change.Schedule change) {
    return !change.relative()
        && current.state() != FAILED
        && (current.state().isFinished() || !current.cancelRequested())
        && current.definition().isSameAs(change.definition())
        && (current.definition().isRecurring() || current.dueAt() == change.dueAt());
  }

  private static TimerRecord made(
      @Nullable TimerRecord current, Change.Schedule change, Facts facts) {
    long version = facts.nextVersion(current == null ? 0 : current.version());
    Claim former = null;
    if (current != null) {
      former =
          current.claim() != null
              ? current.claim().ended(Attempt.End.SUPERSEDED)
              : current.former();
    }
    return TimerRecord.scheduled(change, version, former);
  }
}
