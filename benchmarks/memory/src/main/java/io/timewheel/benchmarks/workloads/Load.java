// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import io.timewheel.benchmarks.subjects.Subject;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

/** Starts many timeouts with long delays, and measures their memory. */
final class Load {
  private Load() {}

  static Map<String, Double> measure(Subject subject, Parameters parameters)
      throws InterruptedException {
    Object[] handles = Figures.keep(parameters.count());
    long emptyBytes = Figures.liveBytes();
    CpuTime began = CpuTime.now();
    long startNanos = System.nanoTime();
    fill(handles, subject, parameters);
    long nanos = System.nanoTime() - startNanos;
    long cpuNanos = CpuTime.now().since(began);

    // Some subjects pass their timeouts to their thread through a queue, which must be empty by
    // then.
    long settlingMillis = 100L + handles.length / 10_000;
    Thread.sleep(settlingMillis);
    long bytes = Figures.liveBytes();
    Thread.sleep(settlingMillis);
    bytes = Math.min(bytes, Figures.liveBytes()) - emptyBytes;

    Map<String, Double> metrics = new LinkedHashMap<>();
    metrics.put("nanosPerStart", (double) nanos / handles.length);
    metrics.put("cpuNanosPerStart", (double) cpuNanos / handles.length);
    metrics.put("heapBytesPerPending", (double) bytes / handles.length);
    return metrics;
  }

  /** Fills the array with started timeouts, with the same random delays for all subjects. */
  static void fill(Object[] handles, Subject subject, Parameters parameters) {
    Object task = subject.task(() -> {});
    SplittableRandom random = new SplittableRandom(42);
    long range = parameters.maxDelayNanos() - parameters.minDelayNanos();
    for (int i = 0; i < handles.length; i++) {
      long share = (random.nextLong() >>> 1) % range;
      handles[i] = subject.start(task, parameters.minDelayNanos() + share);
    }
  }
}
