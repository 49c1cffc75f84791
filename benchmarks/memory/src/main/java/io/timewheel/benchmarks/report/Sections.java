// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

/**
 * The generated parts of a document, each between two comments: {@code <!-- name: begin -->} and
 * {@code <!-- name: end -->}. Text outside them is preserved.
 */
final class Sections {
  private final String document;
  private String text;

  /**
   * Parses a document.
   *
   * @param document its name, for error messages
   * @param text its text
   */
  Sections(String document, String text) {
    this.document = document;
    this.text = text;
  }

  void replace(String name, String content) {
    String begin = "<!-- " + name + ": begin -->";
    String end = "<!-- " + name + ": end -->";
    int from = only(begin) + begin.length();
    int to = only(end);
    if (to < from) {
      throw new IllegalArgumentException(document + " has \"" + end + "\" before \"" + begin + '"');
    }
    text = text.substring(0, from) + "\n" + content.strip() + "\n" + text.substring(to);
  }

  String text() {
    return text;
  }

  private int only(String marker) {
    int at = text.indexOf(marker);
    if (at < 0) {
      throw new IllegalArgumentException(document + " has no \"" + marker + '"');
    }
    if (text.indexOf(marker, at + 1) >= 0) {
      throw new IllegalArgumentException(document + " has \"" + marker + "\" twice");
    }
    return at;
  }
}
