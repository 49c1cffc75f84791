// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

import static io.timewheel.durable.model.TimerState.CANCELLED;
import static io.timewheel.durable.model.TimerState.PAUSED;
import static io.timewheel.durable.model.TimerState.RUNNING;
import static io.timewheel.durable.model.TimerState.SCHEDULED;
import static io.timewheel.durable.spi.record.TimerRecord.NEVER;
import static io.timewheel.durable.spi.record.TimerRecord.NONE;

import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.spi.record.Outcome.Answer;
import org.jspecify.annotations.Nullable;

/**
 * Computes the new record and the answer for each combination of state and change. The methods are
 * pure: they read no clock and keep no state. {@code docs/internals/transitions.md} contains the
 * same rules as a table. They ignore the epoch of a change.
 */
public final class Transitions {
  private Transitions() {}

  /**
   * Applies one change.
   *
   * @param current the present record; null if there is none
   * @param change the change
   * @param facts the other data of the store
   * @return the outcome; the store need not write it if its record is {@code current}
   */
  public static Outcome apply(@Nullable TimerRecord current, Change change, Facts facts) {
    RequestId request = change.request();
    if (request != null) {
      RequestAnswer first = facts.answer(change.key(), request.id());
      if (first != null) {
        return first.repeated(request, current);
      }
    }
    if (change instanceof Change.Keep keep) {
      return keep.value() == NONE
          ? new Outcome(Answer.NOT_FOUND, 0, current)
          : new Outcome(Answer.APPLIED, keep.value(), current);
    }
    if (change instanceof Change.Schedule schedule) {
      return ScheduleStep.apply(current, schedule, facts);
    }
    if (current == null) {
      return new Outcome(Answer.NOT_FOUND, 0, null);
    }
    if (change instanceof Change.Begin begin) {
      return OwnerSteps.begin(current, begin, facts);
    } else if (change instanceof Change.Finish finish) {
      return EndSteps.finish(current, finish);
    } else if (change instanceof Change.MakeReady ready) {
      return OwnerSteps.makeReady(current, ready, facts);
    } else if (change instanceof Change.Cancel cancel) {
      return cancel(current, cancel);
    } else if (change instanceof Change.Move move) {
      return move(current, move, facts);
    } else if (change instanceof Change.Verb verb) {
      return VerbSteps.apply(current, verb);
    } else if (change instanceof Change.Extend extend) {
      return EndSteps.extend(current, extend);
    } else if (change instanceof Change.Skip skip) {
      return OwnerSteps.skip(current, skip);
    } else if (change instanceof Change.Retime retime) {
      return OwnerSteps.retime(current, retime, facts);
    } else if (change instanceof Change.Park park) {
      return OwnerSteps.park(current, park);
    }
    throw new AssertionError(change);
  }

  /**
   * Claims a ready timer for a consumer.
   *
   * @param current a record in the state READY
   * @param token the token of the claim
   * @param until the expiry of the claim lease
   * @param now the time of the claim
   * @return the record with the claim
   */
  public static TimerRecord lease(TimerRecord current, ClaimToken token, long until, long now) {
    int attempt = current.attempt() + 1;
    Claim claim =
        new Claim(token, current.version(), current.scheduledAt(), attempt, 0, now, until, null);
    return current.toBuilder().state(RUNNING, until).attempt(attempt).claim(claim).build(now);
  }

  // Move, cancel

  private static Outcome move(TimerRecord current, Change.Move change, Facts facts) {
    if (differs(current, change.version())) {
      return answer(Answer.VERSION_DIFFERS, current);
    }
    if (current.state().isFinished() || current.state() == RUNNING) {
      return answer(Answer.WRONG_STATE, current);
    }
    boolean paused = current.state() == PAUSED;
    // A time in the past counts as now, however old it is. The rule for missed runs does not apply
    // to it.
    boolean now = !paused && current.definition().isRecurring() && change.dueAt() < change.now();
    return answer(
        Answer.APPLIED,
        current.toBuilder()
            .version(facts.nextVersion(current.version()))
            .state(
                paused ? PAUSED : SCHEDULED,
                paused ? NEVER : Math.max(change.dueAt(), change.now()))
            .dueAt(change.dueAt())
            .runAt(now ? change.dueAt() : NONE)
            .attempt(0)
            .note(null)
            .build(change.now()));
  }

  private static Outcome cancel(TimerRecord current, Change.Cancel change) {
    if (differs(current, change.version())) {
      return answer(Answer.VERSION_DIFFERS, current);
    }
    return switch (current.state()) {
      case COMPLETED -> answer(Answer.COMPLETED, current);
      case CANCELLED -> answer(Answer.CANCELLED, current);
      case RUNNING ->
          answer(
              Answer.RUNNING,
              current.cancelRequested()
                  ? current
                  : current.toBuilder().cancelRequested().build(change.now()));
      default ->
          answer(Answer.CANCELLED, current.toBuilder().state(CANCELLED, NEVER).build(change.now()));
    };
  }

  /** Returns whether a change is based on the present record. */
  static boolean same(TimerRecord current, long version, long revision) {
    return current.version() == version && current.revision() == revision;
  }

  static boolean differs(TimerRecord current, long version) {
    return version != 0 && version != current.version();
  }

  static Outcome unchanged(TimerRecord current) {
    return answer(Answer.UNCHANGED, current);
  }

  static Outcome answer(Answer answer, TimerRecord record) {
    return new Outcome(answer, record.version(), record);
  }
}
