// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static io.timewheel.durable.TimerState.CANCELLED;
import static io.timewheel.durable.TimerState.DONE;
import static io.timewheel.durable.TimerState.FIRING;
import static io.timewheel.durable.TimerState.PARKED;
import static io.timewheel.durable.TimerState.PAUSED;
import static io.timewheel.durable.TimerState.READY;
import static io.timewheel.durable.TimerState.RETRYING;
import static io.timewheel.durable.TimerState.SCHEDULED;
import static io.timewheel.durable.TimerState.SET_ASIDE;
import static io.timewheel.durable.spi.TimerRecord.NEVER;
import static io.timewheel.durable.spi.TimerRecord.NONE;

import io.timewheel.durable.Attempt;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.Outcome.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The table of state and change, as code: what each change makes of a record, and what it answers.
 * Pure: it reads no clock and keeps nothing. The same table for people is in ADR 0010.
 *
 * <p>The epoch of a change is not looked at here: a store compares it before it calls.
 */
public final class Transitions {
  private static final Set<TimerState> WAITING = Set.of(SCHEDULED, RETRYING);

  private Transitions() {}

  /** What a store tells about the surroundings of a record. */
  public interface Context {
    /**
     * A version that was never given out for this key.
     *
     * @param above the version that it must be larger than; 0 if there is no record
     * @return the version
     */
    long nextVersion(long above);

    /**
     * How many unfinished timers a namespace has.
     *
     * @param namespace the namespace
     * @return how many
     */
    long pending(String namespace);

    /**
     * Whether a namespace, or everything, is paused.
     *
     * @param namespace the namespace
     * @return true if it is paused
     */
    boolean paused(String namespace);
  }

  /**
   * Takes one step.
   *
   * @param current the record as it is; null if there is none
   * @param change the step
   * @param context the surroundings
   * @return what came of it; nothing has to be written if its record is the one that was given
   */
  public static Outcome apply(@Nullable TimerRecord current, Change change, Context context) {
    if (change instanceof Change.Schedule schedule) {
      return schedule(current, schedule, context);
    }
    if (current == null) {
      return new Outcome(Answer.NOT_FOUND, 0, null);
    }
    if (change instanceof Change.Begin begin) {
      return begin(current, begin, context);
    } else if (change instanceof Change.Finish finish) {
      return finish(current, finish);
    } else if (change instanceof Change.MakeReady ready) {
      return makeReady(current, ready, context);
    } else if (change instanceof Change.Cancel cancel) {
      return cancel(current, cancel);
    } else if (change instanceof Change.Move move) {
      return move(current, move, context);
    } else if (change instanceof Change.Verb verb) {
      return verb(current, verb);
    } else if (change instanceof Change.Extend extend) {
      return extend(current, extend);
    } else if (change instanceof Change.Skip skip) {
      return skip(current, skip);
    } else if (change instanceof Change.Park park) {
      return park(current, park);
    }
    throw new AssertionError(change);
  }

  /**
   * Claims a ready timer for a consumer.
   *
   * @param current a record in the state READY
   * @param token the token of the claim
   * @param until when the lease ends
   * @param now the time of the claim
   * @return the record with the claim
   */
  public static TimerRecord lease(TimerRecord current, ClaimToken token, long until, long now) {
    int attempt = current.attempt() + 1;
    Claim claim =
        new Claim(token, current.version(), current.scheduledAt(), attempt, 0, now, until, null);
    return current.toBuilder().state(FIRING, until).attempt(attempt).claim(claim).build(now);
  }

  // Schedule, move, cancel

  private static Outcome schedule(
      @Nullable TimerRecord current, Change.Schedule change, Context context) {
    if (current != null && change.requestId() != null) {
      for (TimerRecord.Request request : current.requests()) {
        if (request.id().equals(change.requestId())) {
          return new Outcome(request.answer(), request.version(), current);
        }
      }
    }
    boolean unfinished = current != null && !current.state().isFinished();
    TimerRecord present = unfinished || change.evenFinished() ? current : null;
    if (change.condition() == Change.Condition.ABSENT && present != null) {
      return of(Answer.EXISTS, present);
    }
    if (change.condition() == Change.Condition.VERSION) {
      if (current == null) {
        return new Outcome(Answer.VERSION_DIFFERS, 0, null);
      } else if (current.version() != change.version()) {
        return of(Answer.VERSION_DIFFERS, current);
      } else if (present == null) { // its version is that of before it fired
        return of(current.state() == DONE ? Answer.FIRED : Answer.CANCELLED, current);
      }
    }
    if (present != null && isSame(present, change)) {
      return of(Answer.UNCHANGED, remembering(present, change.requestId()));
    }
    if (!unfinished && context.pending(change.key().namespace()) >= change.maxPending()) {
      return current == null
          ? new Outcome(Answer.OVER_LIMIT, 0, null)
          : of(Answer.OVER_LIMIT, current);
    }
    return of(
        unfinished ? Answer.REPLACED : Answer.CREATED,
        made(current, change, unfinished ? Answer.REPLACED : Answer.CREATED, context));
  }

