// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.InvalidArgumentException;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * When a timer fires again: never, at a fixed rate, with a fixed delay, or by a cron in a zone.
 * Immutable.
 *
 * <p>All times are whole milliseconds, as they are stored: periods and first times are rounded up.
 * Nothing overflows; what would be later than the last millisecond of a {@code long} never comes.
 *
 * <p>{@link #toString()} is the stored form, which {@link #parse} reads:
 *
 * <ul>
 *   <li>{@code once}
 *   <li>{@code every PT5M}: at a fixed rate
 *   <li>{@code delay PT5M}: with a fixed delay
 *   <li>{@code cron 0 9 * * MON-FRI Europe/Berlin}: five or six fields, then the zone
 *   <li>any but the first, followed by {@code from 2026-05-01T00:00:00Z}: not before that time
 *   <li>{@code jitter PT5M PT1M12.345S}, followed by a fixed rate or a cron: each run is later by
 *       the second duration, which is shorter than the first
 * </ul>
 *
 * <p>The first word also is the version of the form: another form will begin with another word, and
 * is refused by a release that does not know it.
 */
public abstract sealed class Recurrence
    permits From,
        Jittered,
        Recurrence.Once,
        Recurrence.FixedDelay,
        Recurrence.FixedRate,
        Recurrence.ByCron {
  private static final int MAX_PREVIEW = 1_000;
  private static final long MAX_JITTER_MILLIS = Duration.ofHours(24).toMillis();

  Recurrence() {}

  /**
   * The recurrence of a timer that fires once.
   *
   * @return the recurrence
   */
  public static Recurrence once() {
    return Once.ONCE;
  }

  /**
   * At a fixed rate: scheduled times are whole periods apart, whenever the runs begin and end.
   *
   * @param period the time from one scheduled run to the next
   * @return the recurrence
   * @throws IllegalArgumentException if the period is not positive
   */
  public static Recurrence fixedRate(Duration period) {
    return new FixedRate(positiveMillis("period", period));
  }

  /**
   * With a fixed delay: the next run is scheduled when one has ended.
   *
   * @param delay the time from the end of a run to the scheduled time of the next
   * @return the recurrence
   * @throws IllegalArgumentException if the delay is not positive
   */
  public static Recurrence fixedDelay(Duration delay) {
    return new FixedDelay(positiveMillis("delay", delay));
  }

  /**
   * By a cron, in the local time of a zone.
   *
   * @param cron the cron
   * @param zone the zone
   * @return the recurrence
   */
  public static Recurrence cron(Cron cron, ZoneId zone) {
    return new ByCron(requireNonNull(cron, "cron"), requireNonNull(zone, "zone"));
  }

  /**
   * Reads the stored form.
   *
   * @param text what {@link #toString()} returned, or the like written by hand
   * @return the recurrence
   * @throws IllegalArgumentException if the text is not valid; the message names what is wrong and
   *     what was expected
   */
  public static Recurrence parse(String text) {
    return RecurrenceParser.parse(requireNonNull(text, "text"));
  }

  /**
   * The runs to come after a run, as far as they are known: those of a fixed delay as if no run
   * took any time.
   *
   * @param after the scheduled time of a run
   * @param count how many runs at most, from 0 to 1,000
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
   * The scheduled time that follows a run, or {@link EpochMillis#NEVER}. The first run of a timer
   * follows its creation, as if that were a run.
   *
   * @param scheduledMillis the scheduled time of the run
   * @param endedMillis when it ended, rounded up
   */
  abstract long next(long scheduledMillis, long endedMillis);

  /**
   * How many runs are scheduled in a span, given that there is one at its beginning. One, if none
   * is scheduled before another has ended.
   *
   * @param fromMillis the run at the beginning
   * @param untilMillis the end of the span, later than the beginning, and not part of it
   * @param limit where to stop counting
   */
  long count(long fromMillis, long untilMillis, long limit) {
    return 1;
  }

  /**
   * The run that is the {@code nth} from the end of those in a span; the first one, if there are
   * fewer. The span is that of {@link #count}.
   */
  public long fromEnd(int nth, long fromMillis, long untilMillis) {
    return fromMillis;
  }

  /** The first run of a timer that is scheduled now, or {@link EpochMillis#NEVER}. */
  public long first(long nowMillis) {
    return next(nowMillis, nowMillis);
  }

  /** The first run of a timer that is scheduled now, if each run is later by an offset. */
  long firstLater(long offsetMillis, long nowMillis) {
    return EpochMillis.saturatedAdd(first(nowMillis), offsetMillis);
  }

  /**
   * The time of the next run of a timer that waits by elapsed time, after the clock has gone back:
   * no later than one period from now. A run that does not follow from the runs before it, because
   * a person has moved it, keeps its time.
   *
   * @param record the timer, while it waits for its next run
   */
  public final long continued(TimerRecord record, long nowMillis) {
    return continued(record, 0, nowMillis);
  }

  /** The same, if each run is later by an offset. */
  long continued(TimerRecord record, long offsetMillis, long nowMillis) {
    return record.dueAt();
  }

  /** Whether a run has its time from the creation of a timer or from one of its ended attempts. */
  private static boolean follows(
      TimerRecord record, long offsetMillis, BiPredicate<Long, Long> followsRun) {
    return followsRun.test(record.createdAt() + offsetMillis, record.createdAt())
        || record.attempts().stream()
            .anyMatch(
                attempt -> followsRun.test(attempt.scheduledAtMillis(), attempt.endedAtMillis()));
  }

  /** The first run if none may be before a time. */
  long firstFrom(long millis) {
    return millis;
  }

  /**
   * The same, but with the first run at this time; by a cron, with the first that is not before.
   */
  public Recurrence from(long millis) {
    return new From(this, millis);
  }

  /**
   * The same, but with each run later by one offset, so that runs of timers with the same
   * recurrence are spread.
   *
   * @param jitter the limit of the offset: over zero, at most 24 hours and the period
   * @param hash decides the offset: the same hash gives the same offset
   * @return the recurrence
   * @throws IllegalArgumentException if the limit is out of range, or if the recurrence is neither
   *     a fixed rate nor a cron
   */
  public Recurrence jittered(Duration jitter, long hash) {
    long jitterMillis = jitterMillis(jitter);
    return new Jittered(this, jitterMillis, Long.remainderUnsigned(hash, jitterMillis));
  }

  /** The jitter in milliseconds, rounded up, if it is in range. */
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

  /** The longest jitter; 0 if there can be none. */
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
   * The stored form.
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
    long continued(TimerRecord record, long offsetMillis, long nowMillis) {
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

    /** Unsigned, as the length of the span is: it may be almost twice the greatest {@code long}. */
    private long furtherRuns(long fromMillis, long untilMillis) {
      return Long.divideUnsigned(untilMillis - 1 - fromMillis, periodMillis);
    }

    /** Scheduled times stay whole periods apart. */
    @Override
    long continued(TimerRecord record, long offsetMillis, long nowMillis) {
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

    /** By bisection: what is wanted is the first time after which fewer than {@code nth} remain. */
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

    /** How many runs are later than a time and before the end, up to a limit. */
    private long remaining(long afterMillis, long untilMillis, long limit) {
      long first = cron.nextMillis(afterMillis, rules);
      return first < untilMillis ? count(first, untilMillis, limit) : 0;
    }

    @Override
    long firstFrom(long millis) {
      return cron.nextMillis(EpochMillis.saturatedSubtract(millis, 1), rules);
    }

    /** A run that is due already without the offset still comes with it. */
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
