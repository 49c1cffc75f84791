// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.timewheel.benchmarks.subjects.Subject;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures the delay caused by millions of timeouts in one slot of an upper level that come due.
 * Several threads keep starting timeouts of 2 ms, and the workload measures how late these are. One
 * of the threads has started the millions, so its timeouts are in the same stripe.
 */
final class BigSlot {
  private static final long BEAT_NANOS = MILLISECONDS.toNanos(2);

  private final Subject subject;
  private volatile boolean ended;

  private BigSlot(Subject subject) {
    this.subject = subject;
  }

  static Map<String, Double> measure(Subject subject, Parameters parameters)
      throws InterruptedException {
    return new BigSlot(subject).run(parameters);
  }

  private Map<String, Double> run(Parameters parameters) throws InterruptedException {
    long madeNanos = System.nanoTime();
    long slotNanos = madeNanos + parameters.minDelayNanos();
    long halfNanos = MILLISECONDS.toNanos(parameters.windowMillis()) / 2;
    Object[] handles = Figures.keep(parameters.count());
    Object nothing = subject.task(() -> {});
    SplittableRandom random = new SplittableRandom(42);
    for (int i = 0; i < handles.length; i++) {
      long dueNanos =
          madeNanos + random.nextLong(parameters.minDelayNanos(), parameters.maxDelayNanos());
      handles[i] = subject.start(nothing, dueNanos - System.nanoTime());
    }
    Expire.requireBefore(slotNanos - halfNanos);

    AtomicLong others = new AtomicLong();
    Thread[] threads = new Thread[parameters.threads() - 1];
    NANOSECONDS.sleep(slotNanos - halfNanos - System.nanoTime());
    CpuTime began = CpuTime.now();
    for (int i = 0; i < threads.length; i++) {
      threads[i] = new Thread(() -> beat(others), "beat");
      threads[i].start();
    }
    AtomicLong own = new AtomicLong();
    while (System.nanoTime() - slotNanos < halfNanos) {
      beatOnce(own);
    }
    ended = true;
    for (Thread thread : threads) {
      thread.join();
    }

    Map<String, Double> metrics = new LinkedHashMap<>();
    metrics.put("sameStripeMaxMillis", own.get() / 1e6);
    metrics.put("otherThreadsMaxMillis", others.get() / 1e6);
    metrics.put("cpuMillis", CpuTime.now().since(began) / 1e6);
    return metrics;
  }

  private void beat(AtomicLong latest) {
    while (!ended) {
      beatOnce(latest);
    }
  }

  private void beatOnce(AtomicLong latest) {
    long dueNanos = System.nanoTime() + BEAT_NANOS;
    Object task =
        subject.task(() -> latest.accumulateAndGet(System.nanoTime() - dueNanos, Math::max));
    subject.start(task, BEAT_NANOS);
    LockSupport.parkNanos(BEAT_NANOS);
  }
}
