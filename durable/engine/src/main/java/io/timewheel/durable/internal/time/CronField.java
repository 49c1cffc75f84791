// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.time;

import java.util.List;

/** The fields of a cron expression, with their names and values. */
enum CronField {
  SECOND("second", 0, 59, "a number from 0 to 59"),
  MINUTE("minute", 0, 59, "a number from 0 to 59"),
  HOUR("hour", 0, 23, "a number from 0 to 23"),
  DAY_OF_MONTH("day-of-month", 1, 31, "a number from 1 to 31, L, L-n, nW or LW"),
  MONTH("month", 1, 12, "a number from 1 to 12 or a name from JAN to DEC"),
  DAY_OF_WEEK(
      "day-of-week",
      0,
      6,
      "a number from 0 to 7 (0 and 7 are Sunday), a name from SUN to SAT, or one of these"
          + " followed by L or #n");

  private static final List<String> MONTHS =
      List.of("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC");
  private static final List<String> WEEKDAYS =
      List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT");

  final String label;
  final int min;
  final int max;
  final String expected;

  CronField(String label, int min, int max, String expected) {
    this.label = label;
    this.min = min;
    this.max = max;
    this.expected = expected;
  }

  /** Returns the number of different values. */
  int size() {
    return max - min + 1;
  }

  boolean takesQuestionMark() {
    return this == DAY_OF_MONTH || this == DAY_OF_WEEK;
  }

  /** Returns the largest number that an expression may contain. Sunday is also 7. */
  int greatest() {
    return this == DAY_OF_WEEK ? 7 : max;
  }

  /** Returns the names of the values, from {@link #min} on. */
  List<String> names() {
    return switch (this) {
      case MONTH -> MONTHS;
      case DAY_OF_WEEK -> WEEKDAYS;
      default -> List.of();
    };
  }
}
