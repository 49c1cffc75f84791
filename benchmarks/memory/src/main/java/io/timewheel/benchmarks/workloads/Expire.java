// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.timewheel.benchmarks.subjects.Subject;
import io.timewheel.benchmarks.subjects.SubjectKind;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

/** Many timeouts become due within one window, after all of them were started. */
final class Expire {
  /**
   * The number of different deadlines, and of tasks: timeouts with the same deadline share the
   * task.
   */
  private static final int DEADLINES = 1 << 16;

  private static final long TIMEOUT_SECONDS = 120;

  private Expire() {}

  static Map<String, Double> measure(SubjectKind kind, Subject subject, Parameters parameters)
      throws InterruptedException {
    Expiries expiries = new Expiries(parameters.count());
    Object[] handles = Figures.keep(parameters.count());
    long windowNanos = MILLISECONDS.toNanos(parameters.windowMillis());
    CpuTime began = CpuTime.now();
    long firstNanos = System.nanoTime() + leadNanos(kind, parameters);
    start(handles, subject, expiries, firstNanos, windowNanos);
    // Otherwise, chance decides whether the collection of the garbage from starting happens now.
    System.gc();
    requireBefore(firstNanos);

    expiries.await(subject, kind.isPolled(), firstNanos - MILLISECONDS.toNanos(5));
    CpuTime expiring = CpuTime.now();
    expiries.await(
        subject, kind.isPolled(), firstNanos + windowNanos + SECONDS.toNanos(TIMEOUT_SECONDS));
    CpuTime ended = CpuTime.now();
    expiries.requireAllIn();

    Map<String, Double> metrics = new LinkedHashMap<>();
    metrics.put("overrunMillis", (expiries.lastNanos() - firstNanos - windowNanos) / 1e6);
    metrics.put("cpuNanosPerExpiry", (double) ended.since(expiring) / handles.length);
    metrics.put("cpuNanosPerTimeout", (double) ended.since(began) / handles.length);
    metrics.put("early", expiries.early());
    return metrics;
  }

  private static void start(
      Object[] handles, Subject subject, Expiries expiries, long firstNanos, long windowNanos) {
    long[] deadlines = new long[DEADLINES];
    Object[] tasks = new Object[DEADLINES];
    for (int i = 0; i < DEADLINES; i++) {
      deadlines[i] = firstNanos + i * windowNanos / DEADLINES;
      tasks[i] = subject.task(expiries.new Body(deadlines[i]));
    }
    SplittableRandom random = new SplittableRandom(42);
    for (int i = 0; i < handles.length; i++) {
      int chosen = random.nextInt(DEADLINES);
      handles[i] = subject.start(tasks[chosen], deadlines[chosen] - System.nanoTime());
    }
  }

  /**
   * Returns the time to start all timeouts, even if the machine stalls for a moment. Slow subjects
   * get more.
   */
  static long leadNanos(SubjectKind kind, Parameters parameters) {
    long eachNanos =
        switch (kind) {
          case AGRONA -> 6_000; // searches for a free place among all timeouts of the same tick
          case KAFKA -> 4_000; // no thread can start any while it moves others to a finer wheel
          default -> 2_000;
        };
    return SECONDS.toNanos(1) + parameters.count() * eachNanos;
  }

  static void requireBefore(long firstNanos) {
    if (System.nanoTime() - firstNanos > 0) {
      throw new IllegalStateException("the first was due before the last was started");
    }
  }
}
