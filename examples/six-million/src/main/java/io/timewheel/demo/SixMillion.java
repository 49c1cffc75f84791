// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import java.io.PrintStream;

/**
 * Starts six million timeouts on one timer, with delays from a millisecond to a year, and shows
 * their outcomes.
 *
 * <p>{@link Demonstration} is the part that uses the timer. The other classes read the options,
 * draw the progress and print the results.
 */
public final class SixMillion {
  private static final int SUCCESS = 0;
  private static final int FAILURE = 1;
  private static final int USAGE = 2;

  private SixMillion() {}

  /**
   * Runs the demonstration. The exit code is 0 if every timeout was accounted for and none fired
   * early, otherwise 1. It is 2 if the options or the heap do not allow the run.
   *
   * @param args see {@code --help}
   */
  public static void main(String[] args) throws InterruptedException {
    int exitCode = run(args, Screen.ofSystemOut(), System.err);
    System.out.flush();
    System.exit(exitCode);
  }

  static int run(String[] args, Screen screen, PrintStream errors) throws InterruptedException {
    Options options;
    try {
      options = Options.parse(args);
    } catch (IllegalArgumentException e) {
      errors.println(e.getMessage());
      errors.println("Try --help.");
      return USAGE;
    }
    if (options.help()) {
      screen.line(Options.HELP);
      return SUCCESS;
    }
    if (!Heap.suffices(options.timeouts())) {
      errors.println(Heap.advice(options.timeouts()));
      return USAGE;
    }
    return demonstrate(options, screen, errors);
  }

  private static int demonstrate(Options options, Screen screen, PrintStream errors)
      throws InterruptedException {
    try {
      Figures figures = new Demonstration(options, screen).run();
      new Summary(figures, screen).print();
      return figures.areSound() ? SUCCESS : FAILURE;
    } catch (OutOfMemoryError e) {
      errors.println();
      errors.println(Heap.advice(options.timeouts()));
      return FAILURE;
    }
  }
}
