// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A cron expression: the days and times of day of a recurring timer. Immutable.
 *
 * <h2>Syntax</h2>
 *
 * <p>Five fields, separated by blanks: minute (0–59), hour (0–23), day-of-month (1–31), month (1–12
 * or {@code JAN}–{@code DEC}) and day-of-week (0–7 or {@code SUN}–{@code SAT}; 0 and 7 are Sunday).
 * Or six, with the second (0–59) first. Case does not matter.
 *
 * <ul>
 *   <li>{@code *} matches every value. In a day field, {@code ?} means the same.
 *   <li>{@code 8-17} is a range. A range that ends before it begins wraps around: {@code 22-2},
 *       {@code FRI-MON}, {@code NOV-FEB}.
 *   <li><code>*&#47;15</code> matches every 15th value, from the smallest. {@code 8-18/2} does the
 *       same in a range, and {@code 5/15} from 5 to the largest. A step counts only values of its
 *       field, so it starts again with every hour, day, month or year.
 *   <li>{@code 1,15,20-25} is a list of any of these.
 *   <li>Day-of-month also takes {@code L}, the last day; {@code L-3}, three days before it; {@code
 *       15W}, the weekday (Monday to Friday) of the same month that is nearest to the 15th, if
 *       there is a 15th; and {@code LW}, the last weekday.
 *   <li>Day-of-week also takes {@code FRIL}, the last Friday of the month, and {@code MON#2}, the
 *       second Monday. Lists may contain all of these.
 *   <li>{@code @yearly}, {@code @annually}, {@code @monthly}, {@code @weekly}, {@code @daily},
 *       {@code @midnight} and {@code @hourly} stand for the usual five fields.
 * </ul>
 *
 * <p>If neither day field begins with {@code *} or is {@code ?}, five fields follow crontab: a day
 * must match either of the two. With six fields this is refused, because programs with six fields
 * disagree about it. An expression without any matching day, such as 30 February, is also refused.
 *
 * <h2>Daylight saving</h2>
 *
 * <p>The fields are matched against the local time of a zone.
 *
 * <ul>
 *   <li><b>Gap.</b> One run at the end of the gap replaces all matching times in it. If the end of
 *       the gap is a matching time itself, it is the same run.
 *   <li><b>Overlap.</b> If the hour field excludes at least one hour, the cron runs once for every
 *       matching local time, at its first occurrence. If the hour field includes all 24 hours (
 *       <code>*</code>, <code>*&#47;1</code>, {@code 0-23}), the cron runs at both occurrences, so
 *       that a cron for every ten minutes keeps its interval.
 * </ul>
 */
public final class Cron {
  private static final long ALL_HOURS = (1L << 24) - 1;
  private static final int MONTHS_OF_400_YEARS = 4_800;

  private final String text;
  private final long seconds;
  private final long minutes;
  private final long hours;
  private final long months;
  private final CronDays days;

  Cron(String text, long seconds, long minutes, long hours, long months, CronDays days) {
    this.text = text;
    this.seconds = seconds;
    this.minutes = minutes;
    this.hours = hours;
    this.months = months;
    this.days = days;
  }

  /**
   * Parses an expression.
   *
   * @param expression five or six fields, or a macro
   * @return the cron
   * @throws IllegalArgumentException if the expression is invalid or never matches; the message
   *     names the field and the expected values
   */
  public static Cron parse(String expression) {
    return CronParser.parse(expression);
  }

  /**
   * Returns the first run after an instant.
   *
   * @param after the instant, exclusive
   * @param zone the zone of the local time
   * @return the run, at a whole second unless it is at the end of a gap that ends at a fraction;
   *     empty if it would be later than the last millisecond of a {@code long}, in 292 million
   *     years
   */
  public Optional<Instant> next(Instant after, ZoneId zone) {
    requireNonNull(after, "after");
    long next = nextMillis(EpochMillis.floor(after), requireNonNull(zone, "zone").getRules());
    return next == EpochMillis.NEVER ? Optional.empty() : Optional.of(EpochMillis.toInstant(next));
  }

  /**
   * Returns the first run after a time, in milliseconds since 1970.
   *
   * <p>The search runs over local times, where the next match takes a few bit operations. {@link
   * #firstOccurrence} maps local times to instants and never decreases. So the first matching local
   * time after the current one is also the next run. The exception is a time within an overlap. In
   * the second pass, the remaining times have already had their first occurrence. After the first
   * pass, the clock shows the same local times again.
   */
  long nextMillis(long afterMillis, ZoneRules rules) {
    long afterSecond = Math.floorDiv(afterMillis, 1_000L);
    ZoneOffset offset = rules.getOffset(Instant.ofEpochSecond(afterSecond));
    LocalDateTime now = LocalDateTime.ofEpochSecond(afterSecond, 0, offset);
    LocalDateTime match = nextLocal(now.plusSeconds(1));
    ZoneOffsetTransition overlap = rules.getTransition(now);
    if (overlap != null) {
      LocalDateTime end = overlap.getDateTimeBefore();
      boolean secondPass = offset.equals(overlap.getOffsetAfter());
      if (hours != ALL_HOURS) {
        match = secondPass && match.isBefore(end) ? nextLocal(end) : match;
      } else {
        if (!secondPass && !match.isBefore(end)) {
          match = nextLocal(overlap.getDateTimeAfter());
          secondPass = true;
        }
        if (secondPass && match.isBefore(end)) {
          return EpochMillis.saturatedMillis(match.toEpochSecond(overlap.getOffsetAfter()));
        }
      }
    }
    return EpochMillis.saturatedMillis(firstOccurrence(match, rules));
  }

  /** Returns the first second with a local time, or the end of the gap for a time in a gap. */
  private static long firstOccurrence(LocalDateTime local, ZoneRules rules) {
    ZoneOffsetTransition transition = rules.getTransition(local);
    if (transition == null) {
      return local.toEpochSecond(rules.getOffset(local));
    }
    return transition.isGap()
        ? transition.toEpochSecond()
        : local.toEpochSecond(transition.getOffsetBefore());
  }

  /** Returns whether any day matches. */
  boolean comes() {
    return nextDay(LocalDate.EPOCH) != null;
  }

  /** Returns the first matching local time that is not before the given one. */
  private LocalDateTime nextLocal(LocalDateTime from) {
    LocalDate day = requireNonNull(nextDay(from.toLocalDate()));
    if (day.equals(from.toLocalDate())) {
      int time = nextTime(from.getHour(), from.getMinute(), from.getSecond());
      if (time >= 0) {
        return day.atStartOfDay().plusSeconds(time);
      }
      day = requireNonNull(nextDay(day.plusDays(1)));
    }
    return day.atStartOfDay().plusSeconds(nextTime(0, 0, 0));
  }

  /** Returns the first matching second of the day that is not before the given one, or -1. */
  private int nextTime(int hour, int minute, int second) {
    int h = next(hours, hour);
    if (h == hour) {
      int m = next(minutes, minute);
      if (m == minute) {
        int s = next(seconds, second);
        if (s < Long.SIZE) {
          return (h * 60 + m) * 60 + s;
        }
        m = next(minutes, minute + 1);
      }
      if (m < Long.SIZE) {
        return (h * 60 + m) * 60 + next(seconds, 0);
      }
      h = next(hours, hour + 1);
    }
    return h < Long.SIZE ? (h * 60 + next(minutes, 0)) * 60 + next(seconds, 0) : -1;
  }

  /** Returns the first set bit from an index on, or 64. */
  private static int next(long bits, int from) {
    return Long.numberOfTrailingZeros(bits & -1L << from);
  }

  /**
   * Returns the first matching day that is not before the given one, or null. The calendar repeats
   * every 400 years, so a day that does not match within that time never matches.
   */
  private @Nullable LocalDate nextDay(LocalDate from) {
    int year = from.getYear();
    int month = from.getMonthValue();
    long notBefore = -1L << from.getDayOfMonth();
    for (int i = 0; i <= MONTHS_OF_400_YEARS; i++) {
      if ((months >>> month & 1) != 0) {
        long matching = days.of(year, month) & notBefore;
        if (matching != 0) {
          return LocalDate.of(year, month, Long.numberOfTrailingZeros(matching));
        }
      }
      notBefore = -1;
      year += month / 12;
      month = month % 12 + 1;
    }
    return null;
  }

  /**
   * Compares the crons by their text. Ignores case and blanks, and expands macros.
   *
   * @param other the other one
   * @return whether they are equal
   */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Cron cron && text.equals(cron.text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  /**
   * Returns the expression in capitals, with single blanks and expanded macros.
   *
   * @return the expression, which {@link #parse} accepts
   */
  @Override
  public String toString() {
    return text;
  }
}
