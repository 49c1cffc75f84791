// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.timewheel.benchmarks.subjects.Subject;
import io.timewheel.benchmarks.subjects.SubjectKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/**
 * Measures how long one start and one cancel take while many other timeouts expire. It shows
 * whether a thread must wait for the timer thread.
 */
final class StartLatency {
  private static final long DELAY_NANOS = SECONDS.toNanos(30);
  private static final long TIMEOUT_SECONDS = 60;

  /** 0: not started; 1: recording; 2: finished. */
  private volatile int phase;

  private StartLatency() {}

  static Map<String, Double> measure(SubjectKind kind, Subject subject, Parameters parameters)
      throws InterruptedException {
    return new StartLatency().run(kind, subject, parameters);
  }

  private Map<String, Double> run(SubjectKind kind, Subject subject, Parameters parameters)
      throws InterruptedException {
    Expiries expiries = new Expiries(parameters.count());
    Object[] handles = Figures.keep(parameters.count());
    long windowNanos = MILLISECONDS.toNanos(parameters.windowMillis());
    long firstNanos = System.nanoTime() + Expire.leadNanos(kind, parameters);
    Object task = subject.task(expiries.new Body(firstNanos));
    SplittableRandom random = new SplittableRandom(42);
    for (int i = 0; i < handles.length; i++) {
      long deadlineNanos = firstNanos + random.nextLong(windowNanos);
      handles[i] = subject.start(task, deadlineNanos - System.nanoTime());
    }

    Expire.requireBefore(firstNanos);

    List<Producer> producers = new ArrayList<>();
    for (int i = 0; i < parameters.threads(); i++) {
      Producer producer = new Producer(subject);
      producer.start();
      producers.add(producer);
    }
    expiries.await(subject, false, firstNanos);
    phase = 1;
    expiries.await(subject, false, firstNanos + windowNanos + SECONDS.toNanos(TIMEOUT_SECONDS));
    phase = 2;
    Histogram starts = Figures.histogram();
    Histogram cancels = Figures.histogram();
    for (Producer producer : producers) {
      producer.join();
      starts.add(producer.starts);
      cancels.add(producer.cancels);
    }
    expiries.requireAllIn();

    Map<String, Double> metrics = new LinkedHashMap<>(Figures.percentiles("start", starts));
    metrics.putAll(Figures.percentiles("cancel", cancels));
    metrics.put("starts", (double) starts.getTotalCount());
    return metrics;
  }

  private final class Producer extends Thread {
    private final Subject subject;
    private final Histogram starts = Figures.histogram();
    private final Histogram cancels = Figures.histogram();

    Producer(Subject subject) {
      super("producer");
      this.subject = subject;
      setDaemon(true);
    }

    @Override
    public void run() {
      Object task = subject.task(() -> {});
      while (phase < 2) {
        boolean recording = phase == 1;
        long beforeNanos = System.nanoTime();
        Object handle = subject.start(task, DELAY_NANOS);
        long startedNanos = System.nanoTime();
        subject.cancel(handle);
        long cancelledNanos = System.nanoTime();
        if (recording) {
          Figures.record(starts, startedNanos - beforeNanos);
          Figures.record(cancels, cancelledNanos - startedNanos);
        }
      }
    }
  }
}
