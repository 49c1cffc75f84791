// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import io.timewheel.benchmarks.report.Measurements.Variant;
import io.timewheel.benchmarks.report.Target.Verdict;
import io.timewheel.benchmarks.results.SubjectInfo;
import io.timewheel.benchmarks.workloads.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.DoublePredicate;

/**
 * Compares the measurements with the targets, which are defined only here.
 *
 * <p>A target with several parts is met if each part is met. If a part was not measured, the target
 * is open, unless another part is missed. The best peer is the library with the best result in
 * comparison with ours. Quotients are computed within a round. An event that must never happen must
 * not happen in any round.
 */
final class Targets {
  private static final String ONE_THREAD = "1 thread";
  private static final String MILLI_TICK = "1 ms tick";
  private static final String BIG_SLOT = "4M in a slot of 65 s";
  private static final String MICRO_TICK = "100 µs tick";

  /** One part of the measurements, and whether it meets the target. */
  private record Part(String text, Verdict verdict) {
    static Part of(String text, boolean met) {
      return new Part(text, met ? Verdict.MET : Verdict.NOT_MET);
    }

    static Part missing(String what) {
      return new Part(what + " not recorded", Verdict.NOT_MEASURED);
    }
  }

  private final Measurements measurements;

  Targets(Measurements measurements) {
    this.measurements = measurements;
  }

  /** Returns all targets, met or not, measured or not. */
  List<Target> all() {
    List<Target> all = new ArrayList<>();
    all.add(
        target(
            "churn (start + cancel), 1 thread, against Netty 4.2",
            "at least 1.5 times",
            times(Workload.CHURN, ONE_THREAD, Subjects.NETTY, 1.5)));
    all.add(
        target(
            "churn, 2 threads, against Netty 4.2",
            "at least 3 times",
            times(Workload.CHURN, "2 threads", Subjects.NETTY, 3)));
    all.add(
        target(
            "churn, CPU of the process per operation, against the best peer",
            "at most a third",
            parts(
                Workload.CHURN,
                variant -> shareOfBestPeer(variant, Metrics.OPERATION_CPU, 1.0 / 3))));
    all.add(
        target(
            "churn, 1 thread, against the floor: reading the clock and one allocation",
            "at most 2 times its time",
            quotient(
                new Variant(Workload.CHURN, ONE_THREAD),
                Metrics.OPERATION_NANOS,
                Subjects.FLOOR,
                " times",
                ratio -> ratio <= 2)));
    all.add(
        target(
            "churn, 1 thread, against the floor with two locks",
            "at least 0.8 times",
            times(Workload.CHURN, ONE_THREAD, Subjects.LOCKED_FLOOR, 0.8)));
    all.add(
        target(
            "in flight, 1 thread, against Netty 4.2",
            "at least 1.3 times",
            times(Workload.INFLIGHT, ONE_THREAD, Subjects.NETTY, 1.3)));
    all.add(
        target(
            "in flight, 2 threads, against Netty 4.2",
            "at least 3 times",
            times(Workload.INFLIGHT, "2 threads", Subjects.NETTY, 3)));
    all.add(
        target(
            "touch (move a deadline), against the best peer's cancel + new",
            "at least 3 times",
            parts(Workload.TOUCH, variant -> timesBestPeer(variant, Metrics.OPERATIONS, 3))));
    all.add(
        target(
            "touch of Expirations, a million keys, against a map and the best peer's cancel + new:"
                + " CPU",
            "at least 5 times less",
            parts(Workload.PATTERNS, variant -> timesBestPeer(variant, Metrics.TOUCH_CPU, 5))));
    all.add(
        target(
            "heap per pending timeout, handle included, to a byte",
            "at most 40 bytes",
            parts(
                Workload.LOAD,
                variant ->
                    most(
                        variant, Metrics.HEAP_BYTES, " bytes", bytes -> Math.round(bytes) <= 40))));
    all.add(
        target(
            "idle, 6M pending, 1 ms tick: CPU over 20 s, beyond that of an empty JVM",
            "at most 10 ms",
            idleCpu()));
    all.add(
        target(
            "idle, 6M pending, 1 ms tick: wake-ups of the timer thread",
            "none",
            most(new Variant(Workload.IDLE, "6M pending"), Metrics.WAKE_UPS, "", n -> n == 0)));
    all.add(
        target(
            "lag, 1 ms tick: p50, p99",
            "at most 0.65 and 1.2 ms",
            lag("p50", Metrics.LATE_P50, 0.65),
            lag("p99", Metrics.LATE_P99, 1.2)));
    all.add(
        target(
            "lag and expire: fired early, whatever the tick and the load",
            "none",
            never(Workload.LAG, Workload.EXPIRE)));
    all.add(
        target(
            "lag, 100 µs tick, against ScheduledThreadPoolExecutor: p99",
            "at most 3 times",
            quotient(
                new Variant(Workload.LAG, MICRO_TICK),
                Metrics.LATE_P99,
                Subjects.SCHEDULED_THREAD_POOL,
                " times",
                ratio -> ratio <= 3)));
    all.add(
        target(
            "lag, 100 µs tick, against ScheduledThreadPoolExecutor: CPU",
            "less",
            quotient(
                new Variant(Workload.LAG, MICRO_TICK),
                Metrics.CPU,
                Subjects.SCHEDULED_THREAD_POOL,
                " times",
                ratio -> ratio < 1)));
    all.add(
        target(
            "expire, CPU per expiry, against Netty 4.2",
            "no more",
            parts(
                Workload.EXPIRE,
                variant ->
                    quotient(
                        variant,
                        Metrics.EXPIRY_CPU,
                        Subjects.NETTY,
                        " times",
                        ratio -> ratio <= 1))));
    Variant burst = new Variant(Workload.EXPIRE, "6M in a second");
    all.add(
        target(
            "expire, 6M in a second: the last one late",
            "at most 5 ms",
            most(burst, Metrics.OVERRUN, " ms", millis -> millis <= 5)));
    all.add(
        target(
            "expire, 6M in a second, CPU of start and expiry together, against Netty 4.2",
            "at most 0.7 times",
            quotient(burst, Metrics.TIMEOUT_CPU, Subjects.NETTY, " times", ratio -> ratio <= 0.7)));
    all.add(
        target(
            "big slot, 4M in 65 s: timeouts of 2 ms late, those of the same thread and of others",
            "at most 40 ms",
            bigSlot("same thread", Metrics.SAME_STRIPE_MAX),
            bigSlot("others", Metrics.OTHER_THREADS_MAX)));
    all.add(
        target(
            "load, 10M from 1 ms to 1 year, time per start, against the best peer",
            "no more",
            shareOfBestPeer(
                new Variant(Workload.LOAD, "10M, 1 ms to 1 year"), Metrics.START_NANOS, 1)));
    return all;
  }

