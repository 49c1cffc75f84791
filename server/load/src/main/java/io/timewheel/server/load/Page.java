// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.load;

import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;

/** Writes the results in Markdown, for the documentation. */
final class Page {
  private static final String HEAD =
      """
      # The server, measured

      Generated from `server/load/results/latest.json`; do not edit. To measure again and replace it:

      ```
      server/load/run --out server/load/results/latest.json --write
      ```

      `--help` lists the options.

      """;

  private static final String HOW =
      """
      ## How

      * The server is a separate process on an empty RocksDB store. Every change is synced to the disk before the answer, and written to the audit log. The clients are threads of another process on the same machine, over loopback. They use part of the processors.
      * Each round has a new server. Rates are measured after a warm-up of the same duration. Figures are medians over the rounds (least–greatest). Processor time is that of the server.
      * *In batches*: 1,000 timers in each, 4 connections. *One by one*: a `PUT` on each of 32 connections. Timers are due tomorrow, and have a small payload. Each answer must be 201.
      * *Lag*: timers are spread evenly over the time; 32 consumers claim up to ten at a time, wait for due timers, and acknowledge each firing by a separate request. The lag is the time from the due time to the answer of the claim.
      * *The crowd*: each claim waits on its own connection for one of the same number of timers, all due at one moment, while event streams are open. The run fails unless every claim receives a different timer, and every stream a change.
      * *Silent connections* have sent nothing; meanwhile another connection requests `/healthz`.
      * *Memory* is the peak of the process in RAM (`VmHWM`), over all workloads of a round. The heap and the direct buffers are limited as shown above. The rest belongs to RocksDB (64 MB of cache, 64 MB of write buffers), to classes and to compiled code.
      * *Commands start*: `./timewheel timers list` of an empty namespace, from the launcher's first line to its exit, with the class archive that the first run creates. Median of ten.
      """;

  private final Results results;
  private final StringBuilder text = new StringBuilder();

  private Page(Results results) {
    this.results = results;
  }

  static String of(Results results) {
    return HEAD + table(results) + HOW;
  }

  /** Returns the tables, for a terminal. */
  static String table(Results results) {
    return new Page(results).table();
  }

  private String table() {
    String time =
        DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm", Locale.ROOT)
            .format(results.finished().atOffset(ZoneOffset.UTC));
    text.append("Measured until %s UTC: %s".formatted(time, results.machine()))
        .append(results.commit() == null ? "" : ", commit `" + results.commit() + "`")
        .append("; server options `%s`".formatted(String.join(" ", results.serverOptions())))
        .append(
            "; %d rounds, rates over %d s".formatted(results.rounds().size(), results.seconds()))
        .append(". Load of the machine before each round: ")
        .append(spread(results.rounds().stream().mapToDouble(Results.Round::load).toArray(), ""))
        .append(".\n\n| Target |  | Measured |  |\n|---|---|---|---|\n");
    atLeast("creates/s, in batches", "batches.perSecond", 20_000, "batches.cpuMicros");
    atLeast(
        "creates/s, one by one over 32 connections",
        "singles.perSecond",
        5_000,
        "singles.cpuMicros");
    atMost("the same, p99", "singles.p99Millis", 50, " ms");
    atMost("lag from due to a waiting claim at 1,000/s, p99", "lag.p99Millis", 25, " ms");
    atMost(
        "memory of the server, all workloads, 10,000 waiting claims and 1,000 event streams among"
            + " them",
        "peakMegabytes",
        512,
        " MB");
    starts();
    text.append("\n| Besides | Measured |\n|---|---|\n");
    besides("creates one by one, p50", "singles.p50Millis");
    besides("creates one by one, longest", "singles.maxMillis");
    besides("lag at 1,000/s, p50", "lag.p50Millis");
    besides("lag at 1,000/s, longest", "lag.maxMillis");
    // The lag is the last workload of the warm-up.
    besides("lag at 1,000/s while the JVM still compiles, p99", "warm-up.p99Millis");
    besides(
        "10,000 claims answered after their timers were due at one moment, the last",
        "crowd.lastMillis");
    besides("answers with 10,000 silent connections open, p99", "idle.p99Millis");
    return text.append("\n").toString();
  }

  private void atLeast(String what, String figure, double target, String cpuMicros) {
    double[] values = figures(figure);
    row(
        what,
        "at least " + number(target),
        "%s<br>%s µs of CPU each".formatted(spread(values, ""), number(median(figures(cpuMicros)))),
        median(values) >= target);
  }

  private void atMost(String what, String figure, double target, String unit) {
    double[] values = figures(figure);
    row(what, "at most " + number(target) + unit, spread(values, unit), median(values) <= target);
  }

  private void starts() {
    results
        .startMillis()
        .forEach(
            (jdk, millis) -> {
              double[] values = array(millis);
              row(
                  "a client command from start to exit, JDK " + jdk,
                  "less than 700 ms",
                  spread(values, " ms"),
                  median(values) < 700);
            });
  }

  private void row(String what, String target, String measured, boolean met) {
    text.append(
        "| %s | %s | %s | %s |\n".formatted(what, target, measured, met ? "met" : "**NOT met**"));
  }

  private void besides(String what, String figure) {
    text.append("| %s | %s |\n".formatted(what, spread(figures(figure), " ms")));
  }

  private double[] figures(String name) {
    return array(results.rounds().stream().map(round -> round.figures().get(name)).toList());
  }

  private static double[] array(List<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).toArray();
  }

  private static double median(double... values) {
    double[] sorted = DoubleStream.of(values).sorted().toArray();
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  private static String spread(double[] values, String unit) {
    String median = number(median(values)) + unit;
    if (values.length < 2) {
      return median;
    }
    double least = DoubleStream.of(values).min().orElseThrow();
    double greatest = DoubleStream.of(values).max().orElseThrow();
    return "%s (%s–%s)".formatted(median, number(least), number(greatest));
  }

  /** Formats a number with three digits, or with all digits of its integer part. */
  private static String number(double value) {
    if (value >= 100 || value == Math.rint(value)) {
      return String.format(Locale.ROOT, "%,.0f", value);
    }
    return String.format(Locale.ROOT, value >= 10 ? "%.1f" : "%.2f", value);
  }
}
