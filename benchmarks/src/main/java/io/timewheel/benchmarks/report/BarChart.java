// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import io.timewheel.benchmarks.report.Subjects.Kind;
import io.timewheel.benchmarks.report.Svg.Anchor;
import io.timewheel.benchmarks.report.Svg.Font;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Horizontal bars: a row for each subject, a panel for each quantity. Every axis starts at zero and
 * is linear; a whisker reaches from the least to the greatest value of all rounds.
 */
final class BarChart {
  private static final double WIDTH = 880;
  private static final double MARGIN = 24;
  private static final double ROW = 25;
  private static final double BAR = 15;
  private static final double TOP = 104;
  private static final double BETWEEN_PANELS = 22;

  /** Room to the right of the longest bar for its value. */
  private static final double VALUE = 48;

  /** What is smaller would look like a blot. */
  private static final double LEAST_WHISKER = 3;

  private static final Font TITLE = new Font(18, true, Svg.INK);
  private static final Font SUBTITLE = new Font(13, false, Svg.FAINT_INK);
  private static final Font PANEL = new Font(13, true, Svg.INK);
  private static final Font LABEL = new Font(13, false, Svg.INK);
  private static final Font OUR_LABEL = new Font(13, true, Svg.INK);
  private static final Font TEXT = new Font(12, false, Svg.FAINT_INK);
  private static final Font OUR_TEXT = new Font(12, true, Svg.INK);
  private static final Font SCALE = new Font(11, false, Svg.FAINT_INK);
  private static final String GRID = "#e4e8ec";
  private static final String AXIS = "#8c959f";
  private static final String WHISKER = Svg.INK;

  /** Bars side by side with others. */
  record Panel(String title, List<Bar> bars) {}

  /** A bar; without a value, why there is none. */
  record Bar(@Nullable Spread value, String missing) {}

  /** A label in front of the bars of a row. */
  record Row(String label, Kind kind) {}

  private final String title;
  private final String subtitle;
  private final List<Row> rows;
  private final List<Panel> panels;
  private final boolean commonScale;

  /**
   * Makes a chart; every panel has a bar for every row.
   *
   * @param commonScale whether bars may be compared between panels
   */
  BarChart(String title, String subtitle, List<Row> rows, List<Panel> panels, boolean commonScale) {
    this.title = title;
    this.subtitle = subtitle;
    this.rows = rows;
    this.panels = panels;
    this.commonScale = commonScale;
  }

  String svg() {
    double bottom = TOP + rows.size() * ROW;
    Svg svg = new Svg(WIDTH, bottom + 62);
    svg.text(MARGIN, 36, Anchor.START, TITLE, title);
    svg.text(MARGIN, 58, Anchor.START, SUBTITLE, subtitle);
    double labels = rows.stream().mapToDouble(row -> width(row.label())).max().orElse(0);
    double left = MARGIN + labels + 10;
    double width =
        (WIDTH - MARGIN / 2 - left - BETWEEN_PANELS * (panels.size() - 1)) / panels.size();
    for (int i = 0; i < rows.size(); i++) {
      boolean ours = rows.get(i).kind() == Kind.US;
      double baseline = TOP + i * ROW + ROW / 2 + 4.5;
      svg.text(left - 10, baseline, Anchor.END, ours ? OUR_LABEL : LABEL, rows.get(i).label());
    }
    double common = panels.stream().mapToDouble(BarChart::greatest).max().orElse(0);
    for (int i = 0; i < panels.size(); i++) {
      Panel panel = panels.get(i);
      double x = left + i * (width + BETWEEN_PANELS);
      draw(svg, panel, x, width - VALUE, commonScale ? common : greatest(panel));
    }
    legend(svg, bottom + 44);
    return svg.toString(title + ": " + subtitle);
  }

