// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import java.io.Console;
import java.io.PrintStream;
import java.nio.charset.Charset;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * The output. A progress bar is drawn only on a terminal, and the next line replaces it. The
 * remaining output is plain lines, the same as in a log file.
 */
final class Screen {
  static final int WIDTH = 80;
  private static final int REDRAW_MILLIS = 100;

  private final PrintStream out;
  private final boolean terminal;
  private final boolean blocks;
  private volatile boolean drawn;

  Screen(PrintStream out, boolean terminal, boolean blocks) {
    this.out = out;
    this.terminal = terminal;
    this.blocks = blocks;
  }

  static Screen ofSystemOut() {
    return new Screen(System.out, isTerminal(), charset().newEncoder().canEncode("█"));
  }

  @SuppressWarnings("SystemConsoleNull") // handled below: the behaviour differs since JDK 22
  private static boolean isTerminal() {
    Console console = System.console();
    if (console == null) {
      return false;
    }
    try {
      return (boolean) Console.class.getMethod("isTerminal").invoke(console);
    } catch (ReflectiveOperationException e) {
      return true; // before JDK 22, there was a console on terminals only
    }
  }

  private static Charset charset() {
    String name = System.getProperty("stdout.encoding"); // since JDK 19
    return name == null ? Charset.defaultCharset() : Charset.forName(name);
  }

  /** Prints a line, or several. */
  void line(String text) {
    if (drawn) {
      out.print("\r" + " ".repeat(WIDTH - 1) + "\r");
      drawn = false;
    }
    out.println(text);
  }

  /** Shows a progress bar until it is closed. */
  ProgressBar progress(String title, long max) {
    return new ProgressBarBuilder()
        .setTaskName(title)
        .setInitialMax(max)
        .setUpdateIntervalMillis(REDRAW_MILLIS)
        .setStyle(blocks ? ProgressBarStyle.UNICODE_BLOCK : ProgressBarStyle.ASCII)
        // One column less than the width: a terminal may begin a new line after the last column.
        .setConsumer(new DelegatingProgressBarConsumer(this::redraw, WIDTH - 1))
        .build();
  }

  private void redraw(String text) {
    if (terminal) {
      drawn = true;
      out.print("\r" + text);
      out.flush();
    }
  }

  /** Returns a bar for a share from 0 to 1. It is empty only if the share is zero. */
  String bar(double share, int width) {
    return (blocks ? "█" : "#").repeat((int) Math.ceil(share * width));
  }
}
