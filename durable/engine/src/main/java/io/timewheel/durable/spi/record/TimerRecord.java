// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The stored state of one timer. Immutable.
 *
 * <p>The version identifies the request: it grows when the timer is replaced or moved, never when
 * it fires. The revision counts the changes since then. Version and revision together grow with
 * every change, so a reader can tell which of two readings is newer.
 *
 * @param key the identity of the timer
 * @param version grows with every replacement, even after the timer was deleted or purged
 * @param revision grows with every other change; 0 in a new version
 * @param state the state of the timer
 * @param definition the definition
 * @param dueAt the requested time, or the time that the recurrence gives, of the present run or of
 *     the next one
 * @param fireAt the time at which the engine must handle this record, which is its time in the due
 *     index. If the record is not in that index, {@link #NEVER}
 * @param runAt until it ends, the time of a run that is separate from the schedule (run by hand, or
 *     postponed by its handler). Also the time of a retried run. Otherwise {@link #NONE}
 * @param attempt the number of attempts of the present run that have begun
 * @param runs the number of runs of the schedule that have ended or were postponed by their
 *     handler; skipped and dropped runs do not count
 * @param claim the open attempt; null unless the state is RUNNING
 * @param former the last claim that ended, to answer repeated calls
 * @param paused true if the timer itself was paused; an attempt may still be running
 * @param cancelRequested true if it was cancelled during an attempt
 * @param createdAt the time at which this version was created
 * @param changedAt the time of the last change of this record
 * @param note the reason why it is blocked or failed, or null
 * @param trace the first lines of the stack trace of the last error in {@code attempts}, or null
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
    long runs,
    @Nullable Claim claim,
    @Nullable Claim former,
    boolean paused,
    boolean cancelRequested,
    long createdAt,
    long changedAt,
    @Nullable String note,
    @Nullable String trace,
    List<Attempt> attempts) {

  /** A time that never comes. */
  public static final long NEVER = Long.MAX_VALUE;

  /** No time. */
  public static final long NONE = Long.MIN_VALUE;

  /** The largest number of ended attempts in a record. */
  public static final int MAX_ATTEMPTS_KEPT = 100;

  /**
   * Checks that all required components are present.
   *
   * @param key the identity of the timer
   * @param version grows with every replacement, even after the timer was deleted or purged
   * @param revision grows with every other change; 0 in a new version
   * @param state the state of the timer
   * @param definition the definition
   * @param dueAt the requested time, or the time that the recurrence gives, of the present run or
   *     of the next one
   * @param fireAt the time at which the engine must handle this record, which is its time in the
   *     due index. If the record is not in that index, {@link #NEVER}
   * @param runAt until it ends, the time of a run that is separate from the schedule (run by hand,
   *     or postponed by its handler). Also the time of a retried run. Otherwise {@link #NONE}
   * @param attempt the number of attempts of the present run that have begun
   * @param runs the number of runs of the schedule that have ended or were postponed by their
   *     handler; skipped and dropped runs do not count
   * @param claim the open attempt; null unless the state is RUNNING
   * @param former the last claim that ended, to answer repeated calls
   * @param paused true if the timer itself was paused; an attempt may still be running
   * @param cancelRequested true if it was cancelled during an attempt
   * @param createdAt the time at which this version was created
   * @param changedAt the time of the last change of this record
   * @param note the reason why it is blocked or failed, or null
   * @param trace the first lines of the stack trace of the last error in {@code attempts}, or null
   * @param attempts the latest ended attempts, oldest first, at most {@link #MAX_ATTEMPTS_KEPT}
   */
  public TimerRecord {
    requireNonNull(key, "key");
    requireNonNull(state, "state");
    requireNonNull(definition, "definition");
    attempts = List.copyOf(attempts);
  }

  /**
   * Returns whether the due index contains the records of a state.
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

  /**
   * Returns a timer as it is scheduled, before anything else happens to it. If its schedule has no
   * run, it is completed.
   *
   * @param change the definition and the due time
   * @param version the version
   * @param former the last claim of the version before; null if there is none
   * @return the first record of this version
   */
  public static TimerRecord scheduled(
      Change.Schedule change, long version, @Nullable Claim former) {
    boolean ended = change.dueAt() == NEVER;
    return new TimerRecord(
        change.key(),
        version,
        0,
        ended ? TimerState.COMPLETED : TimerState.SCHEDULED,
        change.definition(),
        ended ? change.now() : change.dueAt(),
        Math.max(change.dueAt(), change.now()),
        NONE,
        0,
        0,
        null,
        former,
        false,
        false,
        change.now(),
        change.now(),
        null,
        null,
        List.of());
  }

  /** {@return whether the due index contains this record} */
  public boolean isIndexed() {
    return fireAt != NEVER;
  }

  /** {@return the time for which the present or next run is scheduled} */
  public long scheduledAt() {
    return claim != null ? claim.scheduledAt() : runAt != NONE ? runAt : dueAt;
  }

  /** {@return whether the timer is held by a pause of its namespace, not by its own pause} */
  public boolean isHeld() {
    return state == TimerState.PAUSED && !paused;
  }

  /**
   * {@return whether the next run of a schedule has waited because the timer was paused, held or
   * blocked. The rule for missed runs has not been applied to such a run, so it may have been
   * missed, however soon it begins. The rule is applied when a timer is scheduled and when a run
   * ends. A run that is separate from the schedule is never missed}
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
   * {@return whether the present run belongs to the schedule. A run that was retried, or moved to a
   * past time, has a time of its own, so the rule for missed runs does not apply to it}
   */
  public boolean isScheduledRun() {
    return runAt == NONE || runAt == dueAt;
  }

  /**
   * Returns whether {@link TimerStore#releasable} lists this record.
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

  /** {@return the entry of this record in the due index} */
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

  /** {@return a builder of the next revision of this record} */
  Builder toBuilder() {
    Builder builder = new Builder(this);
    builder.revision++;
    return builder;
  }

  /** {@return a builder of a copy of this record, of the same revision} */
  public Builder copy() {
    return new Builder(this);
  }

  /** Makes a changed copy of a record. Not thread-safe. */
  public static final class Builder {
    private final TimerKey key;
    private long version;
    private long revision;
    private TimerState state;
    private long dueAt;
    private long fireAt;
    private long runAt;
    private int attempt;
    private long runs;
    private @Nullable Claim claim;
    private @Nullable Claim former;
    private boolean paused;
    private boolean cancelRequested;
    private TimerDefinition definition;
    private long createdAt;
    private long changedAt;
    private @Nullable String note;
    private @Nullable String trace;
    private List<Attempt> attempts;

    private Builder(TimerRecord from) {
      key = from.key;
      version = from.version;
      revision = from.revision;
      state = from.state;
      dueAt = from.dueAt;
      fireAt = from.fireAt;
      runAt = from.runAt;
      attempt = from.attempt;
      runs = from.runs;
      claim = from.claim;
      former = from.former;
      paused = from.paused;
      cancelRequested = from.cancelRequested;
      definition = from.definition;
      createdAt = from.createdAt;
      changedAt = from.changedAt;
      note = from.note;
      trace = from.trace;
      attempts = from.attempts;
    }

    /**
     * Sets the version. Its revision is 0.
     *
     * @param newVersion the version
     * @return this builder
     */
    public Builder version(long newVersion) {
      version = newVersion;
      revision = 0;
      return this;
    }

    /**
     * Sets the state, and the time in the due index that belongs to it.
     *
     * @param newState the state
     * @param newFireAt the time; {@link #NEVER} if the record is not in the index
     * @return this builder
     */
    public Builder state(TimerState newState, long newFireAt) {
      state = newState;
      fireAt = newFireAt;
      return this;
    }

    Builder dueAt(long newDueAt) {
      dueAt = newDueAt;
      return this;
    }

    /**
     * Sets the time of a run that is separate from the schedule.
     *
     * @param newRunAt the time, or {@link #NONE}
     * @return this builder
     */
    public Builder runAt(long newRunAt) {
      runAt = newRunAt;
      return this;
    }

    Builder attempt(int newAttempt) {
      attempt = newAttempt;
      return this;
    }

    /** Counts a run of the schedule. */
    Builder countRun() {
      runs++;
      return this;
    }

    /**
     * Sets the open attempt.
     *
     * @param newClaim the attempt, or null
     * @return this builder
     */
    public Builder claim(@Nullable Claim newClaim) {
      claim = newClaim;
      return this;
    }

    /**
     * Sets the last claim that ended.
     *
     * @param newFormer the claim, or null
     * @return this builder
     */
    public Builder former(@Nullable Claim newFormer) {
      former = newFormer;
      return this;
    }

    /**
     * Sets the definition.
     *
     * @param newDefinition the definition
     * @return this builder
     */
    public Builder definition(TimerDefinition newDefinition) {
      definition = newDefinition;
      return this;
    }

    /**
     * Sets the time of the last change.
     *
     * @param newChangedAt the time
     * @return this builder
     */
    public Builder changedAt(long newChangedAt) {
      changedAt = newChangedAt;
      return this;
    }

    /** Ends the open claim without an error and writes it into the history. */
    Builder end(Attempt.End how, long now) {
      return end(how, null, null, now);
    }

    /** Ends the open claim and writes it into the history. */
    Builder end(Attempt.End how, @Nullable String error, @Nullable String newTrace, long now) {
      Claim open = requireNonNull(claim, "claim");
      former = open.ended(how);
      claim = null;
      List<Attempt> longer = new ArrayList<>(attempts);
      if (error != null) {
        longer.replaceAll(ErrorTexts::earlier);
      }
      longer.add(new Attempt(open.attempt(), open.scheduledAt(), open.beganAt(), now, how, error));
      int surplus = longer.size() - MAX_ATTEMPTS_KEPT;
      attempts = surplus > 0 ? longer.subList(surplus, longer.size()) : longer;
      boolean hasError = attempts.stream().anyMatch(attempt -> attempt.error() != null);
      trace = error != null ? newTrace : hasError ? trace : null;
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

    /** {@return the record after a change, which is the first of a new version} */
    TimerRecord build(long now) {
      createdAt = revision == 0 ? now : createdAt;
      changedAt = now;
      return build();
    }

    /** {@return the record} */
    public TimerRecord build() {
      return new TimerRecord(
          key,
          version,
          revision,
          state,
          definition,
          dueAt,
          fireAt,
          runAt,
          attempt,
          runs,
          claim,
          former,
          paused,
          cancelRequested,
          createdAt,
          changedAt,
          note,
          trace,
          attempts);
    }
  }
}
