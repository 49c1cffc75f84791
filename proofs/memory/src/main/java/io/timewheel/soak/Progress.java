// SPDX-License-Identifier: Apache-2.0
package io.timewheel.soak;

import java.io.Console;
import java.io.PrintStream;
import java.util.concurrent.TimeUnit;

/**
 * Reports the progress of the soak. On a terminal, it redraws one line. Elsewhere, it prints about
 * 30 lines per soak, at least ten seconds apart.
 */
final class Progress {
  private static final String CLEAR_TO_END_OF_LINE = "\033[K";

  private final PrintStream out;
  private final boolean terminal;
  private final long intervalNanos;
  private final long startNanos = System.nanoTime();
  private long nextNanos = startNanos;

  Progress(PrintStream out, double minutes) {
    this.out = out;
    this.terminal = out == System.out && isTerminal();
    this.intervalNanos =
        terminal
            ? TimeUnit.MILLISECONDS.toNanos(500)
            : Math.max(TimeUnit.SECONDS.toNanos(10), (long) (minutes * 60e9 / 30));
  }

  boolean isDue() {
    return System.nanoTime() - nextNanos >= 0;
  }

  /** Prints a line. On a terminal, the next line replaces it. */
  void show(String text) {
    nextNanos = System.nanoTime() + intervalNanos;
    if (terminal) {
      out.print("\r" + clock() + "  " + text + CLEAR_TO_END_OF_LINE);
    } else {
      out.println(clock() + "  " + text);
    }
    out.flush();
  }

  /** Prints a line that stays. */
  void say(String text) {
    out.println((terminal ? "\r" : "") + clock() + "  " + text + clearOnTerminal());
  }

  private String clearOnTerminal() {
    return terminal ? CLEAR_TO_END_OF_LINE : "";
  }

  private String clock() {
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos);
    return String.format("%02d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
  }

  /**
   * Returns whether the output is a terminal. Since JDK 22, there may be a console without a
   * terminal; {@code Console.isTerminal} then returns false.
   */
  @SuppressWarnings("SystemConsoleNull") // the second check handles that
  private static boolean isTerminal() {
    Console console = System.console();
    if (console == null) {
      return false;
    }
    try {
      return (boolean) Console.class.getMethod("isTerminal").invoke(console);
    } catch (ReflectiveOperationException e) {
      return true;
    }
  }
}
