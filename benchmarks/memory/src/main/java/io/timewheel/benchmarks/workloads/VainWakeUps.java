// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.timewheel.benchmarks.subjects.Subject;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Measures the cost of requests that are answered at once. Each millisecond, one timeout is started
 * and cancelled before the timer thread can look. A timer that wakes its thread for each of them
 * pays for it twice: in the start, and with the CPU time of a thread that finds no work.
 */
final class VainWakeUps {
  private static final long PERIOD_NANOS = MILLISECONDS.toNanos(1);

  private VainWakeUps() {}

  static Map<String, Double> measure(Subject subject, Parameters parameters) {
    run(subject, parameters, Math.min(500, parameters.count()));
    long wakeups = subject.wakeups();
    CpuTime began = CpuTime.now();
    Histogram starts = run(subject, parameters, parameters.count());
    long cpuNanos = CpuTime.now().since(began);

    Map<String, Double> metrics = new LinkedHashMap<>(Figures.percentiles("start", starts));
    metrics.put("cpuMillis", cpuNanos / 1e6);
    if (wakeups >= 0) {
      metrics.put("wakeups", (double) (subject.wakeups() - wakeups));
    }
    return metrics;
  }

  private static Histogram run(Subject subject, Parameters parameters, int count) {
    Histogram starts = Figures.histogram();
    Object task = subject.task(() -> {});
    long nextNanos = System.nanoTime();
    for (int i = 0; i < count; i++) {
      nextNanos += PERIOD_NANOS;
      for (long nanos = nextNanos - System.nanoTime(); nanos > 0; ) {
        LockSupport.parkNanos(nanos);
        nanos = nextNanos - System.nanoTime();
      }
      long beforeNanos = System.nanoTime();
      Object handle = subject.start(task, parameters.maxDelayNanos());
      long startedNanos = System.nanoTime();
      subject.cancel(handle);
      Figures.record(starts, startedNanos - beforeNanos);
    }
    return starts;
  }
}
