// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import java.io.Console;
import java.io.PrintStream;
import java.nio.charset.Charset;

/**
 * Where the output goes. On a terminal, a live line is drawn again and again in place; elsewhere it
 * is printed now and then, so that a log file stays readable.
 */
final class Screen {
  static final int WIDTH = 80;
  private static final long PLAIN_PAUSE_NANOS = 2_000_000_000L;

  private final PrintStream out;
  private final boolean redraws;
  private final char full;
  private final char empty;
  private long lastPlainNanos = System.nanoTime();

  Screen(PrintStream out, boolean redraws, boolean blocks) {
    this.out = out;
    this.redraws = redraws;
    this.full = blocks ? '█' : '#';
    this.empty = blocks ? '░' : '.';
  }

  static Screen ofSystemOut() {
    return new Screen(System.out, isTerminal(), charset().newEncoder().canEncode("█░"));
  }

  @SuppressWarnings("SystemConsoleNull") // what differs since JDK 22 is minded here
  private static boolean isTerminal() {
    Console console = System.console();
    if (console == null) {
      return false;
    }
    try {
      return (boolean) Console.class.getMethod("isTerminal").invoke(console);
    } catch (ReflectiveOperationException e) {
      return true; // before JDK 22 there was a console on terminals only
    }
  }

  private static Charset charset() {
    String name = System.getProperty("stdout.encoding"); // since JDK 19
    return name == null ? Charset.defaultCharset() : Charset.forName(name);
  }

  /** Prints a line, or several. */
  void line(String text) {
    out.println(text);
    lastPlainNanos = System.nanoTime();
  }

  /** Names what begins; on a terminal only, where the result is drawn over the name. */
  void begin(String title) {
    if (redraws) {
      live(title);
    }
  }

  /** Shows the state of something that goes on. */
  void live(String text) {
    if (redraws) {
      redraw(text);
      out.flush();
    } else if (System.nanoTime() - lastPlainNanos >= PLAIN_PAUSE_NANOS) {
      done(text);
    }
  }

  /** Shows the last state of something that went on. */
  void done(String text) {
    if (redraws) {
      redraw(text);
      line("");
    } else {
      line(text);
    }
  }

  /** One column less than the width: a terminal may begin a new line after the last one. */
  private void redraw(String text) {
    out.print("\r" + text + " ".repeat(Math.max(0, WIDTH - 1 - text.length())));
  }

  /** A bar of fixed width, filled up to a share from 0 to 1. */
  String gauge(double share, int width) {
    int filled = (int) (Math.min(1, share) * width);
    return String.valueOf(full).repeat(filled) + String.valueOf(empty).repeat(width - filled);
  }

  /** A bar as long as a share from 0 to 1 of the width; not empty unless the share is. */
  String bar(double share, int width) {
    return String.valueOf(full).repeat((int) Math.ceil(share * width));
  }
}
