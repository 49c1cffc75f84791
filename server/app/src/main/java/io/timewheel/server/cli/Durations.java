// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses durations: a whole number with a unit, such as {@code 15m}, or ISO 8601. */
final class Durations {
  private static final Pattern SHORT = Pattern.compile("(\\d{1,18})(ms|s|m|h|d)");

  private Durations() {}

  /**
   * Parses a duration, such as {@code 500ms}, {@code 30s}, {@code 15m}, {@code 2h}, {@code 7d} or
   * {@code PT30M}.
   */
  static Duration parse(String text) {
    Matcher matcher = SHORT.matcher(text.strip());
    if (!matcher.matches()) {
      return Duration.parse(text.strip());
    }
    long number = Long.parseLong(matcher.group(1));
    try {
      return switch (matcher.group(2)) {
        case "ms" -> Duration.ofMillis(number);
        case "s" -> Duration.ofSeconds(number);
        case "m" -> Duration.ofMinutes(number);
        case "h" -> Duration.ofHours(number);
        default -> Duration.ofDays(number);
      };
    } catch (ArithmeticException e) {
      throw new DateTimeParseException("too long", text, 0, e);
    }
  }
}
