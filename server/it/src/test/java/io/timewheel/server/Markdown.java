// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import java.util.Locale;

/** A page of Markdown that is written from top to bottom. */
final class Markdown {
  private final StringBuilder text = new StringBuilder();

  /** Returns the anchor of a heading, by the rules of GitHub. */
  static String anchor(String heading) {
    return heading.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N}_ -]", "").replace(' ', '-');
  }

  static String link(String text, String heading) {
    return "[%s](#%s)".formatted(text, anchor(heading));
  }

  static String code(String text) {
    return "`" + escape(text) + "`";
  }

  /** Returns a text for the cell of a table. */
  static String escape(String text) {
    return text.replace("|", "\\|");
  }

  /** Adds a heading, a paragraph or a block of code, unless it is empty. */
  void add(String block) {
    if (!block.isEmpty()) {
      text.append(text.isEmpty() ? "" : "\n").append(block).append('\n');
    }
  }

  /** Begins a table. */
  void table(String... headings) {
    text.append('\n');
    row(headings);
    text.append("|---".repeat(headings.length)).append("|\n");
  }

  void row(String... cells) {
    text.append("| ").append(String.join(" | ", cells)).append(" |\n");
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
