// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.timewheel.benchmarks.subjects.Subject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures the work of the garbage collector with millions of long-lived timeouts and others that
 * are short-lived. One thread keeps some thousands in flight, at the same rate for all subjects, as
 * far as they sustain it.
 */
final class Pauses {
  private static final int IN_FLIGHT = 10_000;
  private static final int STARTS_PER_MILLI = 1000;
  private static final long DELAY_NANOS = SECONDS.toNanos(30);

  private Pauses() {}

  static Map<String, Double> measure(Subject subject, Parameters parameters)
      throws IOException, InterruptedException {
    Object[] handles = Figures.keep(parameters.count());
    Load.fill(handles, subject, parameters);
    Thread.sleep(Math.min(500, parameters.windowMillis()));
    System.gc();
    Path file = Files.createTempFile("timewheel-gc", ".log");
    try (GcLog log = new GcLog(file)) {
      long startNanos = System.nanoTime();
      long starts = churn(subject, startNanos, MILLISECONDS.toNanos(parameters.windowMillis()));
      long endNanos = System.nanoTime();

      List<Double> pauses = log.pausesMillis(startNanos, endNanos);
      Map<String, Double> metrics = new LinkedHashMap<>();
      metrics.put("pauseP99Millis", percentile99(pauses));
      metrics.put("pauseMaxMillis", pauses.stream().reduce(0.0, Math::max));
      metrics.put("pauseTotalMillis", pauses.stream().mapToDouble(pause -> pause).sum());
      metrics.put("pauses", (double) pauses.size());
      metrics.put("promotedBytes", (double) log.promotedBytes());
      metrics.put("opsPerSecond", starts * 1e9 / (endNanos - startNanos));
      return metrics;
    } finally {
      Files.delete(file);
    }
  }

  private static long churn(Subject subject, long startNanos, long windowNanos) {
    Object task = subject.task(() -> {});
    Object[] ring = new Object[IN_FLIGHT];
    long starts = 0;
    while (true) {
      long sinceNanos = System.nanoTime() - startNanos;
      if (sinceNanos >= windowNanos) {
        return starts;
      }
      if (starts >= sinceNanos / 1_000_000 * STARTS_PER_MILLI) {
        LockSupport.parkNanos(200_000);
        continue;
      }
      for (int i = 0; i < STARTS_PER_MILLI; i++) {
        int place = (int) (starts % IN_FLIGHT);
        if (ring[place] != null) {
          subject.cancel(ring[place]);
        }
        ring[place] = subject.start(task, DELAY_NANOS);
        starts++;
      }
    }
  }

  static double percentile99(List<Double> values) {
    if (values.isEmpty()) {
      return 0;
    }
    List<Double> sorted = values.stream().sorted().toList();
    return sorted.get((int) Math.ceil(sorted.size() * 0.99) - 1);
  }
}
