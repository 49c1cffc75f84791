// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import io.timewheel.benchmarks.report.Measurements.Variant;
import io.timewheel.benchmarks.report.Subjects.Kind;
import io.timewheel.benchmarks.results.Run;
import io.timewheel.benchmarks.results.SubjectInfo;
import io.timewheel.benchmarks.workloads.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The tables of a recording, in Markdown. */
final class Tables {
  /** The text in a cell of a subject that is better than ours. */
  static final String LOSS = "we lose";

  private final Measurements measurements;

  Tables(Measurements measurements) {
    this.measurements = measurements;
  }

  /**
   * Returns a table for each variant of the workload; the empty string if the workload was not run.
   */
  String of(Workload workload) {
    return measurements.variants(workload).stream()
        .map(variant -> "### " + variant + "\n\n" + of(variant) + rounds(variant))
        .collect(Collectors.joining("\n"));
  }

  /** Returns the table of targets with their measurements. */
  String targets() {
    StringBuilder table = new StringBuilder();
    row(table, List.of("Figure", "Target", "Measured", ""));
    table.append("|---|---|---|---|\n");
    for (Target target : new Targets(measurements).all()) {
      row(
          table,
          List.of(
              escaped(target.figure()),
              escaped(target.aim()),
              target.measured().stream().map(Tables::escaped).collect(Collectors.joining("<br>")),
              target.verdict().text()));
    }
    return table.toString();
  }

  /** Returns the table of subjects. */
  String subjects() {
    StringBuilder table = new StringBuilder();
    row(table, List.of("Subject", "Version", "Tick"));
    table.append("|---|---|---|\n");
    for (SubjectInfo subject : measurements.recording().subjects()) {
      row(
          table,
          List.of(escaped(subject.label()), escaped(subject.version()), escaped(subject.tick())));
    }
    return table.toString();
  }

  private String of(Variant variant) {
    List<Metric> metrics = measurements.metrics(variant);
    List<String> notes = new ArrayList<>();
    StringBuilder table = new StringBuilder();
    List<String> head = new ArrayList<>(List.of(""));
    metrics.forEach(metric -> head.add(metric.label() + "<br>" + metric.direction()));
    row(table, head);
    rule(table, head.size());
    List<String> others = new ArrayList<>();
    for (SubjectInfo subject : measurements.recording().subjects()) {
      if (!isShown(variant, subject.id())) {
        others.add(escaped(subject.label()));
      } else {
        row(table, cells(variant, subject, metrics, notes));
      }
    }
    if (!notes.isEmpty()) {
      table.append('\n');
      IntStream.range(0, notes.size())
          .forEach(i -> table.append(i + 1).append(". ").append(notes.get(i)).append('\n'));
    }
    if (!others.isEmpty()) {
      table.append("\nNot part of this: ").append(String.join(", ", others)).append(".\n");
    }
    return table.toString();
  }

  private String rounds(Variant variant) {
    int rounds = measurements.rounds(variant);
    return "\nMeasured in " + rounds + (rounds == 1 ? " round.\n" : " rounds.\n");
  }

  /**
   * Returns whether a subject has a row. A bound is not a timer, so it has a row only if it was
   * measured.
   */
  private boolean isShown(Variant variant, String subject) {
    List<Run> runs = measurements.runs(variant, subject);
    return Subjects.kind(subject) == Kind.BOUND
        ? runs.stream().anyMatch(run -> run.absent() == null)
        : !runs.isEmpty();
  }

  private List<String> cells(
      Variant variant, SubjectInfo subject, List<Metric> metrics, List<String> notes) {
    String label = escaped(subject.label());
    String marks =
        reasons(measurements.runs(variant, subject.id())).stream()
            .map(reason -> "<sup>" + number(notes, label + ": " + reason) + "</sup>")
            .collect(Collectors.joining(" "));
    List<String> cells = new ArrayList<>();
    boolean us = subject.id().equals(Subjects.us(variant.workload()));
    cells.add((us ? "**" + label + "**" : label) + marks);
    for (Metric metric : metrics) {
      String value =
          measurements
              .values(variant, subject.id(), metric)
              .map(spread -> spread.text(""))
              .orElse("–");
      cells.add(value + comparison(variant, subject.id(), metric));
    }
    return cells;
  }

  /** Returns the second line of a cell: how many times better we are. */
  private String comparison(Variant variant, String subject, Metric metric) {
    if (subject.equals(Subjects.us(variant.workload()))) {
      return "";
    }
    Optional<Spread> advantage = measurements.advantage(variant, metric, subject);
    if (advantage.isEmpty()) {
      return "";
    }
    double times = advantage.get().median();
    Kind kind = Subjects.kind(subject);
    boolean lost = times < 1 && (kind == Kind.PEER || kind == Kind.PASSIVE);
    return "<br>" + Numbers.text(times) + " ×" + (lost ? " **" + LOSS + "**" : "");
  }

  /** Returns the reasons for missing metrics, each once, with the number of rounds. */
  private static List<String> reasons(List<Run> runs) {
    return runs.stream()
        .filter(run -> run.metrics() == null)
        .map(Tables::reason)
        .distinct()
        .map(
            reason -> {
              long count =
                  runs.stream()
                      .filter(run -> run.metrics() == null && reason(run).equals(reason))
                      .count();
              return count == runs.size()
                  ? reason
                  : reason + " (" + count + " of " + runs.size() + " runs)";
            })
        .toList();
  }

  private static String reason(Run run) {
    if (run.failed() != null) {
      return "failed: " + escaped(run.failed());
    }
    return "absent: " + escaped(Objects.requireNonNullElse(run.absent(), "no reason was recorded"));
  }

  private static int number(List<String> notes, String note) {
    if (!notes.contains(note)) {
      notes.add(note);
    }
    return notes.indexOf(note) + 1;
  }

  private static void row(StringBuilder table, List<String> cells) {
    table.append("| ").append(String.join(" | ", cells)).append(" |\n");
  }

  private static void rule(StringBuilder table, int columns) {
    table.append("|---").append("|--:".repeat(columns - 1)).append("|\n");
  }

  /** Returns the text escaped for one line of a table. */
  static String escaped(String text) {
    return text.strip()
        .replaceAll("\\s+", " ")
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace("|", "\\|");
  }
}
