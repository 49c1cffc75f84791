// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The argument of the agent: {@code name=value} pairs, separated by commas.
 *
 * @param tick the length of a tick; null for the application's own
 * @param wheel the kind of wheel
 * @param stripes the number of stripes of each timer
 * @param include patterns of class names to replace; if empty, all timers are replaced
 * @param exclude patterns of class names to leave alone
 * @param report the report that the agent prints
 */
record Options(
    @Nullable Duration tick,
    Wheel wheel,
    int stripes,
    List<Pattern> include,
    List<Pattern> exclude,
    Report report) {
  /** The kinds of wheel. */
  enum Wheel {
    HASHED,
    HIERARCHICAL
  }

  /** What the agent prints. */
  enum Report {
    /** Nothing. */
    NONE,
    /** One line for each class that was replaced or left alone. */
    START,
    /** The lines of {@link #START}, and the figures of the timers when the JVM ends. */
    EXIT,
    /**
     * The lines of {@link #START}, and the figures of the application's own timers when the JVM
     * ends. The agent replaces no timer.
     */
    COMPARE
  }

  private static final Set<String> NAMES =
      Set.of("tick", "wheel", "stripes", "include", "exclude", "report");
  private static final Duration MAX_TICK = Duration.ofDays(1);
  private static final int MAX_STRIPES = 256;

  static Options parse(@Nullable String argument) {
    TreeMap<String, String> values = new TreeMap<>();
    for (String pair : (argument == null ? "" : argument).split(",", -1)) {
      if (pair.isBlank()) {
        continue;
      }
      int equals = pair.indexOf('=');
      String name = (equals < 0 ? pair : pair.substring(0, equals)).strip();
      if (!NAMES.contains(name)) {
        throw new IllegalArgumentException(
            name + ": unknown option (known: exclude, include, report, stripes, tick, wheel)");
      }
      if (equals < 0) {
        throw new IllegalArgumentException(name + ": has no value (expected: " + name + "=VALUE)");
      }
      if (values.put(name, pair.substring(equals + 1).strip()) != null) {
        throw new IllegalArgumentException(name + ": given twice (expected: once)");
      }
    }
    return new Options(
        tick(values.get("tick")),
        choice(Wheel.class, "wheel", values.get("wheel"), Wheel.HIERARCHICAL),
        stripes(values.getOrDefault("stripes", "1")),
        patterns(values.getOrDefault("include", "")),
        patterns(values.getOrDefault("exclude", "")),
        choice(Report.class, "report", values.get("report"), Report.START));
  }

  private static @Nullable Duration tick(@Nullable String text) {
    if (text == null) {
      return null;
    }
    Matcher time = Pattern.compile("([0-9]{1,18})(ns|us|ms|s)").matcher(text);
    if (time.matches()) {
      long number = Long.parseLong(time.group(1));
      Duration tick =
          switch (time.group(2)) {
            case "ns" -> Duration.ofNanos(number);
            case "us" -> Duration.of(number, ChronoUnit.MICROS);
            case "ms" -> Duration.ofMillis(number);
            default -> Duration.ofSeconds(number);
          };
      if (!tick.isZero() && tick.compareTo(MAX_TICK) <= 0) {
        return tick;
      }
    }
    throw new IllegalArgumentException(
        "tick: "
            + text
            + " (expected: a number and ns, us, ms or s, as in 1ms; more than zero, at most"
            + " 86400s)");
  }

  private static int stripes(String text) {
    if (text.matches("[0-9]{1,4}")) {
      int stripes = Integer.parseInt(text);
      if (stripes >= 1 && stripes <= MAX_STRIPES) {
        return stripes;
      }
    }
    throw new IllegalArgumentException(
        "stripes: " + text + " (expected: 1 to " + MAX_STRIPES + ")");
  }

  private static <E extends Enum<E>> E choice(
      Class<E> type, String name, @Nullable String text, E fallback) {
    if (text == null) {
      return fallback;
    }
    List<String> known = new ArrayList<>();
    for (E value : type.getEnumConstants()) {
      String word = value.name().toLowerCase(Locale.ROOT);
      if (word.equals(text)) {
        return value;
      }
      known.add(word);
    }
    throw new IllegalArgumentException(
        name + ": " + text + " (expected: " + String.join(", ", known) + ")");
  }

  /**
   * Parses patterns, which are separated by colons. A star matches any characters. Each text
   * between stars is an atomic group, so a match of many stars does not backtrack. Compiles no
   * regular expression if there are no patterns, which saves about 10 ms at the start of the JVM.
   */
  private static List<Pattern> patterns(String text) {
    List<Pattern> patterns = new ArrayList<>();
    for (String pattern : text.split(":", -1)) {
      if (!pattern.isBlank()) {
        String literal = Pattern.quote(pattern.strip()).replace("*", "\\E)(?>.*?\\Q");
        patterns.add(Pattern.compile("(?>" + literal + "\\z)"));
      }
    }
    return List.copyOf(patterns);
  }

  boolean selects(String className) {
    return (include.isEmpty() || matches(include, className)) && !matches(exclude, className);
  }

  private static boolean matches(List<Pattern> patterns, String className) {
    for (Pattern pattern : patterns) {
      if (pattern.matcher(className).matches()) {
        return true;
      }
    }
    return false;
  }

  boolean compares() {
    return report == Report.COMPARE;
  }

  boolean measures() {
    return report == Report.EXIT || report == Report.COMPARE;
  }

  /** Returns a tick as text, with the largest unit that needs no fraction. */
  static String text(Duration tick) {
    long nanos = tick.toNanos();
    if (nanos % 1_000_000 == 0) {
      return nanos / 1_000_000 + " ms";
    }
    return nanos % 1_000 == 0 ? nanos / 1_000 + " us" : nanos + " ns";
  }
}
