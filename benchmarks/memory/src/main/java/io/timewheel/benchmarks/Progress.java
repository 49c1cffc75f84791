// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import java.io.Console;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;

/** Shows the progress and the remaining time: a bar on a terminal, lines elsewhere. */
final class Progress {
  private static final int WIDTH = 24;
  private static final String CLEAR_TO_END_OF_LINE = "\033[K";

  private final PrintStream out;
  private final boolean terminal;
  private final double totalSeconds;
  private final int total;
  private final long startNanos = System.nanoTime();
  private double expectedSeconds;
  private int done;

  Progress(PrintStream out, List<Order> orders) {
    this(out, isTerminal(), orders);
  }

  Progress(PrintStream out, boolean terminal, List<Order> orders) {
    this.out = out;
    this.terminal = terminal;
    total = orders.size();
    totalSeconds = orders.stream().mapToDouble(Progress::seconds).sum();
  }

  private static double seconds(Order order) {
    return order.measured().absence(order.subject()).isPresent() ? 0 : order.measured().seconds();
  }

  void begin(Order order) {
    String text =
        "%s  %3d %%  %d of %d  %s left  %s"
            .formatted(
                bar(), Math.round(100 * share()), done + 1, total, format(left()), describe(order));
    if (terminal) {
      out.print("\r" + text + CLEAR_TO_END_OF_LINE);
    } else {
      out.println(text);
    }
    out.flush();
  }

  void end(Order order) {
    done++;
    expectedSeconds += seconds(order);
  }

  /** Prints a line that stays. */
  void say(String text) {
    out.println((terminal ? "\r" : "") + text + (terminal ? CLEAR_TO_END_OF_LINE : ""));
    out.flush();
  }

  void fail(Order order, String reason) {
    say("failed: " + describe(order) + ": " + reason);
  }

  private static String describe(Order order) {
    return "%s, %s, %s, round %d"
        .formatted(
            order.measured().workload().id(),
            order.measured().variant(),
            order.subject().id(),
            order.round() + 1);
  }

  private double share() {
    return totalSeconds == 0 ? 0 : expectedSeconds / totalSeconds;
  }

  private String bar() {
    int full = (int) (share() * WIDTH);
    return "█".repeat(full) + "░".repeat(WIDTH - full);
  }

  /** Returns the expected time left, corrected by the accuracy of the expectation so far. */
  private Duration left() {
    double spent = (System.nanoTime() - startNanos) / 1e9;
    double correction = expectedSeconds > 30 ? spent / expectedSeconds : 1;
    return Duration.ofSeconds(Math.round((totalSeconds - expectedSeconds) * correction));
  }

  static String format(Duration duration) {
    return "%d:%02d".formatted(duration.toMinutes(), duration.toSecondsPart());
  }

  /**
   * Returns whether the output is a terminal. Since JDK 22, there is a console without a terminal
   * too, and a method to tell.
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
