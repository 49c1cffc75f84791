// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/** Tables of results, in Markdown. */
final class Report {
  private static final String HEAD =
      """
      # Durable timers, measured

      Generated from `durable/benchmarks/results/latest.json`; do not edit. To measure again and replace it:

      ```
      durable/benchmarks/run --out durable/benchmarks/results/latest.json --write
      ```

      `--quick` is one short round, `--help` lists the options. Absolute figures are those of one machine and its disk: \
      compare within a table only.

      """;

  private static final String HOW =
      """
      ## Where it loses, and why

      * **Callers that wait one by one.** What is synced waits for the disk, and a caller gets one timer from each sync. Peers on H2 do not wait for the disk, and are ahead with few callers where it is slow. Use `scheduleAll` or `scheduleAsync`, or another mode.
      * **One thread commits.** RocksDB alone shares batches among its callers. And each firing is two commits, of a claim and of an end: that thread is busy while a quarter of the processors is idle, more than half of its time in RocksDB. A slow machine shows here first: recordings of this page had 37,000 to 53,000 fires a second. A second thread fires a tenth more and costs callers up to half: [ADR 0010](../adr/0010-durable-timers.md).

      ## How

      * A JVM and an empty directory for each measurement, every second round backwards, medians over two rounds (least–greatest); those with other schedulers, SQLite, MVStore, 10 M timers and churn have one. `×` is how many times better our first row is, compared round by round; below 1 it is worse.
      * A timer has an id of 16 characters and a payload of 64 bytes. Latencies are those of the call, to its acknowledgement.
      * **Ours** in its three modes: synced (the default: acknowledged once it is on the disk), every 100 ms, and left to the operating system. As it comes.
      * **Quartz**: `JobStoreTX`, triggers of one durable job, 32 threads, `batchTriggerAcquisitionMaxCount` 32, `acquireTriggersWithinLock`, HikariCP, its script for H2 with the indexes of that for PostgreSQL.
      * **db-scheduler**: 32 threads, looks for work every 50 ms and after half of each batch of 192, tasks that are due start at once, HikariCP, its table and indexes. Lock-and-fetch, its faster way, does not exist for H2.
      * Both on H2 with `WRITE_DELAY=0`: a commit is written before it is acknowledged, but H2 never waits for the disk. What they acknowledge survives the process; only our mode of the operating system promises as little.
      * **Bare stores** write and sync the same batches, and check, index and fire nothing beyond that: RocksDB keys and values as long as ours, SQLite and MVStore a row and an index by time.
      * *Schedule*: due within the next month. *Fire*: all due at one moment, a handler that does nothing. *Lag*: from the due time to the first line of the handler, times at random. *Reopen*: in a JVM with `-Xmx256m`, to the end of the call and to the first timer that is scheduled then and fires. *Window*: heap, by what comes on top of a thousand. *Churn*: 10,000 a second for ten seconds later, nine of ten cancelled after five.
      """;

  /**
   * What a cell says.
   *
   * @param higherIsBetter of the first figure, by which subjects are compared
   * @param lines with figures in braces
   */
  private record Form(String heading, boolean higherIsBetter, String primary, List<String> lines) {}

  private final Results results;

  private Report(Results results) {
    this.results = results;
  }

  /** The page of the documentation. */
  static String page(Results results) {
    return HEAD + text(results) + HOW;
  }

  static String text(Results results) {
    return new Report(results).text();
  }

  private String text() {
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
    text.append(targets());
    for (Workload workload : Workload.values()) {
      text.append(table(workload));
    }
    return text.toString();
  }

  private String load() {
    return spread(results.runs().stream().mapToDouble(Results.Run::load).toArray(), Report::number);
  }

  // Targets

