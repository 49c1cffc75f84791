// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.timewheel.benchmarks.subjects.Subject;
import io.timewheel.benchmarks.subjects.SubjectKind;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/**
 * Measures the lag of timeouts spread over a window, on an idle machine or on one that other
 * threads keep busy.
 */
final class Lag {
  private Lag() {}

  static Map<String, Double> measure(SubjectKind kind, Subject subject, Parameters parameters)
      throws InterruptedException {
    Expiries expiries = new Expiries(parameters.count());
    Expiries.Body[] bodies = new Expiries.Body[parameters.count()];
    Object[] handles = Figures.keep(parameters.count());
    long windowNanos = MILLISECONDS.toNanos(parameters.windowMillis());
    long firstNanos = System.nanoTime() + MILLISECONDS.toNanos(200) + handles.length * 5_000L;
    SplittableRandom random = new SplittableRandom(42);
    for (int i = 0; i < handles.length; i++) {
      bodies[i] = expiries.new Body(firstNanos + random.nextLong(windowNanos));
      Object task = subject.task(bodies[i]);
      handles[i] = subject.start(task, bodies[i].deadlineNanos - System.nanoTime());
    }

    long cpuNanos;
    try (BusyCpus busy = new BusyCpus(parameters.busyCpus())) {
      expiries.await(subject, kind.isPolled(), firstNanos - MILLISECONDS.toNanos(5));
      long busyNanos = busy.cpuNanos();
      CpuTime began = CpuTime.now();
      expiries.await(subject, kind.isPolled(), firstNanos + windowNanos + SECONDS.toNanos(60));
      cpuNanos = CpuTime.now().since(began) - (busy.cpuNanos() - busyNanos);
    }
    expiries.requireAllIn();

    Histogram late = Figures.histogram();
    for (Expiries.Body body : bodies) {
      Figures.record(late, body.lateNanos);
    }
    Map<String, Double> metrics = new LinkedHashMap<>(Figures.percentiles("", late));
    metrics.put("cpuMillis", cpuNanos / 1e6);
    metrics.put("early", expiries.early());
    return metrics;
  }
}