  private static boolean isSame(TimerRecord current, Change.Schedule change) {
    return !change.relative()
        && current.state() != SET_ASIDE
        && !current.cancelRequested()
        && current.definition().equals(change.definition())
        && (current.definition().isRecurring() || current.dueAt() == change.dueAt());
  }

  /** The same again, so that the request is answered so after the timer has fired, too. */
  private static TimerRecord remembering(TimerRecord current, @Nullable String requestId) {
    return requestId == null
        ? current
        : current.toBuilder().request(requestId, Answer.UNCHANGED).build(current.changedAt());
  }

  private static TimerRecord made(
      @Nullable TimerRecord current, Change.Schedule change, Answer answer, Context context) {
    long version = context.nextVersion(current == null ? 0 : current.version());
    Claim former = null;
    List<Attempt> attempts = List.of();
    List<TimerRecord.Request> requests = new ArrayList<>();
    if (current != null) {
      requests.addAll(current.requests());
      former =
          current.claim() != null
              ? current.claim().ended(Attempt.End.SUPERSEDED)
              : current.former();
    }
    if (change.requestId() != null) {
      requests.add(new TimerRecord.Request(change.requestId(), answer, version));
      if (requests.size() > TimerRecord.MAX_REQUESTS_KEPT) {
        requests.remove(0);
      }
    }
    return new TimerRecord(
        change.key(),
        version,
        0,
        SCHEDULED,
        change.definition(),
        change.dueAt(),
        Math.max(change.dueAt(), change.now()),
        NONE,
        0,
        null,
        former,
        false,
        false,
        change.now(),
        change.now(),
        null,
        attempts,
        requests);
  }

  private static Outcome move(TimerRecord current, Change.Move change, Context context) {
    if (differs(current, change.version())) {
      return of(Answer.VERSION_DIFFERS, current);
    }
    if (current.state().isFinished() || current.state() == FIRING) {
      return of(Answer.WRONG_STATE, current);
    }
    boolean paused = current.state() == PAUSED;
    return of(
        Answer.APPLIED,
        current.toBuilder()
            .version(context.nextVersion(current.version()))
            .state(
                paused ? PAUSED : SCHEDULED,
                paused ? NEVER : Math.max(change.dueAt(), change.now()))
            .dueAt(change.dueAt())
            .runAt(NONE)
            .attempt(0)
            .note(null)
            .build(change.now()));
  }

  private static Outcome cancel(TimerRecord current, Change.Cancel change) {
    if (differs(current, change.version())) {
      return of(Answer.VERSION_DIFFERS, current);
    }
    return switch (current.state()) {
      case DONE -> of(Answer.FIRED, current);
      case CANCELLED -> of(Answer.CANCELLED, current);
      case FIRING ->
          of(
              Answer.FIRING,
              current.cancelRequested()
                  ? current
                  : current.toBuilder().cancelRequested().build(change.now()));
      default ->
          of(Answer.CANCELLED, current.toBuilder().state(CANCELLED, NEVER).build(change.now()));
    };
  }

  // What a person asks for

  private static Outcome verb(TimerRecord current, Change.Verb change) {
    if (differs(current, change.version())) {
      return of(Answer.VERSION_DIFFERS, current);
    }
    if (current.state().isFinished()) {
      return of(Answer.WRONG_STATE, current);
    }
    return switch (change.what()) {
      case PAUSE -> pause(current, change.now());
      case RESUME -> resume(current, change.now());
      case RELEASE ->
          current.isHeld() || current.state() == PARKED
              ? back(current, change.now())
              : unchanged(current);
      case RUN -> run(current, change.now());
      case REVIVE -> revive(current, change.now());
    };
  }

