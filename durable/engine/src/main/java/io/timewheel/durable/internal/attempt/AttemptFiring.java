// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.internal.time.Recurrence;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.TimerRecord;
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

  /** How a handler ends the run: with another time, or without one for a reason. */
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

  /** {@return the change that reschedules this run in place of a success} */
  Change.Finish rescheduled(Change.Finish success, Instant at) {
    return new Change.Finish(
        success.key(),
        success.token(),
        success.epoch(),
        Change.Finish.End.RESCHEDULED,
        besideSeries(millis(at), success.nextAt()),
        success.nextAt(),
        null,
        success.claimed(),
        success.request(),
        success.now());
  }

  /** Rounded up; a time before 1970 is that of 1970. */
  private static long millis(Instant at) {
    long millis = EpochMillis.ceil(requireNonNull(at, "at"));
    if (millis == EpochMillis.NEVER) {
      throw new IllegalArgumentException("at: " + at + " (expected: an earlier time)");
    }
    return Math.max(0, millis);
  }

  /**
   * Not at a time of the series itself, but right after it: the time is part of the identity of a
   * run, and the series has a run of its own then.
   */
  private long besideSeries(long millis, long seriesMillis) {
    boolean mayBe = record.definition().isRecurring() && millis >= seriesMillis;
    if (!mayBe) {
      return millis;
    }
    Recurrence recurrence = Recurrence.parse(record.definition().recurrence());
    boolean meets = recurrence.fromEnd(1, seriesMillis, millis + 1) == millis;
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

  @Nullable Instant earliestRetry() {
    return retryNotBefore;
  }

  @Override
  public void giveBack(Instant at) {
    long unused = millis(at);
    backNotBefore = at;
  }

  /** {@return when an attempt that is given back comes again; null if it is not given back} */
  @Nullable Instant backNotBefore() {
    return backNotBefore;
  }

  @Nullable Decision decision() {
    return decision;
  }

  /** {@return timer, attempt and scheduled time; not the payload} */
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
