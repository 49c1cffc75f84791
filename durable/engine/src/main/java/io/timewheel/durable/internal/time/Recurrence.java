// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Defines when a timer fires again: never, at a fixed rate, with a fixed delay, or by a cron in a
 * zone. Immutable. The file is long because it contains one small class for each of these forms.
 *
 * <p>All times are whole milliseconds, as they are stored. Periods and first times are rounded up.
 * Times do not overflow: a time after the last millisecond of a {@code long} never comes.
 *
 * <p>{@link #toString()} returns the stored form, which {@link #parse} reads:
 *
 * <ul>
 *   <li>{@code once}
 *   <li>{@code every PT5M}: at a fixed rate
 *   <li>{@code delay PT5M}: with a fixed delay
 *   <li>{@code cron 0 9 * * MON-FRI Europe/Berlin}: five or six fields, then the zone
 *   <li>any except the first, followed by {@code from 2026-05-01T00:00:00Z}: not before that time
 *   <li>{@code jitter PT5M PT1M12.345S}, followed by a fixed rate or a cron: each run is delayed by
 *       the second duration, which is shorter than the first
 *   <li>{@code times 10}, {@code until 2027-01-01T00:00:00Z}, or both in this order, followed by
 *       any except the first and this: the schedule ends after ten runs, or at that time
 * </ul>
 *
 * <p>The first word also identifies the version of the form. A new form will begin with another
 * word, and older releases refuse it.
 */
public abstract sealed class Recurrence
    permits Ending,
        From,
        Jittered,
        Recurrence.Once,
        Recurrence.FixedDelay,
        Recurrence.FixedRate,
        Recurrence.ByCron {
  /** The number of runs of a recurrence that does not end after a number of runs. */
  public static final long UNLIMITED = Long.MAX_VALUE;

  private static final int MAX_PREVIEW = 1_000;
  private static final long MAX_JITTER_MILLIS = Duration.ofHours(24).toMillis();

  Recurrence() {}

  /**
   * Returns the recurrence of a timer that fires once.
   *
   * @return the recurrence
   */
  public static Recurrence once() {
    return Once.ONCE;
  }

  /**
   * Returns a fixed rate. Scheduled times are whole periods apart, whenever the runs begin and end.
   *
   * @param period the time from one scheduled run to the next
   * @return the recurrence
   * @throws IllegalArgumentException if the period is not positive
   */
  public static Recurrence fixedRate(Duration period) {
    return new FixedRate(positiveMillis("period", period));
  }

  /**
   * Returns a fixed delay. The next run is scheduled when the previous one has ended.
   *
   * @param delay the time from the end of a run to the scheduled time of the next
   * @return the recurrence
   * @throws IllegalArgumentException if the delay is not positive
   */
  public static Recurrence fixedDelay(Duration delay) {
    return new FixedDelay(positiveMillis("delay", delay));
  }

  /**
   * Returns a cron in the local time of a zone.
   *
   * @param cron the cron
   * @param zone the zone
   * @return the recurrence
   */
  public static Recurrence cron(Cron cron, ZoneId zone) {
    return new ByCron(requireNonNull(cron, "cron"), requireNonNull(zone, "zone"));
  }

  /**
   * Parses the stored form.
   *
   * @param text the result of {@link #toString()}, or an equivalent text
   * @return the recurrence
   * @throws IllegalArgumentException if the text is invalid; the message names the problem and the
   *     expected form
   */
  public static Recurrence parse(String text) {
    return RecurrenceParser.parse(requireNonNull(text, "text"));
  }

  /**
   * Returns the runs that follow a run, as far as they are known. For a fixed delay, runs are
   * assumed to take no time.
   *
   * @param after the scheduled time of a run
   * @param count the largest number of runs, from 0 to 1,000
   * @return their scheduled times
   * @throws IllegalArgumentException if the count is out of range
   */
  public List<Instant> preview(Instant after, int count) {
    requireNonNull(after, "after");
    if (count < 0 || count > MAX_PREVIEW) {
      throw new InvalidArgumentException(
          "count: %d; expected 0 to %,d".formatted(count, MAX_PREVIEW));
    }
    List<Instant> runs = new ArrayList<>();
    long millis = EpochMillis.ceil(after);
    while (runs.size() < count) {
      millis = next(millis, millis);
      if (millis == EpochMillis.NEVER) {
        break;
      }
      runs.add(EpochMillis.toInstant(millis));
    }
    return List.copyOf(runs);
  }

  /**
   * Returns the scheduled time that follows a run, or {@link EpochMillis#NEVER}. For the first run
   * of a timer, its creation counts as the previous run.
   *
   * @param scheduledMillis the scheduled time of the run
   * @param endedMillis the time of its end, rounded up
   */
  abstract long next(long scheduledMillis, long endedMillis);

  /**
   * Returns the scheduled time that follows a run of a timer, or {@link EpochMillis#NEVER} if the
   * schedule has nothing left.
   *
   * @param scheduledMillis the scheduled time of the run
   * @param endedMillis the time of its end, rounded up
   * @param ended the number of scheduled runs that ended before it
   */
  final long next(long scheduledMillis, long endedMillis, long ended) {
    return left(ended) > 1 ? next(scheduledMillis, endedMillis) : EpochMillis.NEVER;
  }

  /**
   * Returns how many further runs may end, or {@link #UNLIMITED}. Skipped and dropped runs, and
   * runs that are separate from the schedule, do not count.
   *
   * @param ended the number of scheduled runs that have ended
   */
  public long left(long ended) {
    return UNLIMITED;
  }

  /**
   * Returns the number of runs that are scheduled in a span, given that there is one at its
   * beginning. With a fixed delay it is one, because the next run is scheduled only when the
   * previous one has ended.
   *
   * @param fromMillis the run at the beginning
   * @param untilMillis the end of the span, exclusive, later than the beginning
   * @param limit the number at which counting stops
   */
  long count(long fromMillis, long untilMillis, long limit) {
    return 1;
  }

  /**
   * Returns the {@code nth} run from the end of a span, or the first run if the span has fewer. The
   * span is defined as for {@link #count}.
   */
  public long fromEnd(int nth, long fromMillis, long untilMillis) {
    return fromMillis;
  }

  /** Returns the first run of a timer that is scheduled now, or {@link EpochMillis#NEVER}. */
  public long first(long nowMillis) {
    return next(nowMillis, nowMillis);
  }

  /**
   * Returns the first run of a timer that is scheduled now, if each run is delayed by an offset.
   */
  long firstLater(long offsetMillis, long nowMillis) {
    return EpochMillis.saturatedAdd(first(nowMillis), offsetMillis);
  }

  /**
   * Returns the corrected time of the next run of a timer after the clock was set back: at most one
   * period from now. A run that a user has moved keeps its time, because it does not follow from
   * the previous runs.
   *
   * @param record the timer, while it waits for its next run
   */
  public final long afterClockStep(TimerRecord record, long nowMillis) {
    return afterClockStep(record, 0, nowMillis);
  }

  /** Returns the corrected time, if each run is delayed by an offset. */
  long afterClockStep(TimerRecord record, long offsetMillis, long nowMillis) {
    return record.dueAt();
  }

  /**
   * Returns whether the time of a run follows from the creation of the timer or from one of its
   * ended attempts.
   */
  private static boolean follows(
      TimerRecord record, long offsetMillis, BiPredicate<Long, Long> followsRun) {
    return followsRun.test(record.createdAt() + offsetMillis, record.createdAt())
        || record.attempts().stream()
            .anyMatch(
                attempt -> followsRun.test(attempt.scheduledAtMillis(), attempt.endedAtMillis()));
  }

  /** Returns the first run that is not before a time. */
  long firstFrom(long millis) {
    return millis;
  }

  /**
   * Returns this recurrence with the first run at a time. For a cron, the first run is the first
   * match that is not earlier.
   */
  public Recurrence from(long millis) {
    return new From(this, millis);
  }

  /**
   * Returns this recurrence with each run delayed by the same offset, to spread the runs of timers
   * with the same recurrence.
   *
   * @param jitter the limit of the offset; more than zero, at most 24 hours, and at most the period
   * @param hash decides the offset: the same hash gives the same offset
   * @return the recurrence
   * @throws IllegalArgumentException if the limit is out of range, or if the recurrence is neither
   *     a fixed rate nor a cron
   */
  public Recurrence jittered(Duration jitter, long hash) {
    long jitterMillis = jitterMillis(jitter);
    return new Jittered(this, jitterMillis, Long.remainderUnsigned(hash, jitterMillis));
  }

  /**
   * Returns this recurrence with an end.
   *
   * @param untilMillis no run is scheduled at or after this time; {@link EpochMillis#NEVER} if
   *     there is no such time
   * @param times the largest number of runs that end, at least 1; {@link #UNLIMITED} if there is
   *     none
   * @return the recurrence
   * @throws IllegalArgumentException if the number is out of range, or if this is the recurrence of
   *     a timer that fires once, or has an end
   */
  public Recurrence ending(long untilMillis, long times) {
    if (this instanceof Once || this instanceof Ending) {
      throw new InvalidArgumentException(
          "until or times for "
              + this
              + " (expected: only with a fixed rate, a fixed delay or a cron)");
    }
    return new Ending(this, untilMillis, checkTimes(times));
  }

  /**
   * Checks a number of runs.
   *
   * @param times the number
   * @return the number
   * @throws IllegalArgumentException if it is less than 1
   */
  public static long checkTimes(long times) {
    if (times < 1) {
      throw new InvalidArgumentException("times: " + times + " (minimum: 1)");
    }
    return times;
  }

  /** Returns the jitter in milliseconds, rounded up. Throws if it is out of range. */
  long jitterMillis(Duration jitter) {
    long jitterMillis = positiveMillis("jitter", jitter);
    long maxMillis = maxJitterMillis();
    if (maxMillis == 0) {
      throw new InvalidArgumentException(
          "jitter: " + jitter + " for " + this + " (expected: only with a fixed rate or a cron)");
    }
    if (jitterMillis > maxMillis) {
      throw new InvalidArgumentException(
          "jitter: %s is too long (maximum: %s%s)"
              .formatted(
                  jitter,
                  Duration.ofMillis(maxMillis),
                  maxMillis < MAX_JITTER_MILLIS ? ", the period" : ""));
    }
    return jitterMillis;
  }

  /** Returns the longest jitter in milliseconds; 0 if no jitter is allowed. */
  long maxJitterMillis() {
    return 0;
  }

  private static long positiveMillis(String name, Duration duration) {
    requireNonNull(duration, name);
    if (duration.isNegative() || duration.isZero()) {
      throw new InvalidArgumentException(name + ": " + duration + "; expected more than zero");
    }
    return EpochMillis.ceil(duration);
  }

  @Override
  public final boolean equals(@Nullable Object other) {
    return other instanceof Recurrence recurrence && toString().equals(recurrence.toString());
  }

  @Override
  public final int hashCode() {
    return toString().hashCode();
  }

  /**
   * Returns the stored form.
   *
   * @return a text that {@link #parse} reads
   */
  @Override
  public abstract String toString();

  static final class Once extends Recurrence {
    private static final Once ONCE = new Once();

    @Override
    long next(long scheduledMillis, long endedMillis) {
      return EpochMillis.NEVER;
    }

    @Override
    public String toString() {
      return "once";
    }
  }

  static final class FixedDelay extends Recurrence {
    private final long delayMillis;

    FixedDelay(long delayMillis) {
      this.delayMillis = delayMillis;
    }

    @Override
    long next(long scheduledMillis, long endedMillis) {
      return EpochMillis.saturatedAdd(endedMillis, delayMillis);
    }

    @Override
    long afterClockStep(TimerRecord record, long offsetMillis, long nowMillis) {
      long dueMillis = record.dueAt();
      boolean waits =
          follows(
              record,
              offsetMillis,
              (scheduledMillis, endedMillis) ->
                  dueMillis >= endedMillis && dueMillis <= next(scheduledMillis, endedMillis));
      return waits ? Math.min(dueMillis, next(nowMillis, nowMillis)) : dueMillis;
    }

    @Override
    public String toString() {
      return "delay " + Duration.ofMillis(delayMillis);
    }
  }

  static final class FixedRate extends Recurrence {
    private final long periodMillis;

    FixedRate(long periodMillis) {
      this.periodMillis = periodMillis;
    }

    @Override
    long next(long scheduledMillis, long endedMillis) {
      return EpochMillis.saturatedAdd(scheduledMillis, periodMillis);
    }

    @Override
    long count(long fromMillis, long untilMillis, long limit) {
      long further = furtherRuns(fromMillis, untilMillis);
      return Long.compareUnsigned(further, limit) < 0 ? further + 1 : limit;
    }

    @Override
    public long fromEnd(int nth, long fromMillis, long untilMillis) {
      long further = furtherRuns(fromMillis, untilMillis);
      boolean fewer = Long.compareUnsigned(further, nth) < 0;
      return fewer ? fromMillis : fromMillis + (further - nth + 1) * periodMillis;
    }

    /**
     * Divides unsigned, because the length of the span may be almost twice the largest {@code
     * long}.
     */
    private long furtherRuns(long fromMillis, long untilMillis) {
      return Long.divideUnsigned(untilMillis - 1 - fromMillis, periodMillis);
    }

    /** Keeps scheduled times whole periods apart. */
    @Override
    long afterClockStep(TimerRecord record, long offsetMillis, long nowMillis) {
      long dueMillis = record.dueAt();
      long waitMillis = EpochMillis.saturatedSubtract(dueMillis, nowMillis);
      boolean stalled =
          EpochMillis.saturatedSubtract(waitMillis, offsetMillis) > periodMillis
              && follows(
                  record,
                  offsetMillis,
                  (scheduledMillis, endedMillis) ->
                      (dueMillis - scheduledMillis) % periodMillis == 0);
      return stalled ? dueMillis - (waitMillis - 1) / periodMillis * periodMillis : dueMillis;
    }

    @Override
    long maxJitterMillis() {
      return Math.min(periodMillis, MAX_JITTER_MILLIS);
    }

    @Override
    public String toString() {
      return "every " + Duration.ofMillis(periodMillis);
    }
  }

  static final class ByCron extends Recurrence {
    private final Cron cron;
    private final ZoneId zone;
    private final ZoneRules rules;

    ByCron(Cron cron, ZoneId zone) {
      this.cron = cron;
      this.zone = zone;
      this.rules = zone.getRules();
    }

    @Override
    long next(long scheduledMillis, long endedMillis) {
      return cron.nextMillis(scheduledMillis, rules);
    }

    @Override
    long count(long fromMillis, long untilMillis, long limit) {
      long count = 0;
      for (long run = fromMillis; run < untilMillis && count < limit; count++) {
        run = cron.nextMillis(run, rules);
      }
      return count;
    }

    /** Finds, by bisection, the first time after which fewer than {@code nth} runs remain. */
    @Override
    public long fromEnd(int nth, long fromMillis, long untilMillis) {
      if (count(fromMillis, untilMillis, nth) < nth) {
        return fromMillis;
      }
      long low = fromMillis;
      long high = untilMillis - 1;
      while (low < high) {
        long middle = (low & high) + ((low ^ high) >> 1);
        if (remaining(middle, untilMillis, nth) < nth) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      return low;
    }

    /** Returns the number of runs after a time and before the end, up to a limit. */
    private long remaining(long afterMillis, long untilMillis, long limit) {
      long first = cron.nextMillis(afterMillis, rules);
      return first < untilMillis ? count(first, untilMillis, limit) : 0;
    }

    @Override
    long firstFrom(long millis) {
      return cron.nextMillis(EpochMillis.saturatedSubtract(millis, 1), rules);
    }

    /**
     * Searches from now minus the offset. A run whose time without the offset has passed may still
     * be in the future with it.
     */
    @Override
    long firstLater(long offsetMillis, long nowMillis) {
      return super.firstLater(offsetMillis, EpochMillis.saturatedSubtract(nowMillis, offsetMillis));
    }

    @Override
    long maxJitterMillis() {
      return MAX_JITTER_MILLIS;
    }

    @Override
    public String toString() {
      return "cron " + cron + " " + zone;
    }
  }
}
