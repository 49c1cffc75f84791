// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import java.math.BigDecimal;

/**
 * The options of the command line.
 *
 * @param timeouts how many timeouts to start
 * @param seconds how long to watch them fire
 * @param threads how many threads start them
 * @param help whether only the help is requested
 */
record Options(int timeouts, double seconds, int threads, boolean help) {
  static final String HELP =
      """
      Starts millions of timeouts on one timer and shows their outcomes.

      Usage: java -jar six-million.jar [options]

        --timeouts N   how many timeouts to start (default: 6000000)
        --seconds S    how long to watch them fire (default: 5)
        --threads T    how many threads start them
                       (default: one for each processor, at most 4)
        --help         print this text

      Exit code: 0 if every timeout was accounted for and none fired early,
      1 if not, 2 if the options or the heap do not allow the run.\
      """;

  private static final int MAX_TIMEOUTS = 100_000_000;
  private static final int MAX_SECONDS = 3_600;
  private static final int MAX_THREADS = 256;

  private static Options defaults() {
    int processors = Runtime.getRuntime().availableProcessors();
    return new Options(6_000_000, 5, Math.min(4, processors), false);
  }

  /**
   * Reads the arguments of the command line.
   *
   * @throws IllegalArgumentException if one is unknown or invalid; its message is for the user
   */
  static Options parse(String... args) {
    Options options = defaults();
    for (int i = 0; i < args.length; i += 2) {
      String name = args[i];
      if (name.equals("--help")) {
        return new Options(options.timeouts, options.seconds, options.threads, true);
      }
      String value = i + 1 < args.length ? args[i + 1] : "";
      options = options.with(name, value);
    }
    return options;
  }

  private Options with(String name, String value) {
    return switch (name) {
      case "--timeouts" ->
          new Options((int) whole(name, value, 1, MAX_TIMEOUTS), seconds, threads, help);
      case "--seconds" -> new Options(timeouts, number(name, value, 0, MAX_SECONDS), threads, help);
      case "--threads" ->
          new Options(timeouts, seconds, (int) whole(name, value, 1, MAX_THREADS), help);
      default -> throw new IllegalArgumentException("unknown option: " + name);
    };
  }

  private static double whole(String name, String value, int least, int most) {
    double number = number(name, value, least, most);
    if (number != Math.rint(number)) {
      throw bad(name, value, least, most);
    }
    return number;
  }

  private static double number(String name, String value, int least, int most) {
    try {
      double number = new BigDecimal(value).doubleValue();
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // reported below
    }
    throw bad(name, value, least, most);
  }

  private static IllegalArgumentException bad(String name, String value, int least, int most) {
    return new IllegalArgumentException(
        "%s: %s (expected: a number from %d to %d)"
            .formatted(name, value.isEmpty() ? "no value" : value, least, most));
  }
}
