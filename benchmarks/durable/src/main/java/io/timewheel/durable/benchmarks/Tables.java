// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/** Writes results as tables in Markdown: a row for each subject, a column for each variant. */
final class Tables {
  /**
   * The form of a cell.
   *
   * @param higherIsBetter whether a higher first figure is better; it compares subjects
   * @param lines the lines of a cell, with the names of figures in braces
   */
  record Form(String heading, boolean higherIsBetter, String primary, List<String> lines) {}

  private final Results results;
  private final Map<String, String> titles;
  private final String first;

  /**
   * Creates the tables.
   *
   * @param titles the titles of all subjects by their IDs, in the order of the rows
   * @param first the ID of the subject that the others are compared with
   */
  Tables(Results results, Map<String, String> titles, String first) {
    this.results = results;
    this.titles = titles;
    this.first = first;
  }

  /** Returns the workloads, the time and the machine of the measurements. */
  String head() {
    StringBuilder text = new StringBuilder();
    if (!results.mode().equals("full")) {
      text.append("> A quick run, for a first look and not for conclusions.\n\n");
    }
    String time =
        DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm", Locale.ROOT)
            .format(results.finished().atOffset(ZoneOffset.UTC));
    text.append("Measured until %s UTC: %s".formatted(time, results.machine()));
    text.append(results.commit() == null ? "" : ", commit `" + results.commit() + "`");
    text.append(". Load of the machine before each measurement: ").append(load()).append(".\n\n");
    return text.toString();
  }

  private String load() {
    return spread(results.runs().stream().mapToDouble(Results.Run::load).toArray(), Tables::number);
  }

  // Targets

  static OptionalDouble scaled(OptionalDouble value, double factor) {
    return value.isPresent() ? OptionalDouble.of(value.getAsDouble() * factor) : value;
  }

  static void atLeast(StringBuilder rows, String name, double target, OptionalDouble value) {
    Boolean met = value.isPresent() ? value.getAsDouble() >= target : null;
    row(rows, name, "at least " + number(target), text(value), met);
  }

  static void atMost(StringBuilder rows, String name, double target, OptionalDouble value) {
    Boolean met = value.isPresent() ? value.getAsDouble() <= target : null;
    row(rows, name, "at most " + number(target), text(value), met);
  }

  private static String text(OptionalDouble value) {
    return value.isPresent() ? number(value.getAsDouble()) : "";
  }

  /** Adds a row of the targets; {@code met} is null for a workload that was not measured. */
  static void row(
      StringBuilder rows, String name, String target, String measured, @Nullable Boolean met) {
    String verdict = met == null ? "not measured" : met ? "met" : "**NOT met**";
    rows.append("| %s | %s | %s | %s |\n".formatted(name, target, measured, verdict));
  }

  // Tables

  /** Returns the table of a workload; nothing if it was not measured. */
  String table(String workload, Form form) {
    List<Results.Run> runs =
        results.runs().stream().filter(run -> run.workload().equals(workload)).toList();
    if (runs.isEmpty()) {
      return "";
    }
    List<String> variants = distinct(runs, Results.Run::variant);
    List<String> subjects = distinct(runs, Results.Run::subject);
    StringBuilder text = new StringBuilder("## " + form.heading() + "\n\n|  |");
    variants.forEach(variant -> text.append(" ").append(variant).append(" |"));
    text.append("\n|---|").append("---|".repeat(variants.size())).append("\n");
    titles.forEach(
        (subject, title) -> {
          if (subjects.contains(subject)) {
            text.append("| ").append(title).append(" |");
            for (String variant : variants) {
              text.append(" ").append(cell(form, workload, variant, subject)).append(" |");
            }
            text.append("\n");
          }
        });
    return text.append("\n").toString();
  }

  private static List<String> distinct(
      List<Results.Run> runs, Function<Results.Run, String> property) {
    return runs.stream().map(property).distinct().toList();
  }

