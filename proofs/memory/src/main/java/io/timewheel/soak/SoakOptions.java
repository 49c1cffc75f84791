// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

/**
 * The options of the command line.
 *
 * @param minutes the time for which timeouts are started, moved and cancelled, in minutes
 * @param live the number of places for timeouts
 * @param threads the number of producers
 * @param seed the seed of all random numbers
 */
record SoakOptions(double minutes, int live, int threads, long seed) {
  static final String USAGE =
      """
      Soaks the timers, and accounts for every timeout.

        --minutes N   duration, more than 0; may be a fraction (default: 1)
        --live N      timeouts live at a time, 1,000 to 10,000,000 (default: 5,000,000, or as many
                      as fit the heap well)
        --threads N   threads that start, move and cancel, 1 to 64 (default: one per processor)
        --seed N      seed of the random numbers (default: from the clock)
        --help        print this text

      Exit code: 0 if all checks passed, 1 if one failed, 2 if the options are invalid.
      """;

  private static final int MIN_LIVE = 1_000;
  private static final int MAX_LIVE = 10_000_000;

  /**
   * A timeout takes 40 bytes, its task 32, its place 4. The rest is for cancelled timeouts that are
   * not yet collected, and for the result of stop().
   */
  private static final long BYTES_PER_TIMEOUT = 300;

  private static final int DEFAULT_LIVE = 5_000_000;

  /** An error in the command line. */
  static final class UsageException extends Exception {
    private static final long serialVersionUID = 1;

    UsageException(String message) {
      super(message);
    }
  }

  /**
   * Reads the command line.
   *
   * @param heapBytes the maximum size of the heap
   */
  static SoakOptions parse(String[] args, long heapBytes) throws UsageException {
    double minutes = 1;
    long live = Math.min(DEFAULT_LIVE, Math.max(MIN_LIVE, heapBytes / BYTES_PER_TIMEOUT / 2));
    long threads = Math.min(64, Runtime.getRuntime().availableProcessors());
    long seed = System.nanoTime();
    for (int i = 0; i < args.length; i += 2) {
      String option = args[i];
      switch (option) {
        case "--minutes" -> minutes = minutes(value(args, i));
        case "--live" -> live = number(option, value(args, i), MIN_LIVE, MAX_LIVE);
        case "--threads" -> threads = number(option, value(args, i), 1, 64);
        case "--seed" -> seed = number(option, value(args, i), Long.MIN_VALUE, Long.MAX_VALUE);
        default -> throw new UsageException(option + ": not an option (--help lists them)");
      }
    }
    if (live * BYTES_PER_TIMEOUT > heapBytes) {
      throw new UsageException(
          String.format(
              "--live: %,d (expected: at most %,d with a heap of %,d MB, or a larger heap by -Xmx)",
              live, heapBytes / BYTES_PER_TIMEOUT, heapBytes >> 20));
    }
    return new SoakOptions(minutes, (int) live, (int) threads, seed);
  }

  private static String value(String[] args, int option) throws UsageException {
    if (option + 1 == args.length) {
      throw new UsageException(args[option] + ": has no value");
    }
    return args[option + 1];
  }

  private static double minutes(String text) throws UsageException {
    try {
      double minutes = Double.parseDouble(text);
      if (minutes > 0 && minutes <= 60 * 24 * 365) {
        return minutes;
      }
    } catch (NumberFormatException e) {
      // reported below
    }
    throw new UsageException("--minutes: " + text + " (expected: more than 0, at most a year)");
  }

  private static long number(String option, String text, long min, long max) throws UsageException {
    try {
      long number = Long.parseLong(text.replace("_", "").replace(",", ""));
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // reported below
    }
    throw new UsageException(
        String.format("%s: %s (expected: a whole number, %,d to %,d)", option, text, min, max));
  }
}
