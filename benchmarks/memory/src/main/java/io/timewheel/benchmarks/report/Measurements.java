// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import io.timewheel.benchmarks.results.Results;
import io.timewheel.benchmarks.results.Run;
import io.timewheel.benchmarks.results.SubjectInfo;
import io.timewheel.benchmarks.workloads.Workload;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The measurements of a recording, by variant, subject and metric. */
final class Measurements {
  /** A variant of a workload. */
  record Variant(Workload workload, String name) {
    @Override
    public String toString() {
      return workload.id() + ", " + name;
    }
  }

  private final Results recording;
  private final Map<Variant, Map<String, List<Run>>> runs = new LinkedHashMap<>();

  Measurements(Results recording) {
    this.recording = recording;
    for (Run run : recording.runs()) {
      // The look-up throws if the recording does not introduce the subject.
      SubjectInfo subject = subject(run.subject());
      runs.computeIfAbsent(
              new Variant(Workload.of(run.workload()), run.variant()), any -> new LinkedHashMap<>())
          .computeIfAbsent(subject.id(), any -> new ArrayList<>())
          .add(run);
    }
  }

  Results recording() {
    return recording;
  }

  /** Returns how often the variant was measured. */
  int rounds(Variant variant) {
    return (int)
        runs.getOrDefault(variant, Map.of()).values().stream()
            .flatMap(List::stream)
            .mapToInt(Run::round)
            .distinct()
            .count();
  }

  SubjectInfo subject(String id) {
    return recording.subjects().stream()
        .filter(subject -> subject.id().equals(id))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException("the recording does not introduce its subject " + id));
  }

  /** Returns the variants of the workload in the order of their first occurrence. */
  List<Variant> variants(Workload workload) {
    return runs.keySet().stream().filter(variant -> variant.workload() == workload).toList();
  }

  /** Returns the metrics of the variant that were recorded, in the order of the workload. */
  List<Metric> metrics(Variant variant) {
    return Metrics.of(variant.workload()).stream()
        .filter(
            metric ->
                recording.subjects().stream()
                    .anyMatch(subject -> values(variant, subject.id(), metric).isPresent()))
        .toList();
  }

  /** Returns all runs of the subject, in the order of the recording; none if it took no part. */
  List<Run> runs(Variant variant, String subject) {
    return runs.getOrDefault(variant, Map.of()).getOrDefault(subject, List.of());
  }

  /** Returns the values over the rounds, in the displayed unit. */
  Optional<Spread> values(Variant variant, String subject, Metric metric) {
    return Spread.of(byRound(variant, subject, metric).values())
        .map(spread -> spread.per(metric.unit()));
  }

  /** Returns the quotients of two subjects, over the rounds in which both have a value. */
  Optional<Spread> quotients(Variant variant, Metric metric, String dividend, String divisor) {
    Map<Integer, Double> dividends = byRound(variant, dividend, metric);
    Map<Integer, Double> divisors = byRound(variant, divisor, metric);
    List<Double> quotients = new ArrayList<>();
    dividends.forEach(
        (round, value) -> {
          Double other = divisors.get(round);
          if (other != null) {
            // Zero against zero is a draw, not a division by zero.
            quotients.add(value.equals(other) ? 1.0 : value / other);
          }
        });
    return Spread.of(quotients);
  }

  /** Returns the differences of two subjects, over the rounds in which both have a value. */
  Optional<Spread> differences(Variant variant, Metric metric, String minuend, String subtrahend) {
    Map<Integer, Double> values = byRound(variant, minuend, metric);
    Map<Integer, Double> subtrahends = byRound(variant, subtrahend, metric);
    List<Double> differences = new ArrayList<>();
    values.forEach(
        (round, value) -> {
          Double other = subtrahends.get(round);
          if (other != null) {
            differences.add(value - other);
          }
        });
    return Spread.of(differences).map(spread -> spread.per(metric.unit()));
  }

  /** Returns how many times better than the subject we are; less than one means worse. */
  Optional<Spread> advantage(Variant variant, Metric metric, String subject) {
    String us = Subjects.us(variant.workload());
    return metric.moreIsBetter()
        ? quotients(variant, metric, us, subject)
        : quotients(variant, metric, subject, us);
  }

  /** Returns the peer with the best result, if both a peer and our timer were measured. */
  Optional<SubjectInfo> bestPeer(Variant variant, Metric metric) {
    return best(variant, metric, EnumSet.of(Subjects.Kind.PEER));
  }

  /** Returns the best of all other libraries, including a passive wheel. */
  Optional<SubjectInfo> bestOther(Variant variant, Metric metric) {
    return best(variant, metric, EnumSet.of(Subjects.Kind.PEER, Subjects.Kind.PASSIVE));
  }

  private Optional<SubjectInfo> best(Variant variant, Metric metric, Set<Subjects.Kind> kinds) {
    return recording.subjects().stream()
        .filter(subject -> kinds.contains(Subjects.kind(subject.id())))
        .filter(subject -> advantage(variant, metric, subject.id()).isPresent())
        .min(
            (one, other) ->
                Double.compare(
                    advantage(variant, metric, one.id()).orElseThrow().median(),
                    advantage(variant, metric, other.id()).orElseThrow().median()));
  }

  /**
   * Returns one value for each round: the median, if the subject was measured several times in it.
   */
  private SortedMap<Integer, Double> byRound(Variant variant, String subject, Metric metric) {
    return runs(variant, subject).stream()
        .filter(run -> run.metrics() != null && run.metrics().get(metric.key()) != null)
        .collect(
            Collectors.groupingBy(
                Run::round,
                TreeMap::new,
                Collectors.collectingAndThen(
                    Collectors.mapping(
                        run -> Objects.requireNonNull(run.metrics()).get(metric.key()),
                        Collectors.toList()),
                    values -> Spread.of(values).orElseThrow().median())));
  }
}