  private String cell(Form form, String workload, String variant, String subject) {
    List<Results.Run> runs =
        results.runs().stream()
            .filter(
                run ->
                    run.workload().equals(workload)
                        && run.variant().equals(variant)
                        && run.subject().equals(subject))
            .toList();
    List<String> parts = new ArrayList<>();
    if (runs.stream().anyMatch(run -> run.failure() == null)) {
      for (String line : form.lines()) {
        filled(line, runs, form.primary()).ifPresent(parts::add);
      }
      if (!subject.equals(first)) {
        double[] ratios = ratios(workload, variant, first, subject, form.primary());
        OptionalDouble ratio = median(ratios);
        if (ratio.isPresent()) {
          double value = form.higherIsBetter() ? ratio.getAsDouble() : 1 / ratio.getAsDouble();
          parts.add("×" + number(value));
        }
      }
    }
    runs.stream()
        .filter(run -> run.failure() != null)
        .findFirst()
        .ifPresent(run -> parts.add("failed: " + String.valueOf(run.failure()).replace("|", "/")));
    return String.join("<br>", parts);
  }

  /** Returns a line; nothing if one of its figures was not measured. */
  private static Optional<String> filled(String line, List<Results.Run> runs, String primary) {
    StringBuilder text = new StringBuilder();
    int from = 0;
    for (int open = line.indexOf('{'); open >= 0; open = line.indexOf('{', from)) {
      int close = line.indexOf('}', open);
      String name = line.substring(open + 1, close);
      double[] values = figures(runs, name);
      if (values.length == 0) {
        return Optional.empty();
      }
      text.append(line, from, open);
      text.append(
          name.equals(primary)
              ? spread(values, Tables::number)
              : number(median(values).orElse(Double.NaN)));
      from = close + 1;
    }
    return Optional.of(text.append(line.substring(from)).toString());
  }

  // Numbers

  private static double[] figures(List<Results.Run> runs, String name) {
    return runs.stream()
        .map(run -> run.figure(name))
        .filter(value -> value != null)
        .mapToDouble(value -> value)
        .toArray();
  }

  OptionalDouble figure(String workload, String variant, String subject, String name) {
    return median(
        figures(
            results.runs().stream().filter(run -> is(run, workload, variant, subject)).toList(),
            name));
  }

  private static boolean is(Results.Run run, String workload, String variant, String subject) {
    return run.workload().equals(workload)
        && run.variant().equals(variant)
        && run.subject().equals(subject);
  }

  /** Returns the ratios of the first subject to the second, of each round that has both. */
  double[] ratios(String workload, String variant, String first, String second, String name) {
    DoubleStream.Builder ratios = DoubleStream.builder();
    for (Results.Run one : results.runs()) {
      for (Results.Run other : results.runs()) {
        Double numerator = one.figure(name);
        Double denominator = other.figure(name);
        if (is(one, workload, variant, first)
            && is(other, workload, variant, second)
            && one.round() == other.round()
            && numerator != null
            && denominator != null) {
          ratios.add(numerator / denominator);
        }
      }
    }
    return ratios.build().toArray();
  }

  static OptionalDouble median(double... values) {
    if (values.length == 0) {
      return OptionalDouble.empty();
    }
    double[] sorted = DoubleStream.of(values).sorted().toArray();
    int half = sorted.length / 2;
    return OptionalDouble.of(
        sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2);
  }

  private static String spread(double[] values, Function<Double, String> form) {
    String median = form.apply(median(values).orElse(Double.NaN));
    if (values.length < 2) {
      return median;
    }
    double least = DoubleStream.of(values).min().orElseThrow();
    double greatest = DoubleStream.of(values).max().orElseThrow();
    return "%s (%s–%s)".formatted(median, form.apply(least), form.apply(greatest));
  }

  /** Formats a number with three digits, or with all digits of its integer part. */
  static String number(double value) {
    if (Math.abs(value) >= 100 || value == Math.rint(value)) {
      return String.format(Locale.ROOT, "%,.0f", value);
    }
    double size = Math.abs(value);
    return String.format(Locale.ROOT, size >= 10 ? "%.1f" : size >= 0.1 ? "%.2f" : "%.3f", value);
  }
}
