// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import io.timewheel.benchmarks.report.BarChart.Bar;
import io.timewheel.benchmarks.report.BarChart.Panel;
import io.timewheel.benchmarks.report.BarChart.Row;
import io.timewheel.benchmarks.report.Measurements.Variant;
import io.timewheel.benchmarks.results.Run;
import io.timewheel.benchmarks.results.SubjectInfo;
import io.timewheel.benchmarks.workloads.Workload;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The plots of a recording. */
final class Charts {
  /**
   * A plot.
   *
   * @param name of its file, without the extension
   * @param workload the section of the documentation that shows it
   * @param title what it shows, for the page and for who cannot see it
   * @param svg the picture
   */
  record Chart(String name, Workload workload, String title, String svg) {}

  /** What a panel shows. */
  private record View(String title, Variant variant, Metric metric) {}

  private final Measurements measurements;

  Charts(Measurements measurements) {
    this.measurements = measurements;
  }

  /** Returns the plots for which anything was recorded. */
  List<Chart> all() {
    return Stream.of(
            chart(
                "churn",
                Workload.CHURN,
                "Start and cancel",
                "million pairs a second, more is better",
                true,
                variants(Metrics.OPERATIONS, Workload.CHURN)),
            chart(
                "churn-cpu",
                Workload.CHURN,
                "What start and cancel cost",
                "ns of the whole process's CPU per pair, less is better",
                true,
                variants(Metrics.OPERATION_CPU, Workload.CHURN)),
            chart(
                "inflight-touch",
                Workload.INFLIGHT,
                "Requests in flight, and deadlines moved",
                "million a second, more is better; touch moves where the timer can, and cancels"
                    + " and starts anew where it cannot",
                false,
                variants(Metrics.OPERATIONS, Workload.INFLIGHT, Workload.TOUCH)),
            chart(
                "heap",
                Workload.LOAD,
                "Memory of a pending timeout",
                "bytes of heap, handle included, less is better",
                true,
                variants(Metrics.HEAP_BYTES, Workload.LOAD)),
            chart(
                "load",
                Workload.LOAD,
                "Starting them all",
                "ns per start, less is better",
                true,
                variants(Metrics.START_NANOS, Workload.LOAD)),
            chart(
                "expire-cpu",
                Workload.EXPIRE,
                "What an expiry costs",
                "ns of the whole process's CPU per expiry, less is better",
                true,
                variants(Metrics.EXPIRY_CPU, Workload.EXPIRE)),
            lateness("lateness-1ms", "1 ms tick"),
            lateness("lateness-100us", "100 µs tick"),
            chart(
                "idle-cpu",
                Workload.IDLE,
                "Doing nothing",
                "ms of the whole process's CPU over 20 s in which nothing is due, less is better",
                true,
                variants(Metrics.CPU, Workload.IDLE)),
            chart(
                "patterns-touch",
                Workload.PATTERNS,
                "Postponing a timeout with a key",
                "ns of the whole process's CPU; timers are joined with a map by hand, less is"
                    + " better",
                true,
                variants(Metrics.TOUCH_CPU, Workload.PATTERNS)))
        .flatMap(Optional::stream)
        .toList();
  }

  private Optional<Chart> lateness(String name, String tick) {
    Variant quiet = new Variant(Workload.LATENESS, tick);
    return chart(
        name,
        Workload.LATENESS,
        "Lateness, " + tick,
        "ms after the deadline, less is better; each panel has its own scale",
        false,
        List.of(
            new View("p50", quiet, Metrics.LATE_P50),
            new View("p99", quiet, Metrics.LATE_P99),
            new View("p99.9", quiet, Metrics.LATE_P999),
            new View(
                "p99, cores busy",
                new Variant(Workload.LATENESS, tick + ", both cores busy"),
                Metrics.LATE_P99)));
  }

  private List<View> variants(Metric metric, Workload... workloads) {
    return Arrays.stream(workloads)
        .flatMap(workload -> measurements.variants(workload).stream())
        .map(
            variant ->
                new View(
                    workloads.length == 1 ? variant.name() : variant.toString(), variant, metric))
        .toList();
  }

  private Optional<Chart> chart(
      String name,
      Workload workload,
      String title,
      String subtitle,
      boolean commonScale,
      List<View> views) {
    List<View> recorded =
        views.stream()
            .filter(view -> measurements.metrics(view.variant()).contains(view.metric()))
            .toList();
    if (recorded.isEmpty()) {
      return Optional.empty();
    }
    List<SubjectInfo> subjects = ordered(recorded);
    List<Row> rows =
        subjects.stream()
            .map(subject -> new Row(subject.label(), Subjects.kind(subject.id())))
            .toList();
    List<Panel> panels =
        recorded.stream()
            .map(view -> new Panel(view.title(), subjects.stream().map(s -> bar(view, s)).toList()))
            .toList();
    String svg = new BarChart(title, subtitle, rows, panels, commonScale).svg();
    return Optional.of(new Chart(name, workload, title, svg));
  }

  /** Returns who took part: the bounds, then from the best to the worst of the first panel. */
  private List<SubjectInfo> ordered(List<View> views) {
    Map<SubjectInfo, Double> ranks = new LinkedHashMap<>();
    for (SubjectInfo subject : measurements.recording().subjects()) {
      if (views.stream().anyMatch(view -> isPart(view, subject))) {
        ranks.put(subject, rank(views, subject));
      }
    }
    return ranks.keySet().stream()
        .sorted(Comparator.comparing((SubjectInfo subject) -> ranks.get(subject)))
        .toList();
  }

  private boolean isPart(View view, SubjectInfo subject) {
    return measurements.runs(view.variant(), subject.id()).stream()
        .anyMatch(
            run ->
                run.failed() != null
                    || (run.metrics() != null && run.metrics().containsKey(view.metric().key())));
  }

  private double rank(List<View> views, SubjectInfo subject) {
    if (Subjects.kind(subject.id()) == Subjects.Kind.BOUND) {
      return Double.NEGATIVE_INFINITY;
    }
    View first = views.get(0);
    return measurements
        .values(first.variant(), subject.id(), first.metric())
        .map(value -> first.metric().moreIsBetter() ? -value.median() : value.median())
        .orElse(Double.POSITIVE_INFINITY);
  }

  private Bar bar(View view, SubjectInfo subject) {
    List<Run> runs = measurements.runs(view.variant(), subject.id());
    String missing =
        runs.stream().anyMatch(run -> run.failed() != null)
            ? "failed"
            : runs.isEmpty() ? "not run" : "absent";
    return new Bar(
        measurements.values(view.variant(), subject.id(), view.metric()).orElse(null), missing);
  }
}