  private String targets() {
    StringBuilder rows = new StringBuilder("| Target |  | Measured |  |\n|---|---|---|---|\n");
    String ours = SubjectKind.OURS.id();
    schedules(rows);
    for (String variant : List.of("1 caller, batches of 1,000", "8 callers, batches of 1,000")) {
      atLeast(
          rows,
          "of RocksDB's own batches, " + variant.replaceFirst(",.*", ""),
          0.6,
          median(ratios("schedule", variant, ours, SubjectKind.ROCKSDB.id(), "perSecond")));
    }
    atLeast(rows, "fires/s", 50_000, figure("fire", "due at once", ours, "perSecond"));
    atMost(rows, "lag at 5,000/s, p99, ms", 20, figure("lag", "5,000 a second", ours, "p99Millis"));
    atMost(
        rows,
        "10 M reopened, s",
        5,
        scaled(figure("reopen", "10 M stored", ours, "openMillis"), 1e-3));
    atMost(
        rows,
        "10 M reopened, heap, MB",
        256,
        figure("reopen", "10 M stored", ours, "heapMegabytes"));
    return rows + "\n";
  }

  /** One target for three ways to it: what reaches it by any is met. */
  private void schedules(StringBuilder rows) {
    List<String> measured = new ArrayList<>();
    OptionalDouble best = OptionalDouble.empty();
    for (String variant :
        List.of("64 callers", "1 caller, batches of 1,000", "8 callers, batches of 1,000")) {
      OptionalDouble value = perSecond(variant);
      if (value.isPresent()) {
        measured.add(variant + ": " + number(value.getAsDouble()));
        best = OptionalDouble.of(Math.max(best.orElse(0), value.getAsDouble()));
      }
    }
    row(
        rows,
        "durable schedules/s, synced, by 64 callers or in batches",
        "at least 100,000",
        String.join("<br>", measured),
        best.isPresent() ? best.getAsDouble() >= 100_000 : null);
  }

  private OptionalDouble perSecond(String variant) {
    return figure("schedule", variant, SubjectKind.OURS.id(), "perSecond");
  }

  private static OptionalDouble scaled(OptionalDouble value, double factor) {
    return value.isPresent() ? OptionalDouble.of(value.getAsDouble() * factor) : value;
  }

  private static void atLeast(
      StringBuilder rows, String name, double target, OptionalDouble value) {
    Boolean met = value.isPresent() ? value.getAsDouble() >= target : null;
    row(rows, name, "at least " + number(target), text(value), met);
  }

  private static void atMost(StringBuilder rows, String name, double target, OptionalDouble value) {
    Boolean met = value.isPresent() ? value.getAsDouble() <= target : null;
    row(rows, name, "at most " + number(target), text(value), met);
  }

  private static String text(OptionalDouble value) {
    return value.isPresent() ? number(value.getAsDouble()) : "";
  }

  /** A row of the targets; {@code met} is null for what was not measured. */
  private static void row(
      StringBuilder rows, String name, String target, String measured, @Nullable Boolean met) {
    String verdict = met == null ? "not measured" : met ? "met" : "**NOT met**";
    rows.append("| %s | %s | %s | %s |\n".formatted(name, target, measured, verdict));
  }

  // Tables

  private static Form form(Workload workload) {
    return switch (workload) {
      case SCHEDULE ->
          new Form(
              "Schedule: timers a second, acknowledged",
              true,
              "perSecond",
              List.of(
                  "{perSecond}/s",
                  "{cpuMicros} µs of CPU each",
                  "p50 {p50Millis} ms, p99 {p99Millis} ms"));
      case FIRE ->
          new Form(
              "Fire", true, "perSecond", List.of("{perSecond}/s", "{cpuMicros} µs of CPU each"));
      case LAG ->
          new Form(
              "Lag of what is due",
              false,
              "p99Millis",
              List.of(
                  "p99 {p99Millis} ms",
                  "p50 {p50Millis} ms, max {maxMillis} ms",
                  "unfired: {unfired}, early: {early}"));
      case ASYNC, RECUR -> throw new IllegalArgumentException(workload + " has no table here");
      case FILL -> new Form("Fill", true, "perSecond", List.of("{perSecond}/s"));
      case REOPEN ->
          new Form(
              "Reopen",
              false,
              "openMillis",
              List.of(
                  "open {openMillis} ms, first fired {firedMillis} ms",
                  "heap {heapMegabytes} MB, resident {residentMegabytes} MB",
                  "disk {diskBytesPerTimer} bytes a timer"));
      case WINDOW ->
          new Form(
              "Window: heap of what waits",
              false,
              "heapBytesPerTimer",
              List.of("{heapBytesPerTimer} bytes a timer"));
      case CHURN ->
          new Form(
              "Churn",
              false,
              "debtMegabytesMax",
              List.of(
                  "{perSecond}/s, {firedOfExpected} of what was to fire has",
                  "compaction debt: max {debtMegabytesMax} MB, end {debtMegabytesEnd} MB",
                  "files: max {diskMegabytesMax} MB, end {diskMegabytesEnd} MB"));
    };
  }

