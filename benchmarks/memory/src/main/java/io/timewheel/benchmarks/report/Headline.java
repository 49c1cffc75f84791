// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import io.timewheel.benchmarks.report.Measurements.Variant;
import io.timewheel.benchmarks.results.SubjectInfo;
import io.timewheel.benchmarks.workloads.Workload;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The figures that help users to choose a timer. They are a plot of the throughput, and a table
 * that compares our timers with the best of the other libraries.
 *
 * <p>The plot is text, so its layout does not depend on fonts.
 */
final class Headline {
  private static final int BAR = 24;
  private static final int VALUE = 5;
  private static final String GAP = "  ";

  private static final Variant ONE_THREAD = new Variant(Workload.CHURN, "1 thread");
  private static final Variant TWO_THREADS = new Variant(Workload.CHURN, "2 threads");

  private record Figure(String label, Variant variant, Metric metric) {}

  private static final Figure THROUGHPUT =
      new Figure("start and cancel, 2 threads: million a second", TWO_THREADS, Metrics.OPERATIONS);

  private static final Figure MEMORY =
      new Figure(
          "memory: bytes of heap per pending timeout, with 6M pending",
          new Variant(Workload.LOAD, "6M, 1 s to 24 h"),
          Metrics.HEAP_BYTES);

  private static final Figure MASS_EXPIRY =
      new Figure(
          "mass expiry, 6M due within a second: ms by which the last one overruns it",
          new Variant(Workload.EXPIRE, "6M in a second"),
          Metrics.OVERRUN);

  private static final List<Figure> FIGURES =
      List.of(
          new Figure(
              "start and cancel, 1 thread: million a second", ONE_THREAD, Metrics.OPERATIONS),
          THROUGHPUT,
          MEMORY,
          new Figure(
              "lag with a tick of 1 ms: p99 in ms",
              new Variant(Workload.LAG, "1 ms tick"),
              Metrics.LATE_P99),
          new Figure(
              "idle with 6M pending: ms of CPU in 20 s",
              new Variant(Workload.IDLE, "6M pending"),
              Metrics.CPU),
          MASS_EXPIRY);

  private static final Set<String> COLUMNS =
      Set.of(Subjects.US, Subjects.HASHED, Subjects.NETTY, Subjects.SCHEDULED_THREAD_POOL);

  private final Measurements measurements;

  Headline(Measurements measurements) {
    this.measurements = measurements;
  }

  /** Returns the plot, if its workload was recorded, and the table. */
  String text() {
    return plot() + table(FIGURES, COLUMNS);
  }

  /** Returns the three figures of the README. */
  String brief() {
    return table(List.of(THROUGHPUT, MEMORY, MASS_EXPIRY), Set.of(Subjects.US, Subjects.NETTY));
  }

  private String plot() {
    List<Variant> variants =
        List.of(ONE_THREAD, TWO_THREADS).stream().filter(this::isRecorded).toList();
    if (variants.isEmpty()) {
      return "";
    }
    List<SubjectInfo> subjects =
        measurements.recording().subjects().stream()
            .filter(subject -> variants.stream().anyMatch(v -> throughput(v, subject).isPresent()))
            .sorted(
                Comparator.comparingDouble(
                    subject ->
                        -throughput(variants.get(0), subject).map(Spread::median).orElse(0.0)))
            .toList();
    double greatest =
        variants.stream()
            .flatMap(variant -> subjects.stream().map(subject -> throughput(variant, subject)))
            .flatMap(Optional::stream)
            .mapToDouble(Spread::median)
            .max()
            .orElseThrow();
    int labels = subjects.stream().mapToInt(subject -> subject.label().length()).max().orElse(0);
    StringBuilder plot = new StringBuilder("```\nstart and cancel, million a second\n\n");
    List<String> head = new ArrayList<>(List.of(" ".repeat(labels)));
    variants.forEach(variant -> head.add(" ".repeat(VALUE) + GAP + padded(variant.name(), BAR)));
    line(plot, head);
    for (SubjectInfo subject : subjects) {
      List<String> cells = new ArrayList<>(List.of(padded(subject.label(), labels)));
      variants.forEach(variant -> cells.add(bar(throughput(variant, subject), greatest)));
      line(plot, cells);
    }
    return plot.append("```\n\n").toString();
  }

  private static String bar(Optional<Spread> throughput, double greatest) {
    double value = throughput.map(Spread::median).orElse(0.0);
    String text = throughput.isEmpty() ? "–" : Numbers.text(value);
    String bar = "█".repeat((int) Math.round(BAR * value / greatest));
    return " ".repeat(Math.max(0, VALUE - text.length())) + text + GAP + padded(bar, BAR);
  }

  private static String padded(String text, int width) {
    return text + " ".repeat(width - text.length());
  }

  private static void line(StringBuilder plot, List<String> cells) {
    plot.append(String.join(GAP, cells).stripTrailing()).append('\n');
  }

  private String table(List<Figure> figures, Set<String> subjects) {
    List<SubjectInfo> columns =
        measurements.recording().subjects().stream()
            .filter(subject -> subjects.contains(subject.id()))
            .toList();
    StringBuilder table = new StringBuilder("| ");
    columns.forEach(subject -> table.append(" | ").append(Tables.escaped(subject.label())));
    table.append(" | best of the others |\n|---|").append("--:|".repeat(columns.size() + 1));
    for (Figure figure : figures) {
      table.append("\n| ").append(figure.label());
      columns.forEach(subject -> table.append(" | ").append(cell(figure, subject)));
      table.append(" | ").append(best(figure)).append(" |");
    }
    return table.append('\n').toString();
  }

  private String cell(Figure figure, SubjectInfo subject) {
    return measurements
        .values(figure.variant(), subject.id(), figure.metric())
        .map(value -> Numbers.text(value.median()))
        .orElse("–");
  }

  /** Returns the figure of the best other library, and whether it is better than ours. */
  private String best(Figure figure) {
    return measurements
        .bestOther(figure.variant(), figure.metric())
        .map(
            other -> {
              double times =
                  measurements
                      .advantage(figure.variant(), figure.metric(), other.id())
                      .orElseThrow()
                      .median();
              return cell(figure, other)
                  + " "
                  + Tables.escaped(other.label())
                  + (times < 1 ? "<br>**" + Tables.LOSS + "**" : "");
            })
        .orElse("–");
  }

  private Optional<Spread> throughput(Variant variant, SubjectInfo subject) {
    return measurements.values(variant, subject.id(), Metrics.OPERATIONS);
  }

  private boolean isRecorded(Variant variant) {
    return measurements.metrics(variant).contains(Metrics.OPERATIONS);
  }
}
