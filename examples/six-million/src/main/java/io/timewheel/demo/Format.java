// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import java.util.Locale;

/** Formats numbers, independently of the locale. */
final class Format {
  private static final double[] UNIT_NANOS = {1e6, 1e9, 60e9, 3_600e9, 86_400e9, 365 * 86_400e9};
  private static final String[] UNIT_NAMES = {"ms", "s", "min", "h", "d", "y"};

  private Format() {}

  /** Returns a number as in 6,000,000. */
  static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** Returns a number as in 0.61. */
  static String decimal(double number, int places) {
    return String.format(Locale.ROOT, "%,." + places + "f", number);
  }

  /** Returns a time as in 0.6 s. */
  static String seconds(long nanos) {
    return decimal(nanos / 1e9, 1) + " s";
  }

  /** Returns a rate as in 9.81 M/s. */
  static String rate(long count, long nanos) {
    return decimal(count * 1e3 / Math.max(1, nanos), 2) + " M/s";
  }

  /** Returns a time in the largest unit of which it has one or more, as in 4.4 min. */
  static String duration(double nanos) {
    int unit = 0;
    while (unit + 1 < UNIT_NANOS.length && nanos >= UNIT_NANOS[unit + 1]) {
      unit++;
    }
    double number = nanos / UNIT_NANOS[unit];
    boolean whole = number >= 100 || number == Math.rint(number);
    return decimal(number, whole ? 0 : 1) + " " + UNIT_NAMES[unit];
  }
}