  private void draw(Svg svg, Panel panel, double left, double width, double greatest) {
    double bottom = TOP + rows.size() * ROW;
    svg.text(left, TOP - 14, Anchor.START, PANEL, panel.title());
    double step = step(greatest);
    double perUnit = greatest == 0 ? 0 : width / greatest;
    for (int i = 1; i * step <= greatest; i++) {
      double x = left + i * step * perUnit;
      svg.line(x, TOP - 4, x, bottom, GRID);
      svg.text(x, bottom + 16, Anchor.MIDDLE, SCALE, Numbers.round(i * step));
    }
    for (int i = 0; i < rows.size(); i++) {
      bar(svg, rows.get(i).kind(), panel.bars().get(i), left, TOP + i * ROW + ROW / 2, perUnit);
    }
    svg.line(left, TOP - 4, left, bottom, AXIS);
    svg.text(left, bottom + 16, Anchor.MIDDLE, SCALE, "0");
  }

  private static void bar(Svg svg, Kind kind, Bar bar, double left, double middle, double perUnit) {
    Spread value = bar.value();
    if (value == null) {
      svg.text(left + 6, middle + 4.5, Anchor.START, SCALE, bar.missing());
      return;
    }
    svg.rectangle(left, middle - BAR / 2, value.median() * perUnit, BAR, fill(kind));
    double from = left + value.min() * perUnit;
    double to = left + value.max() * perUnit;
    if (to - from >= LEAST_WHISKER) {
      svg.line(from, middle, to, middle, WHISKER);
      svg.line(from, middle - 3, from, middle + 3, WHISKER);
      svg.line(to, middle - 3, to, middle + 3, WHISKER);
    }
    Font font = kind == Kind.US ? OUR_TEXT : TEXT;
    svg.text(to + 6, middle + 4.5, Anchor.START, font, Numbers.text(value.median()));
  }

  private void legend(Svg svg, double baseline) {
    double x = MARGIN;
    for (Kind kind : Kind.values()) {
      if (rows.stream().anyMatch(row -> row.kind() == kind)) {
        svg.rectangle(x, baseline - 10, 12, 12, fill(kind));
        svg.text(x + 18, baseline, Anchor.START, TEXT, kind.description());
        x += 18 + width(kind.description()) * TEXT.size() / LABEL.size() + 16;
      }
    }
    if (panels.stream().flatMap(panel -> panel.bars().stream()).anyMatch(BarChart::isSpread)) {
      svg.line(x, baseline - 4, x + 16, baseline - 4, WHISKER);
      svg.line(x, baseline - 7, x, baseline - 1, WHISKER);
      svg.line(x + 16, baseline - 7, x + 16, baseline - 1, WHISKER);
      svg.text(x + 22, baseline, Anchor.START, TEXT, "least to greatest");
    }
  }

  private static boolean isSpread(Bar bar) {
    return bar.value() != null && bar.value().count() > 1;
  }

  private static double greatest(Panel panel) {
    return panel.bars().stream()
        .flatMap(bar -> Optional.ofNullable(bar.value()).stream())
        .mapToDouble(Spread::max)
        .max()
        .orElse(0);
  }

  /** Returns a round distance between grid lines, of which there are one to four. */
  static double step(double greatest) {
    if (greatest <= 0) {
      return 1;
    }
    double power = Math.pow(10, Math.floor(Math.log10(greatest)));
    for (double digit : new double[] {0.5, 1, 2}) {
      if (greatest / (digit * power) < 4) {
        return digit * power;
      }
    }
    return 5 * power;
  }

  /** Returns about the width of a label: no font is at hand to ask, and too wide does not hurt. */
  private static double width(String text) {
    return text.codePointCount(0, text.length()) * 6.6;
  }

  private static String fill(Kind kind) {
    return switch (kind) {
      case US -> "rx=\"2\" fill=\"#2781ea\"";
      case SIBLING -> "rx=\"2\" fill=\"#a5cdf5\"";
      case PEER -> "rx=\"2\" fill=\"#c4ccd4\"";
      case PASSIVE -> "rx=\"2\" fill=\"#e3e7eb\" stroke=\"#c4ccd4\"";
      case BOUND -> "rx=\"2\" fill=\"#ffffff\" stroke=\"#8c959f\" stroke-dasharray=\"3 2\"";
    };
  }
}
