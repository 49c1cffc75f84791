// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

import static io.timewheel.durable.model.TimerState.BLOCKED;
import static io.timewheel.durable.model.TimerState.CANCELLED;
import static io.timewheel.durable.model.TimerState.COMPLETED;
import static io.timewheel.durable.model.TimerState.PAUSED;
import static io.timewheel.durable.model.TimerState.READY;
import static io.timewheel.durable.model.TimerState.RETRYING;
import static io.timewheel.durable.model.TimerState.RUNNING;
import static io.timewheel.durable.model.TimerState.SCHEDULED;
import static io.timewheel.durable.spi.record.TimerRecord.NEVER;
import static io.timewheel.durable.spi.record.TimerRecord.NONE;
import static io.timewheel.durable.spi.record.Transitions.answer;
import static io.timewheel.durable.spi.record.Transitions.same;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Outcome.Answer;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Applies the changes that the owner of a shard makes to a due timer: claim, make ready, skip,
 * block.
 */
final class OwnerSteps {
  private static final Set<TimerState> WAITING = Set.of(SCHEDULED, RETRYING);

  private OwnerSteps() {}

  static Outcome begin(TimerRecord current, Change.Begin change, Facts facts) {
    Claim open = current.claim();
    if (open != null && open.token().equals(change.token())) {
      return answer(Answer.APPLIED, current);
    }
    int attempt = current.attempt() + 1;
    boolean decided = isDecided(current, change.scheduledAt());
    long scheduledAt = decided ? change.scheduledAt() : current.scheduledAt();
    Claim claim =
        new Claim(
            change.token(),
            current.version(),
            scheduledAt,
            attempt,
            change.epoch(),
            change.now(),
            NEVER,
            null);
    return take(
        current,
        change,
        change.version(),
        change.revision(),
        change.now(),
        facts.paused(current.key().namespace()),
        next ->
            next.state(RUNNING, current.fireAt())
                .dueAt(decided ? scheduledAt : current.dueAt())
                .attempt(attempt)
                .claim(claim));
  }

  /**
   * Applies a step to a due timer. Before that, ends an attempt that is lost. A cancelled or paused
   * timer does not reach the step.
   */
  private static Outcome take(
      TimerRecord current,
      Change change,
      long version,
      long revision,
      long now,
      boolean scopePaused,
      Consumer<TimerRecord.Builder> step) {
    boolean takeOver = isLost(current, change.epoch(), now);
    if (!same(current, version, revision) || (!WAITING.contains(current.state()) && !takeOver)) {
      return answer(Answer.OUTDATED, current);
    }
    TimerRecord.Builder next = current.toBuilder();
    if (takeOver) {
      next.end(Attempt.End.LOST, now);
      if (current.cancelRequested()) {
        return answer(Answer.OUTDATED, next.state(CANCELLED, NEVER).build(now));
      }
    }
    if (scopePaused || (takeOver && current.paused())) {
      return answer(Answer.HELD, next.state(PAUSED, NEVER).build(now));
    }
    step.accept(next);
    return answer(Answer.APPLIED, next.build(now));
  }

  /**
   * Returns whether the open attempt is lost: a former owner of the shard began it, or its claim
   * lease has expired.
   */
  private static boolean isLost(TimerRecord current, long epoch, long now) {
    Claim open = current.claim();
    if (current.state() != RUNNING || open == null) {
      return false;
    }
    return open.until() == NEVER ? open.epoch() < epoch : open.until() <= now;
  }

  /**
   * Returns whether the run is a new one of the schedule, for which the engine has decided a time.
   */
  private static boolean isDecided(TimerRecord current, long scheduledAt) {
    return scheduledAt != NONE && current.attempt() == 0 && current.runAt() == NONE;
  }

  static Outcome makeReady(TimerRecord current, Change.MakeReady change, Facts facts) {
    return take(
        current,
        change,
        change.version(),
        change.revision(),
        change.now(),
        facts.paused(current.key().namespace()),
        next -> {
          if (isDecided(current, change.scheduledAt())) {
            next.dueAt(change.scheduledAt());
          }
          next.state(READY, NEVER);
        });
  }

  static Outcome skip(TimerRecord current, Change.Skip change) {
    if (!same(current, change.version(), change.revision())
        || current.state() != SCHEDULED
        || !current.definition().isRecurring()) {
      return answer(Answer.OUTDATED, current);
    }
    TimerRecord.Builder next = current.toBuilder();
    if (change.dueAt() == NEVER) {
      next.state(COMPLETED, NEVER);
    } else {
      next.dueAt(change.dueAt()).state(SCHEDULED, Math.max(change.dueAt(), change.now()));
    }
    return answer(Answer.APPLIED, next.build(change.now()));
  }

  static Outcome retime(TimerRecord current, Change.Retime change, Facts facts) {
    if (!same(current, change.version(), change.revision())) {
      return answer(Answer.OUTDATED, current);
    }
    boolean before = current.changedAt() < change.steppedTo() || current.changedAt() > change.now();
    Claim open = current.claim();
    long fireAt = Math.max(change.now(), change.fireAt());
    TimerRecord.Builder next = current.toBuilder();
    if (current.state() == SCHEDULED && current.definition().isRecurring()) {
      next.version(facts.nextVersion(current.version()))
          .dueAt(change.fireAt())
          .state(SCHEDULED, fireAt);
    } else if (current.state() == RETRYING && before) {
      next.state(RETRYING, fireAt);
    } else if (current.state() == RUNNING && before && open != null && open.until() != NEVER) {
      next.state(RUNNING, fireAt).claim(open.extended(fireAt));
    } else {
      return answer(Answer.OUTDATED, current);
    }
    return answer(Answer.APPLIED, next.build(change.now()));
  }

  static Outcome park(TimerRecord current, Change.Park change) {
    return take(
        current,
        change,
        change.version(),
        change.revision(),
        change.now(),
        false,
        next -> next.state(BLOCKED, NEVER).note(change.note()));
  }
}
