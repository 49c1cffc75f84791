// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import java.time.LocalDate;

/**
 * The two day fields of a cron expression, as a function from a month to its days.
 *
 * <p>Days of a month are bits 1 to 31 of a {@code long}; days of a week are bits 0 (Sunday) to 6.
 *
 * @param dates days named by their number
 * @param fromLast bit n for the day that is n days before the last one
 * @param nearestWeekdays bit n for the weekday (Monday to Friday) that is nearest to day n; bit 0
 *     for the last weekday of the month
 * @param weekdays days named by their weekday
 * @param nthWeekdays bit 7 (n - 1) + d for the nth weekday d of the month
 * @param lastWeekdays bit d for the last weekday d of the month
 * @param either true if a day must match only one of the two fields; otherwise it must match both
 */
record CronDays(
    long dates,
    long fromLast,
    long nearestWeekdays,
    long weekdays,
    long nthWeekdays,
    long lastWeekdays,
    boolean either) {

  private static final int SUNDAY = 0;
  private static final int SATURDAY = 6;
  private static final long WEEK = 0b111_1111;

  /** Repeats a seven-bit week five times by multiplication. */
  private static final long FIVE_WEEKS = 1 | 1L << 7 | 1L << 14 | 1L << 21 | 1L << 28;

  /** Returns the matching days of a month. */
  long of(int year, int month) {
    LocalDate first = LocalDate.of(year, month, 1);
    int length = first.lengthOfMonth();
    int firstWeekday = first.getDayOfWeek().getValue() % 7;
    long byDate = byDate(length, firstWeekday);
    long byWeekday = byWeekday(length, firstWeekday);
    return days(1, length) & (either ? byDate | byWeekday : byDate & byWeekday);
  }

  private long byDate(int length, int firstWeekday) {
    long days = dates;
    for (long left = fromLast; left != 0; left &= left - 1) {
      int day = length - Long.numberOfTrailingZeros(left);
      days |= day < 1 ? 0 : 1L << day;
    }
    for (long left = nearestWeekdays; left != 0; left &= left - 1) {
      int named = Long.numberOfTrailingZeros(left);
      int day = named == 0 ? length : named;
      days |= day > length ? 0 : 1L << nearestWeekday(day, length, firstWeekday);
    }
    return days;
  }

  /** Returns the nearest weekday in the same month, even if a nearer one is in another month. */
  private static int nearestWeekday(int day, int length, int firstWeekday) {
    return switch ((firstWeekday + day - 1) % 7) {
      case SATURDAY -> day > 1 ? day - 1 : day + 2;
      case SUNDAY -> day < length ? day + 1 : day - 2;
      default -> day;
    };
  }

  private long byWeekday(int length, int firstWeekday) {
    long days = spread(weekdays, firstWeekday);
    for (int n = 0; n < 5; n++) {
      long nth = (nthWeekdays >>> (7 * n)) & WEEK;
      days |= spread(nth, firstWeekday) & days(7 * n + 1, 7 * n + 7);
    }
    return days | (spread(lastWeekdays, firstWeekday) & days(length - 6, length));
  }

  /** Returns all days of a month that fall on one of the weekdays. */
  private static long spread(long weekdays, int firstWeekday) {
    long fromFirst = ((weekdays >>> firstWeekday) | (weekdays << (7 - firstWeekday))) & WEEK;
    return (fromFirst * FIVE_WEEKS) << 1;
  }

  private static long days(int first, int last) {
    return (2L << last) - (1L << first);
  }
}
