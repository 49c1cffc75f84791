// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.FinishingHandler;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a handler is given: one attempt of one run of a timer. */
public final class Firing {
  /** What is late by more than this says so. */
  private static final long LATE_MILLIS = 1_000;

  private final TimerRecord record;
  private final Claim claim;
  private final long firedAtMillis;
  private final boolean catchUp;
  private volatile @Nullable Decision decision;
  private volatile @Nullable Instant retryNotBefore;

  /** What a handler decided about its timer. */
  record Decision(@Nullable Instant again, String reason) {}

  Firing(TimerRecord record, long firedAtMillis, boolean catchUp) {
    this.record = record;
    this.claim = requireNonNull(record.claim(), "claim");
    this.firedAtMillis = firedAtMillis;
    this.catchUp = catchUp;
  }

  /** {@return the identity of the timer} */
  public TimerKey key() {
    return record.key();
  }

  /** {@return the namespace of the timer} */
  public String namespace() {
    return record.key().namespace();
  }

  /** {@return the id of the timer} */
  public String id() {
    return record.key().id();
  }

  /** {@return the version of the timer} */
  public long version() {
    return record.version();
  }

  /** {@return the name of the handler, which is one of many in a family} */
  public String handler() {
    return record.definition().handler();
  }

  /** {@return which attempt of this run it is; the first is 1} */
  public int attempt() {
    return claim.attempt();
  }

  /** {@return the time for which this run is scheduled} */
  public Instant scheduledAt() {
    return Instant.ofEpochMilli(claim.scheduledAt());
  }

  /** {@return when this attempt began} */
  public Instant firedAt() {
    return Instant.ofEpochMilli(firedAtMillis);
  }

  /** {@return whether this attempt began more than a second after the scheduled time} */
  public boolean isLate() {
    return firedAtMillis - claim.scheduledAt() > LATE_MILLIS;
  }

  /**
   * {@return whether this run was missed, and is caught up now} It was if its first attempt began
   * later than its grace after the scheduled time; for a queue, when a consumer first claimed it.
   * All attempts of a run say the same, however long a retry has waited; after 100 attempts it is
   * no longer known, and false.
   */
  public boolean isCatchUp() {
    return catchUp;
  }

  /** {@return the bytes that the timer was scheduled with; not copied, and must not be changed} */
  public byte[] payload() {
    return record.definition().payload();
  }

  /** {@return the headers that the timer was scheduled with} */
  public Map<String, String> headers() {
    return record.definition().headers();
  }

  /** {@return the identity of this run, the same for all its attempts} */
  public FireId fireId() {
    return new FireId(record.key(), record.version(), claim.scheduledAt());
  }

  /**
   * Has this run fire again at another time, with attempts counted anew, when the handler returns.
   * The other runs of a recurring timer stay where they are; those that become due before the
   * postponed one has ended were missed. At a time of the series itself it fires a millisecond
   * later, as a run with an identity of its own.
   *
   * @param at when
   * @throws IllegalArgumentException if that never comes
   */
  public void reschedule(Instant at) {
    long unused = millis(at);
    decision = new Decision(at, "");
  }

  /**
   * Returns the change that reschedules this run in place of a success, as {@link #reschedule}
   * does. A {@link FinishingHandler} commits it instead of the success that it was given.
   *
   * @param success the change that records the success of this attempt
   * @param at when this run fires again
   * @return the change to commit
   * @throws IllegalArgumentException if that never comes
   */
  public Change.Finish rescheduled(Change.Finish success, Instant at) {
    return new Change.Finish(
        success.key(),
        success.token(),
        success.epoch(),
        Change.Finish.End.RESCHEDULED,
        besideSeries(millis(at), success.nextAt()),
        success.nextAt(),
        null,
        success.claimed(),
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

  /**
   * Fails this run when the handler returns, whatever attempts are left.
   *
   * @param reason says why, to whoever looks
   */
  public void giveUp(String reason) {
    decision = new Decision(null, requireNonNull(reason, "reason"));
  }

  /**
   * Has the next attempt of this run begin no earlier than at a time, if this one fails: what was
   * called has said when it wants to be called again. It begins later if the retry policy says so.
   *
   * @param at when; what is more than a year ahead counts as a year
   */
  public void retryNotBefore(Instant at) {
    retryNotBefore = requireNonNull(at, "at");
  }

  @Nullable Instant retryNotBefore() {
    return retryNotBefore;
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