  private static Outcome pause(TimerRecord current, long now) {
    return switch (current.state()) {
      case SET_ASIDE -> of(Answer.WRONG_STATE, current);
      case FIRING ->
          current.paused()
              ? unchanged(current)
              : of(Answer.APPLIED, current.toBuilder().paused(true).build(now));
      default ->
          current.paused() && current.state() == PAUSED
              ? unchanged(current)
              : of(
                  Answer.APPLIED,
                  current.toBuilder().paused(true).state(PAUSED, NEVER).note(null).build(now));
    };
  }

  private static Outcome resume(TimerRecord current, long now) {
    if (current.state() != PAUSED) {
      return current.paused()
          ? of(Answer.APPLIED, current.toBuilder().paused(false).build(now))
          : unchanged(current);
    }
    return back(current, now);
  }

  /**
   * Back to where its time finds it, which is still to come if it had been claimed ahead; attempts
   * that have failed stay counted.
   */
  private static Outcome back(TimerRecord current, long now) {
    TimerState next = current.attempt() > 0 ? RETRYING : SCHEDULED;
    return of(
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
      case FIRING, SET_ASIDE -> of(Answer.WRONG_STATE, current);
      case RETRYING -> of(Answer.APPLIED, current.toBuilder().state(RETRYING, now).build(now));
      default -> of(Answer.APPLIED, runByHand(current, now));
    };
  }

  private static Outcome revive(TimerRecord current, long now) {
    boolean setAside = current.state() == SET_ASIDE || current.state() == PARKED;
    return setAside
        ? of(
            Answer.APPLIED,
            current.toBuilder().state(SCHEDULED, now).attempt(0).note(null).build(now))
        : of(Answer.WRONG_STATE, current);
  }

  /** An attempt of the present run goes on as it is; otherwise this is a run of its own. */
  private static TimerRecord runByHand(TimerRecord current, long now) {
    boolean ownRun = current.attempt() == 0 && current.runAt() == NONE;
    return current.toBuilder()
        .state(SCHEDULED, now)
        .runAt(ownRun ? now : current.runAt())
        .note(null)
        .build(now);
  }

  // What an owner does

  private static Outcome begin(TimerRecord current, Change.Begin change, Context context) {
    Claim open = current.claim();
    if (open != null && open.token().equals(change.token())) {
      return of(Answer.APPLIED, current);
    }
    if (current.version() != change.version() || current.revision() != change.revision()) {
      return of(Answer.OUTDATED, current);
    }
    boolean takeOver = current.state() == FIRING && open != null && open.epoch() < change.epoch();
    if (!WAITING.contains(current.state()) && !takeOver) {
      return of(Answer.OUTDATED, current);
    }
    TimerRecord.Builder next = current.toBuilder();
    boolean newRun = current.attempt() == 0 && current.runAt() == NONE;
    long scheduledAt =
        newRun && change.scheduledAt() != NONE ? change.scheduledAt() : current.scheduledAt();
    if (takeOver) {
      next.end(Attempt.End.LOST, null, change.now());
      if (current.cancelRequested()) {
        return of(Answer.OUTDATED, next.state(CANCELLED, NEVER).build(change.now()));
      }
    }
    if (context.paused(current.key().namespace()) || (takeOver && current.paused())) {
      return of(Answer.HELD, next.state(PAUSED, NEVER).build(change.now()));
    }
    int attempt = current.attempt() + 1;
    return of(
        Answer.APPLIED,
        next.state(FIRING, current.fireAt())
            .attempt(attempt)
            .claim(
                new Claim(
                    change.token(),
                    current.version(),
                    scheduledAt,
                    attempt,
                    change.epoch(),
                    change.now(),
                    NEVER,
                    null))
            .build(change.now()));
  }

  private static Outcome makeReady(TimerRecord current, Change.MakeReady change, Context context) {
    boolean same = current.version() == change.version() && current.revision() == change.revision();
    if (!same || !WAITING.contains(current.state())) {
      return of(Answer.OUTDATED, current);
    }
    return context.paused(current.key().namespace())
        ? of(Answer.HELD, current.toBuilder().state(PAUSED, NEVER).build(change.now()))
        : of(Answer.APPLIED, current.toBuilder().state(READY, NEVER).build(change.now()));
  }

