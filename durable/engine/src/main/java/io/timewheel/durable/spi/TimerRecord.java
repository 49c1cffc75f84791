// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * All that is stored about one timer. Immutable.
 *
 * <p>The version names what was asked for: it grows when the timer is replaced or moved, never when
 * it fires. The revision counts the changes since; version and revision together grow with every
 * change, so a reader can tell which of two readings is the newer one.
 *
 * @param key the identity of the timer
 * @param version grows with every replacement, across deletion and forgetting
 * @param revision grows with every other change; 0 in a new version
 * @param state what the timer is doing
 * @param definition the definition
 * @param dueAt the time that was asked for or that the recurrence gives: of the present run, or of
 *     the next one
 * @param fireAt when the engine must look at this record, its place in the due index; {@link
 *     #NEVER} if it is not in that index
 * @param runAt the time of a run beside the series, one by hand or one that its handler has
 *     postponed, until that run ends; of a retried run, its own time; otherwise {@link #NONE}
 * @param attempt how many attempts of the present run have begun
 * @param claim the attempt that has not ended; null unless the state is RUNNING
 * @param former the last claim that did end, for answering repeated calls
 * @param paused whether the timer itself was paused; it may still be firing
 * @param cancelRequested whether it was cancelled while firing
 * @param createdAt when this version was made
 * @param changedAt when this record last changed
 * @param note why it is blocked or failed, or null
 * @param attempts the latest ended attempts, oldest first, at most {@link #MAX_ATTEMPTS_KEPT}
 */
public record TimerRecord(
    TimerKey key,
    long version,
    long revision,
    TimerState state,
    TimerDefinition definition,
    long dueAt,
    long fireAt,
    long runAt,
    int attempt,
    @Nullable Claim claim,
    @Nullable Claim former,
    boolean paused,
    boolean cancelRequested,
    long createdAt,
    long changedAt,
    @Nullable String note,
    List<Attempt> attempts) {

  /** A time that does not come. */
  public static final long NEVER = Long.MAX_VALUE;

  /** No time. */
  public static final long NONE = Long.MIN_VALUE;

  /** How many ended attempts a record keeps. */
  public static final int MAX_ATTEMPTS_KEPT = 100;

  /**
   * Checks that nothing is null that must not be.
   *
   * @param key the identity of the timer
   * @param version grows with every replacement, across deletion and forgetting
   * @param revision grows with every other change; 0 in a new version
   * @param state what the timer is doing
   * @param definition the definition
   * @param dueAt the time that was asked for or that the recurrence gives: of the present run, or
   *     of the next one
   * @param fireAt when the engine must look at this record, its place in the due index; {@link
   *     #NEVER} if it is not in that index
   * @param runAt the time of a run beside the series, one by hand or one that its handler has
   *     postponed, until that run ends; of a retried run, its own time; otherwise {@link #NONE}
   * @param attempt how many attempts of the present run have begun
   * @param claim the attempt that has not ended; null unless the state is RUNNING
   * @param former the last claim that did end, for answering repeated calls
   * @param paused whether the timer itself was paused; it may still be firing
   * @param cancelRequested whether it was cancelled while firing
   * @param createdAt when this version was made
   * @param changedAt when this record last changed
   * @param note why it is blocked or failed, or null
   * @param attempts the latest ended attempts, oldest first, at most {@link #MAX_ATTEMPTS_KEPT}
   */
  public TimerRecord {
    requireNonNull(key, "key");
    requireNonNull(state, "state");
    requireNonNull(definition, "definition");
    attempts = List.copyOf(attempts);
  }

  /**
   * Whether the due index holds the records of a state.
   *
   * @param state the state
   * @return true for the states that wait for a time
   */
  public static boolean isIndexed(TimerState state) {
    return switch (state) {
      case SCHEDULED, RETRYING, RUNNING -> true;
      default -> false;
    };
  }

  /** {@return whether the due index holds this record} */
  public boolean isIndexed() {
    return fireAt != NEVER;
  }

  /** {@return the time for which the present or next run is scheduled} */
  public long scheduledAt() {
    return claim != null ? claim.scheduledAt() : runAt != NONE ? runAt : dueAt;
  }

  /** {@return whether the timer was stopped by a pause of its namespace, not by one of its own} */
  public boolean isHeld() {
    return state == TimerState.PAUSED && !paused;
  }

  /**
   * {@return whether the next run of a series has waited for the end of a pause, a hold or a
   * parking: nobody has asked the rule for missed runs then, so it may have been missed however
   * soon it begins. Whoever schedules a timer, or ends a run of it, has asked it, and what has a
   * time beside the series is never missed}
   */
  public boolean isDeferred() {
    return state == TimerState.SCHEDULED
        && definition.isRecurring()
        && runAt == NONE
        && fireAt > dueAt
        && changedAt != createdAt
        && !hasJustEnded();
  }

  private boolean hasJustEnded() {
    return !attempts.isEmpty() && attempts.get(attempts.size() - 1).endedAtMillis() == changedAt;
  }

  /**
   * {@return whether the present run is one of the series. One that was retried, or moved to a past
   * time, has its own time as that of a run beside the series: so no rule for missed runs is asked
   * about it}
   */
  public boolean isOfSeries() {
    return runAt == NONE || runAt == dueAt;
  }

  /**
   * Whether {@link TimerStore#releasable} lists this record.
   *
   * @param handlers the handlers whose blocked timers are listed
   * @param namespaces the namespaces whose held timers are listed
   * @return true if its pause is over, or its handler is known
   */
  public boolean isReleasable(HandlerNames handlers, Set<String> namespaces) {
    return state == TimerState.BLOCKED
        ? handlers.contains(definition.handler())
        : isHeld() && namespaces.contains(key.namespace());
  }

  /** {@return the place of this record in the due index, as a scan gives it out} */
  public DueTimer due() {
    return new DueTimer(
        key,
        fireAt,
        version,
        revision,
        state,
        definition.handler(),
        definition.queue(),
        definition.isRecurring(),
        isDeferred());
  }

  /** {@return a builder that starts with this record} */
  Builder toBuilder() {
    return new Builder(this);
  }

  /** Makes a changed copy of a record. Not thread-safe. */
  static final class Builder {
    private final TimerRecord from;
    private long version;
    private long revision;
    private TimerState state;
    private long dueAt;
    private long fireAt;
    private long runAt;
    private int attempt;
    private @Nullable Claim claim;
    private @Nullable Claim former;
    private boolean paused;
    private boolean cancelRequested;
    private @Nullable String note;
    private List<Attempt> attempts;

    private Builder(TimerRecord from) {
      this.from = from;
      version = from.version;
      revision = from.revision + 1;
      state = from.state;
      dueAt = from.dueAt;
      fireAt = from.fireAt;
      runAt = from.runAt;
      attempt = from.attempt;
      claim = from.claim;
      former = from.former;
      paused = from.paused;
      cancelRequested = from.cancelRequested;
      note = from.note;
      attempts = from.attempts;
    }

    Builder version(long newVersion) {
      version = newVersion;
      revision = 0;
      return this;
    }

    /** Sets the state and the place in the due index, which go together. */
    Builder state(TimerState newState, long newFireAt) {
      state = newState;
      fireAt = newFireAt;
      return this;
    }

    Builder dueAt(long newDueAt) {
      dueAt = newDueAt;
      return this;
    }

    Builder runAt(long newRunAt) {
      runAt = newRunAt;
      return this;
    }

    Builder attempt(int newAttempt) {
      attempt = newAttempt;
      return this;
    }

    Builder claim(Claim newClaim) {
      claim = newClaim;
      return this;
    }

    /** Ends the open claim and writes it into the history. */
    Builder end(Attempt.End how, @Nullable String error, long now) {
      Claim open = requireNonNull(claim, "claim");
      former = open.ended(how);
      claim = null;
      List<Attempt> longer = new ArrayList<>(attempts);
      longer.add(new Attempt(open.attempt(), open.scheduledAt(), open.beganAt(), now, how, error));
      int surplus = longer.size() - MAX_ATTEMPTS_KEPT;
      attempts = surplus > 0 ? longer.subList(surplus, longer.size()) : longer;
      return this;
    }

    Builder paused(boolean newPaused) {
      paused = newPaused;
      return this;
    }

    Builder cancelRequested() {
      cancelRequested = true;
      return this;
    }

    Builder note(@Nullable String newNote) {
      note = newNote;
      return this;
    }

    TimerRecord build(long now) {
      return new TimerRecord(
          from.key,
          version,
          revision,
          state,
          from.definition,
          dueAt,
          fireAt,
          runAt,
          attempt,
          claim,
          former,
          paused,
          cancelRequested,
          revision == 0 ? now : from.createdAt,
          now,
          note,
          attempts);
    }
  }
}
