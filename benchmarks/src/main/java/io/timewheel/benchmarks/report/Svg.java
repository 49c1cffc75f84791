// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * A picture under construction: rectangles, lines and text on a light card of its own, so that it
 * can be read on a page of any colour.
 */
final class Svg {
  static final String INK = "#1f2328";
  static final String FAINT_INK = "#59636e";

  enum Anchor {
    START,
    MIDDLE,
    END
  }

  /** How a text looks; the size is in pixels. */
  record Font(double size, boolean bold, String colour) {}

  private final StringBuilder content = new StringBuilder();
  private final double width;
  private final double height;

  Svg(double width, double height) {
    this.width = width;
    this.height = height;
  }

  void rectangle(double x, double y, double width, double height, String style) {
    content
        .append("<rect x=\"")
        .append(number(x))
        .append("\" y=\"")
        .append(number(y))
        .append("\" width=\"")
        .append(number(width))
        .append("\" height=\"")
        .append(number(height))
        .append("\" ")
        .append(style)
        .append("/>\n");
  }

  void line(double x1, double y1, double x2, double y2, String colour) {
    content
        .append("<line x1=\"")
        .append(number(x1))
        .append("\" y1=\"")
        .append(number(y1))
        .append("\" x2=\"")
        .append(number(x2))
        .append("\" y2=\"")
        .append(number(y2))
        .append("\" stroke=\"")
        .append(colour)
        .append("\"/>\n");
  }

  void text(double x, double y, Anchor anchor, Font font, String text) {
    content
        .append("<text x=\"")
        .append(number(x))
        .append("\" y=\"")
        .append(number(y))
        .append("\" font-size=\"")
        .append(number(font.size()))
        .append("\" fill=\"")
        .append(font.colour())
        .append('"')
        .append(font.bold() ? " font-weight=\"600\"" : "")
        .append(
            switch (anchor) {
              case START -> "";
              case MIDDLE -> " text-anchor=\"middle\"";
              case END -> " text-anchor=\"end\"";
            })
        .append('>')
        .append(escaped(text))
        .append("</text>\n");
  }

  /** Returns the whole picture; the title is what a screen reader says. */
  String toString(String title) {
    String size = number(width) + "\" height=\"" + number(height);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""
        + size
        + "\" viewBox=\"0 0 "
        + number(width)
        + " "
        + number(height)
        + "\" role=\"img\" font-family=\"-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial,"
        + " sans-serif\">\n"
        + "<title>"
        + escaped(title)
        + "</title>\n"
        + "<rect x=\"0.5\" y=\"0.5\" width=\""
        + number(width - 1)
        + "\" height=\""
        + number(height - 1)
        + "\" rx=\"8\" fill=\"#ffffff\" stroke=\"#d1d9e0\"/>\n"
        + content
        + "</svg>\n";
  }

  static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }

  private static String number(double value) {
    return BigDecimal.valueOf(value)
        .setScale(1, RoundingMode.HALF_UP)
        .stripTrailingZeros()
        .toPlainString();
  }
}