  private static Outcome skip(TimerRecord current, Change.Skip change) {
    boolean same = current.version() == change.version() && current.revision() == change.revision();
    if (!same || current.state() != SCHEDULED || !current.definition().isRecurring()) {
      return of(Answer.OUTDATED, current);
    }
    TimerRecord.Builder next = current.toBuilder();
    if (change.dueAt() == NEVER) {
      next.state(DONE, NEVER);
    } else {
      next.dueAt(change.dueAt()).state(SCHEDULED, Math.max(change.dueAt(), change.now()));
    }
    return of(Answer.APPLIED, next.build(change.now()));
  }

  private static Outcome park(TimerRecord current, Change.Park change) {
    boolean same = current.version() == change.version() && current.revision() == change.revision();
    return same && WAITING.contains(current.state())
        ? of(
            Answer.APPLIED,
            current.toBuilder().state(PARKED, NEVER).note(change.note()).build(change.now()))
        : of(Answer.OUTDATED, current);
  }

  private static Outcome finish(TimerRecord current, Change.Finish change) {
    Claim open = current.claim();
    if (open == null || !open.token().equals(change.token())) {
      return repeated(current, change);
    }
    boolean lost =
        change.end() == Change.Finish.End.LOST || change.end() == Change.Finish.End.LOST_EXHAUSTED;
    if (lost && open.until() > change.now()) {
      return of(Answer.OUTDATED, current);
    }
    TimerRecord.Builder next =
        current.toBuilder().end(endOf(change.end()), change.error(), change.now());
    switch (change.end()) {
      case SUCCEEDED -> completed(current, change, next);
      case EXHAUSTED, LOST_EXHAUSTED -> exhausted(current, change, next);
      case FAILED, LOST -> again(current, next, RETRYING, change);
      case RESCHEDULED -> {
        if (current.runAt() != NONE) {
          next.runAt(change.nextAt());
        } else if (current.definition().isRecurring()) {
          next.runAt(change.nextAt()).dueAt(change.seriesAt());
        } else {
          next.dueAt(change.nextAt());
        }
        again(current, next.attempt(0), SCHEDULED, change);
      }
      case GIVEN_BACK -> {
        int attempt = current.attempt() - 1;
        TimerState state =
            current.definition().queue() ? READY : attempt > 0 ? RETRYING : SCHEDULED;
        again(current, next.attempt(attempt), state, change);
      }
    }
    return of(Answer.APPLIED, next.build(change.now()));
  }

  private static void completed(
      TimerRecord current, Change.Finish change, TimerRecord.Builder next) {
    boolean goesOn = current.definition().isRecurring() && change.nextAt() != NEVER;
    if (current.definition().isRecurring() && current.cancelRequested()) {
      next.state(CANCELLED, NEVER);
    } else if (!goesOn) {
      next.state(DONE, NEVER);
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
    } else if (current.definition().isRecurring() && change.nextAt() != NEVER) {
      completed(current, change, next);
    } else {
      next.state(SET_ASIDE, NEVER).note(change.error());
    }
  }

  private static void again(
      TimerRecord current, TimerRecord.Builder next, TimerState state, Change.Finish change) {
    if (current.cancelRequested()) {
      next.state(CANCELLED, NEVER);
    } else if (current.paused()) {
      next.state(PAUSED, NEVER);
    } else {
      long at = Math.max(change.nextAt(), Math.max(current.scheduledAt(), change.now()));
      next.state(state, state == READY ? NEVER : at);
    }
  }

  /** An end that comes again, or one that comes after the timer was replaced. */
  private static Outcome repeated(TimerRecord current, Change.Finish change) {
    Claim former = current.former();
    boolean known =
        former != null
            && former.token().equals(change.token())
            && (former.end() == endOf(change.end()) || former.end() == Attempt.End.SUPERSEDED);
    return of(known ? Answer.APPLIED : Answer.OUTDATED, current);
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

  private static Outcome extend(TimerRecord current, Change.Extend change) {
    Claim open = current.claim();
    if (open == null || open.until() == NEVER || !open.token().equals(change.token())) {
      return of(Answer.OUTDATED, current);
    }
    return of(
        Answer.APPLIED,
        current.toBuilder()
            .state(FIRING, change.until())
            .claim(open.extended(change.until()))
            .build(change.now()));
  }

  private static boolean differs(TimerRecord current, long version) {
    return version != 0 && version != current.version();
  }

  private static Outcome unchanged(TimerRecord current) {
    return of(Answer.UNCHANGED, current);
  }

  private static Outcome of(Answer answer, TimerRecord record) {
    return new Outcome(answer, record.version(), record);
  }
}