  private static Target target(String figure, String aim, Part... parts) {
    Verdict verdict = Verdict.MET;
    List<String> texts = new ArrayList<>();
    for (Part part : parts) {
      texts.add(part.text());
      if (part.verdict() == Verdict.NOT_MET || verdict == Verdict.MET) {
        verdict = part.verdict();
      }
    }
    return new Target(figure, aim, texts, verdict);
  }

  private interface PartOfVariant {
    Part of(Variant variant);
  }

  /** Returns a part for each recorded variant of the workload, with its name. */
  private Part[] parts(Workload workload, PartOfVariant measure) {
    List<Variant> variants = measurements.variants(workload);
    if (variants.isEmpty()) {
      return new Part[] {Part.missing(workload.id())};
    }
    return variants.stream()
        .map(
            variant -> {
              Part part = measure.of(variant);
              return new Part(variant.name() + ": " + part.text(), part.verdict());
            })
        .toArray(Part[]::new);
  }

  private Part times(Workload workload, String variant, String peer, double least) {
    return measurements
        .advantage(new Variant(workload, variant), Metrics.OPERATIONS, peer)
        .map(times -> Part.of(times.text(" times"), times.median() >= least))
        .orElse(Part.missing(workload.id() + ", " + variant));
  }

  private Part timesBestPeer(Variant variant, Metric metric, double least) {
    Optional<SubjectInfo> peer = measurements.bestPeer(variant, metric);
    if (peer.isEmpty()) {
      return Part.missing(variant.toString());
    }
    Spread times = measurements.advantage(variant, metric, peer.get().id()).orElseThrow();
    return Part.of(times.text(" times") + " " + peer.get().label(), times.median() >= least);
  }

  private Part shareOfBestPeer(Variant variant, Metric metric, double most) {
    return measurements
        .bestPeer(variant, metric)
        .map(
            peer -> {
              Part share = quotient(variant, metric, peer.id(), " times", ratio -> ratio <= most);
              return new Part(share.text() + " " + peer.label(), share.verdict());
            })
        .orElse(Part.missing(variant.toString()));
  }

  private Part quotient(
      Variant variant, Metric metric, String other, String unit, DoublePredicate met) {
    return measurements
        .quotients(variant, metric, Subjects.US, other)
        .map(ratio -> Part.of(ratio.text(unit), met.test(ratio.median())))
        .orElse(Part.missing(variant.toString()));
  }

  private Part lag(String name, Metric metric, double most) {
    return measurements
        .values(new Variant(Workload.LAG, MILLI_TICK), Subjects.US, metric)
        .map(value -> Part.of(name + ": " + value.text(" ms"), value.median() <= most))
        .orElse(Part.missing(name));
  }

  private Part most(Variant variant, Metric metric, String unit, DoublePredicate met) {
    return measurements
        .values(variant, Subjects.US, metric)
        .map(value -> Part.of(value.text(unit), met.test(value.max())))
        .orElse(Part.missing(variant.toString()));
  }

  private Part bigSlot(String name, Metric metric) {
    Part part =
        most(new Variant(Workload.BIG_SLOT, BIG_SLOT), metric, " ms", millis -> millis <= 40);
    return new Part(name + ": " + part.text(), part.verdict());
  }

  /** Counts the early timeouts of all our timers, in all rounds of all variants. */
  private Part never(Workload... workloads) {
    double worst = -1;
    for (Workload workload : workloads) {
      for (Variant variant : measurements.variants(workload)) {
        for (String id : Subjects.OURS) {
          Optional<Spread> early = measurements.values(variant, id, Metrics.EARLY);
          worst = Math.max(worst, early.map(Spread::max).orElse(-1.0));
        }
      }
    }
    return worst < 0 ? Part.missing("early") : Part.of(Numbers.text(worst), worst == 0);
  }

  private Part idleCpu() {
    Variant full = new Variant(Workload.IDLE, "6M pending");
    return measurements
        .differences(full, Metrics.CPU, Subjects.US, Subjects.EMPTY)
        .map(millis -> Part.of(millis.text(" ms"), millis.median() <= 10))
        .orElse(Part.missing(full.toString()));
  }
}
