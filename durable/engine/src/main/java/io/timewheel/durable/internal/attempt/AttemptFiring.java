// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.internal.time.Recurrence;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The firing of a claimed record, with the decision of its handler. */
public final class AttemptFiring implements Firing {
  private static final long LATE_MILLIS = 1_000;

  private final TimerRecord record;
  private final Claim claim;
  private final long firedAtMillis;
  private final boolean catchUp;
  private volatile @Nullable Decision decision;
  private volatile @Nullable Instant retryNotBefore;
  private volatile @Nullable Instant backNotBefore;

  /** The decision of a handler about the run: another time, or a reason to stop retrying. */
  record Decision(@Nullable Instant again, String reason) {}

  public AttemptFiring(TimerRecord record, long firedAtMillis, boolean catchUp) {
    this.record = record;
    this.claim = requireNonNull(record.claim(), "claim");
    this.firedAtMillis = firedAtMillis;
    this.catchUp = catchUp;
  }

  @Override
  public TimerKey key() {
    return record.key();
  }

  @Override
  public long version() {
    return record.version();
  }

  @Override
  public String handler() {
    return record.definition().handler();
  }

  @Override
  public int attempt() {
    return claim.attempt();
  }

  @Override
  public Instant scheduledAt() {
    return Instant.ofEpochMilli(claim.scheduledAt());
  }

  @Override
  public Instant firedAt() {
    return Instant.ofEpochMilli(firedAtMillis);
  }

  @Override
  public boolean isLate() {
    return firedAtMillis - claim.scheduledAt() > LATE_MILLIS;
  }

  @Override
  public boolean isCatchUp() {
    return catchUp;
  }

  @Override
  public byte[] payload() {
    return record.definition().payload();
  }

  @Override
  public Map<String, String> headers() {
    return record.definition().headers();
  }

  @Override
  public void reschedule(Instant at) {
    long unused = millis(at);
    decision = new Decision(at, "");
  }

  /** {@return the change that reschedules this run instead of recording a success} */
  Change.Finish rescheduled(Change.Finish success, Instant at) {
    return new Change.Finish(
        success.key(),
        success.token(),
        success.epoch(),
        Change.Finish.End.RESCHEDULED,
        offSchedule(millis(at), success.nextAt()),
        success.nextAt(),
        null,
        null,
        success.claimed(),
        success.request(),
        success.now());
  }

  /** Converts a time to milliseconds, rounded up. A time before 1970 becomes the start of 1970. */
  private static long millis(Instant at) {
    long millis = EpochMillis.ceil(requireNonNull(at, "at"));
    if (millis == EpochMillis.NEVER) {
      throw new IllegalArgumentException("at: " + at + " (expected: an earlier time)");
    }
    return Math.max(0, millis);
  }

  /**
   * Adds a millisecond if the schedule has a run at this time. The time is part of the identity of
   * a run, so the two runs would be confused.
   */
  private long offSchedule(long millis, long nextScheduledMillis) {
    boolean mayBe = record.definition().isRecurring() && millis >= nextScheduledMillis;
    if (!mayBe) {
      return millis;
    }
    Recurrence recurrence = Recurrence.parse(record.definition().recurrence());
    boolean meets = recurrence.fromEnd(1, nextScheduledMillis, millis + 1) == millis;
    return meets ? millis + 1 : millis;
  }

  @Override
  public void giveUp(String reason) {
    decision = new Decision(null, requireNonNull(reason, "reason"));
  }

  @Override
  public void retryNotBefore(Instant at) {
    retryNotBefore = requireNonNull(at, "at");
  }

  /** Returns the shortest wait for a retry that the handler has asked for, in milliseconds. */
  long retryWaitMillis(long nowMillis) {
    Instant notBefore = retryNotBefore;
    long wait =
        notBefore == null
            ? 0
            : EpochMillis.saturatedSubtract(EpochMillis.ceil(notBefore), nowMillis);
    return Math.min(wait, RetryPolicy.MAX_WAIT.toMillis());
  }

  @Override
  public void giveBack(Instant at) {
    long unused = millis(at);
    backNotBefore = at;
  }

  /** {@return the earliest time of the next attempt if this one is given back; otherwise null} */
  @Nullable Instant backNotBefore() {
    return backNotBefore;
  }

  @Nullable Decision decision() {
    return decision;
  }

  /** {@return timer, attempt and scheduled time, without the payload} */
  @Override
  public String toString() {
    return "Firing("
        + key()
        + " v"
        + version()
        + ", attempt "
        + attempt()
        + ", "
        + scheduledAt()
        + ")";
  }
}