  private String table(Workload workload) {
    List<Results.Run> runs =
        results.runs().stream().filter(run -> run.workload().equals(workload.id())).toList();
    if (runs.isEmpty()) {
      return "";
    }
    Form form = form(workload);
    List<String> variants = distinct(runs, Results.Run::variant);
    List<String> subjects = distinct(runs, Results.Run::subject);
    // In the order of the enum, whatever the order of the runs.
    List<SubjectKind> rows = new ArrayList<>();
    for (SubjectKind subject : SubjectKind.values()) {
      if (subjects.contains(subject.id())) {
        rows.add(subject);
      }
    }
    StringBuilder text = new StringBuilder("## " + form.heading() + "\n\n|  |");
    variants.forEach(variant -> text.append(" ").append(variant).append(" |"));
    text.append("\n|---|").append("---|".repeat(variants.size())).append("\n");
    for (SubjectKind subject : rows) {
      text.append("| ").append(subject.title()).append(" |");
      for (String variant : variants) {
        text.append(" ").append(cell(form, workload.id(), variant, subject)).append(" |");
      }
      text.append("\n");
    }
    return text.append("\n").toString();
  }

  private static List<String> distinct(
      List<Results.Run> runs, Function<Results.Run, String> property) {
    return runs.stream().map(property).distinct().toList();
  }

  private String cell(Form form, String workload, String variant, SubjectKind subject) {
    List<Results.Run> runs =
        results.runs().stream()
            .filter(
                run ->
                    run.workload().equals(workload)
                        && run.variant().equals(variant)
                        && run.subject().equals(subject.id()))
            .toList();
    List<String> parts = new ArrayList<>();
    if (runs.stream().anyMatch(run -> run.failure() == null)) {
      for (String line : form.lines()) {
        parts.add(filled(line, runs, form.primary()));
      }
      String first = SubjectKind.OURS.id();
      if (!subject.id().equals(first)) {
        double[] ratios = ratios(workload, variant, first, subject.id(), form.primary());
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

  private static String filled(String line, List<Results.Run> runs, String primary) {
    StringBuilder text = new StringBuilder();
    int from = 0;
    for (int open = line.indexOf('{'); open >= 0; open = line.indexOf('{', from)) {
      int close = line.indexOf('}', open);
      String name = line.substring(open + 1, close);
      double[] values = figures(runs, name);
      text.append(line, from, open);
      text.append(
          name.equals(primary)
              ? spread(values, Report::number)
              : number(median(values).orElse(Double.NaN)));
      from = close + 1;
    }
    return text.append(line.substring(from)).toString();
  }

  // Numbers

  private static double[] figures(List<Results.Run> runs, String name) {
    return runs.stream()
        .map(run -> run.figure(name))
        .filter(value -> value != null)
        .mapToDouble(value -> value)
        .toArray();
  }

  private OptionalDouble figure(String workload, String variant, String subject, String name) {
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

  /** First by second, of each round that has both. */
  private double[] ratios(
      String workload, String variant, String first, String second, String name) {
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

  private static OptionalDouble median(double... values) {
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

  /** Three digits, and never fewer than the integer part has. */
  static String number(double value) {
    if (Math.abs(value) >= 100 || value == Math.rint(value)) {
      return String.format(Locale.ROOT, "%,.0f", value);
    }
    double size = Math.abs(value);
    return String.format(Locale.ROOT, size >= 10 ? "%.1f" : size >= 0.1 ? "%.2f" : "%.3f", value);
  }
}
