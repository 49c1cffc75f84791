// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.internal.time.MissedRunPolicy;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.DurableTimerException.Reason;
import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Converts calls into changes, and outcomes into results. Neither waits nor reads. */
final class Changes {
  private final EngineClock clock;
  private final long minGraceMillis;
  private final long maxPending;
  private final PayloadCodec codec;
  private final Consumer<Change.Schedule> check;

  /**
   * @param lease the node lease of the store; zero if there is none
   * @param maxPending the largest number of unfinished timers in a namespace
   * @param check throws if a timer may not be scheduled
   */
  Changes(
      EngineClock clock,
      Duration lease,
      long maxPending,
      PayloadCodec codec,
      Consumer<Change.Schedule> check) {
    this.clock = clock;
    minGraceMillis = new MissedRunPolicy(clock, lease).minGraceMillis();
    this.maxPending = maxPending;
    this.codec = codec;
    this.check = check;
  }

  /**
   * A call for one timer or for many.
   *
   * @param change makes the change of a timer
   * @param result converts its outcome
   * @param <A> identifies a timer: its key or its specification
   * @param <T> the result
   */
  record Call<A, T>(Function<A, Change> change, BiFunction<Change, Outcome, T> result) {}

  // Schedule

  Call<TimerSpec, ScheduleResult> schedule() {
    return new Call<>(
        spec -> {
          Change.Schedule change = change(spec);
          check.accept(change);
          return change;
        },
        (change, outcome) -> scheduled((Change.Schedule) change, outcome));
  }

  private Change.Schedule change(TimerSpec spec) {
    return requireNonNull(spec, "spec")
        .toChange(clock.nowMillis(), minGraceMillis, maxPending, codec);
  }

  List<Instant> preview(TimerSpec spec, int count) {
    return new TimerInfo(TimerRecord.scheduled(change(spec), 0, null), TimerRecord.NONE)
        .runs(count);
  }

  private static ScheduleResult scheduled(Change.Schedule change, Outcome outcome) {
    return switch (outcome.answer()) {
      case CREATED -> result(ScheduleResult.Outcome.CREATED, change, outcome);
      case REPLACED -> result(ScheduleResult.Outcome.REPLACED, change, outcome);
      case UNCHANGED -> result(ScheduleResult.Outcome.UNCHANGED, change, outcome);
      case EXISTS ->
          throw refused(Reason.EXISTS, outcome, change.key() + " exists (expected: absent)");
      case VERSION_DIFFERS -> throw versionDiffers(change.key(), change.version(), outcome);
      case COMPLETED, CANCELLED ->
          throw refused(
              Reason.FINISHED,
              outcome,
              change.key()
                  + (outcome.answer() == Outcome.Answer.COMPLETED ? " has fired" : " was cancelled")
                  + " (expected: version "
                  + change.version()
                  + ", unfinished)");
      case OVER_LIMIT ->
          throw refused(
              Reason.OVER_LIMIT,
              outcome,
              "namespace "
                  + change.key().namespace()
                  + " has too many pending timers (expected: fewer than "
                  + change.maxPending()
                  + ")");
      case REQUEST_DIFFERS -> throw requestDiffers(change, outcome);
      default -> throw new AssertionError(outcome);
    };
  }

  private static ScheduleResult result(
      ScheduleResult.Outcome effect, Change.Schedule change, Outcome outcome) {
    TimerRecord record = TimerRecord.scheduled(change, outcome.version(), null);
    return new ScheduleResult(effect, new TimerInfo(record, TimerRecord.NONE));
  }

  // Commands

  Call<TimerKey, CancelResult> cancel(long version, @Nullable RequestId request) {
    return new Call<>(
        key -> new Change.Cancel(Limits.key(key), version, request, clock.nowMillis()),
        (change, outcome) -> cancelled((Change.Cancel) change, outcome));
  }

  private static CancelResult cancelled(Change.Cancel change, Outcome outcome) {
    CancelResult.Outcome result =
        switch (outcome.answer()) {
          case CANCELLED -> CancelResult.Outcome.CANCELLED;
          case RUNNING -> CancelResult.Outcome.RUNNING;
          case COMPLETED -> CancelResult.Outcome.COMPLETED;
          case NOT_FOUND -> CancelResult.Outcome.NOT_FOUND;
          case VERSION_DIFFERS -> throw versionDiffers(change.key(), change.version(), outcome);
          case REQUEST_DIFFERS -> throw requestDiffers(change, outcome);
          default -> throw new AssertionError(outcome);
        };
    TimerRecord record = outcome.record();
    return new CancelResult(
        result, outcome.version(), record == null ? List.of() : record.attempts());
  }

  Call<TimerKey, VerbResult> verb(
      Change.Verb.Command command, long version, @Nullable RequestId request) {
    return new Call<>(
        key -> new Change.Verb(Limits.key(key), command, version, request, clock.nowMillis()),
        Changes::verbResult);
  }

  Call<TimerKey, VerbResult> move(Instant at, long version, @Nullable RequestId request) {
    long dueMillis = EpochMillis.ceil(requireNonNull(at, "at"));
    if (dueMillis == EpochMillis.NEVER) {
      throw new InvalidArgumentException("at: " + at + " (expected: an earlier time)");
    }
    return new Call<>(
        key -> new Change.Move(Limits.key(key), version, dueMillis, request, clock.nowMillis()),
        Changes::verbResult);
  }

  private static VerbResult verbResult(Change change, Outcome outcome) {
    return switch (outcome.answer()) {
      case APPLIED -> VerbResult.DONE;
      case UNCHANGED -> VerbResult.UNCHANGED;
      case WRONG_STATE -> VerbResult.WRONG_STATE;
      case VERSION_DIFFERS -> VerbResult.VERSION_DIFFERS;
      case NOT_FOUND -> VerbResult.NOT_FOUND;
      case REQUEST_DIFFERS -> throw requestDiffers(change, outcome);
      default -> throw new AssertionError(outcome);
    };
  }

  /** Stores the answer to a request, unless it has one. The result is the stored answer. */
  Call<TimerKey, OptionalLong> keep(RequestId request, OptionalLong answer) {
    requireNonNull(request, "request");
    return new Call<>(
        key ->
            new Change.Keep(
                Limits.key(key), request, answer.orElse(TimerRecord.NONE), clock.nowMillis()),
        (change, outcome) ->
            switch (outcome.answer()) {
              case APPLIED -> OptionalLong.of(outcome.version());
              case NOT_FOUND -> OptionalLong.empty();
              case REQUEST_DIFFERS -> throw requestDiffers(change, outcome);
              default -> throw new AssertionError(outcome);
            });
  }

  // Failures

  static DurableTimerException requestDiffers(Change change, Outcome outcome) {
    return refused(
        Reason.REQUEST_DIFFERS,
        outcome,
        change.key() + ": the request ID belongs to an earlier request with different content");
  }

  private static DurableTimerException versionDiffers(TimerKey key, long version, Outcome outcome) {
    return refused(
        Reason.VERSION_DIFFERS,
        outcome,
        outcome.version() == 0
            ? key + " is absent"
            : key + " has version " + outcome.version() + " (expected: " + version + ")");
  }

  private static DurableTimerException refused(Reason reason, Outcome outcome, String message) {
    return new DurableTimerException(reason, outcome.version(), message, null);
  }

  static DurableTimerException failed(StoreException e) {
    return new DurableTimerException(e.reason(), 0, String.valueOf(e.getMessage()), e);
  }
}
