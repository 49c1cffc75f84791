// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.health.Health;
import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;

/**
 * The decision about a timer at its due time. Pure arithmetic.
 *
 * <p>The decision is made once for a run, before its first attempt. A retry, and an attempt on
 * another node, keep the scheduled time that was claimed. If {@link #atMillis} is later than the
 * due time, the runs from the due time up to it are {@link #dropped}.
 *
 * @param fires true if a run begins now; otherwise the next decision is at {@link #atMillis}, which
 *     may be {@link EpochMillis#NEVER}
 * @param atMillis the scheduled time of the run, or the new due time
 * @param late true if the run begins more than a second after its scheduled time
 * @param catchUp true if it is a catch-up run
 */
public record Decision(boolean fires, long atMillis, boolean late, boolean catchUp) {
  public static final Duration DEFAULT_GRACE = Duration.ofMinutes(1);

  /** The largest number of outstanding missed runs of a timer. */
  static final int MAX_MISSED = 1_000;

  private static final long LATE_MILLIS = 1_000;

  /**
   * Returns the effective grace in milliseconds. It is at least twice the node lease, so that a run
   * of a crashed node does not count as missed before another node can begin it.
   *
   * @throws IllegalArgumentException if the grace is negative
   */
  static long graceMillis(Duration grace, Duration lease) {
    if (grace.isNegative()) {
      throw new InvalidArgumentException("grace: " + grace + "; expected zero or more");
    }
    long leaseMillis = EpochMillis.ceil(lease);
    return Math.max(EpochMillis.ceil(grace), EpochMillis.saturatedAdd(leaseMillis, leaseMillis));
  }

  /**
   * Decides about the run that is due.
   *
   * @param dueMillis its scheduled time
   * @param nowMillis the current time, rounded down
   */
  public static Decision of(
      Recurrence recurrence, MissedRuns missed, long graceMillis, long dueMillis, long nowMillis) {
    if (dueMillis > nowMillis) {
      return waitUntil(dueMillis);
    }
    long missedBefore = EpochMillis.saturatedSubtract(nowMillis, graceMillis);
    if (dueMillis >= missedBefore || recurrence.equals(Recurrence.once())) {
      return fire(dueMillis, nowMillis, false);
    }
    return switch (missed) {
      case FIRE_ONCE -> fire(recurrence.fromEnd(1, dueMillis, missedBefore), nowMillis, true);
      case FIRE_ALL ->
          fire(recurrence.fromEnd(MAX_MISSED, dueMillis, missedBefore), nowMillis, true);
      case SKIP -> {
        long latestMissed = recurrence.fromEnd(1, dueMillis, missedBefore);
        long next = recurrence.next(latestMissed, nowMillis);
        yield next > nowMillis ? waitUntil(next) : fire(next, nowMillis, false);
      }
    };
  }

  /**
   * Returns whether the claimed run is a catch-up run. Only the start of its first attempt counts,
   * however late the others start. If the history no longer contains that attempt, the result is
   * false.
   *
   * @param record the timer, while the run is claimed
   */
  static boolean isCatchUp(TimerRecord record, long graceMillis) {
    if (!record.definition().isRecurring() || !record.isScheduledRun()) {
      return false;
    }
    long beganMillis = firstBeganMillis(record);
    return beganMillis != TimerRecord.NONE
        && EpochMillis.saturatedSubtract(beganMillis, record.scheduledAt()) > graceMillis;
  }

  private static long firstBeganMillis(TimerRecord record) {
    Claim claim = requireNonNull(record.claim(), "claim");
    if (claim.attempt() == 1) {
      return claim.beganAt();
    }
    long beganMillis = TimerRecord.NONE;
    for (Attempt attempt : record.attempts()) { // the oldest first
      if (attempt.number() == 1 && attempt.scheduledAtMillis() == claim.scheduledAt()) {
        beganMillis = attempt.beganAtMillis();
      }
    }
    return beganMillis;
  }

  /**
   * Returns the number of runs that it drops, from the due time on. At most {@link
   * io.timewheel.durable.internal.health.Health#MAX_COUNTED_RUNS} are counted.
   */
  public long dropped(Recurrence recurrence, long dueMillis) {
    return atMillis > dueMillis
        ? recurrence.count(dueMillis, atMillis, Health.MAX_COUNTED_RUNS)
        : 0;
  }

  private static Decision waitUntil(long atMillis) {
    return new Decision(false, atMillis, false, false);
  }

  private static Decision fire(long atMillis, long nowMillis, boolean catchUp) {
    boolean late = EpochMillis.saturatedSubtract(nowMillis, atMillis) > LATE_MILLIS;
    return new Decision(true, atMillis, late, catchUp);
  }
}
