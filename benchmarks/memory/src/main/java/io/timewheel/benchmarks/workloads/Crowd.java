// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.timewheel.benchmarks.subjects.Subject;
import io.timewheel.benchmarks.subjects.SubjectKind;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.AtomicHistogram;
import org.HdrHistogram.Histogram;

/**
 * Many threads, more than processors, start and cancel timeouts without a pause. Measures their
 * total throughput, and the longest waiting times. Optionally, timeouts are started first, and
 * begin to fire when the measurement begins.
 */
public final class Crowd {
  /** If there are more threads than this, they are virtual. */
  private static final int MOST_PLATFORM_THREADS = 1000;

  private static final long DELAY_NANOS = SECONDS.toNanos(30);
  private static final long WARM_UP_MILLIS = 500;

  /**
   * The number of operations of which one is timed, because a clock reading takes as long as the
   * operation.
   */
  private static final int TIMED = 16;

  private final Subject subject;
  private final Object task;
  private final boolean virtual;
  private final LongAdder operations = new LongAdder();
  private final Histogram starts = histogram();
  private final Histogram cancels = histogram();

  /** 0: not started; 1: recording; 2: finished. */
  private volatile int phase;

  private Crowd(Subject subject, boolean virtual) {
    this.subject = subject;
    this.task = subject.task(() -> {});
    this.virtual = virtual;
  }

  /**
   * Returns whether a variant uses virtual threads.
   *
   * @param parameters of the variant
   * @return whether it needs a JVM that has them
   */
  public static boolean isVirtual(Parameters parameters) {
    return parameters.threads() > MOST_PLATFORM_THREADS;
  }

  private static Histogram histogram() {
    return new AtomicHistogram(Figures.histogram().getHighestTrackableValue(), 3);
  }

  static Map<String, Double> measure(SubjectKind kind, Subject subject, Parameters parameters)
      throws InterruptedException {
    return new Crowd(subject, isVirtual(parameters)).run(kind, parameters);
  }

  private Map<String, Double> run(SubjectKind kind, Parameters parameters)
      throws InterruptedException {
    long windowNanos = MILLISECONDS.toNanos(parameters.windowMillis());
    Object[] handles = Figures.keep(parameters.count());
    long firstNanos = System.nanoTime() + MILLISECONDS.toNanos(WARM_UP_MILLIS);
    if (handles.length > 0) {
      firstNanos += Expire.leadNanos(kind, parameters);
      SplittableRandom random = new SplittableRandom(42);
      for (int i = 0; i < handles.length; i++) {
        long deadlineNanos = firstNanos + random.nextLong(windowNanos);
        handles[i] = subject.start(task, deadlineNanos - System.nanoTime());
      }
      Expire.requireBefore(firstNanos);
    }
    BusyCpus busy = new BusyCpus(parameters.busyCpus());
    try {
      return measure(parameters.threads(), firstNanos, windowNanos);
    } finally {
      busy.close();
    }
  }

  private Map<String, Double> measure(int threads, long firstNanos, long windowNanos)
      throws InterruptedException {
    CountDownLatch ended = new CountDownLatch(threads);
    for (int i = 0; i < threads; i++) {
      start(() -> produce(ended));
    }
    Figures.sleepUntil(firstNanos);
    phase = 1;
    long beganNanos = System.nanoTime();
    Figures.sleepUntil(beganNanos + windowNanos);
    phase = 2;
    double seconds = (System.nanoTime() - beganNanos) / 1e9;
    ended.await();

    Map<String, Double> metrics = new LinkedHashMap<>();
    metrics.put("opsPerSecond", operations.sum() / seconds);
    metrics.putAll(Figures.percentiles("start", starts));
    metrics.putAll(Figures.percentiles("cancel", cancels));
    return metrics;
  }

  private void start(Runnable producer) {
    if (!virtual) {
      Thread thread = new Thread(producer, "producer");
      thread.setDaemon(true);
      thread.start();
      return;
    }
    try {
      VirtualThreads.START.invoke(producer);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // virtual threads: otherwise, others never run
  private void produce(CountDownLatch ended) {
    long done = 0;
    for (int i = 0; phase < 2; i++) {
      boolean recording = phase == 1;
      boolean timed = recording && i % TIMED == 0;
      long beforeNanos = timed ? System.nanoTime() : 0;
      Object handle = subject.start(task, DELAY_NANOS);
      if (timed) {
        Figures.record(starts, System.nanoTime() - beforeNanos);
      }
      if (virtual) {
        Thread.yield();
      }
      beforeNanos = timed ? System.nanoTime() : 0;
      subject.cancel(handle);
      if (timed) {
        Figures.record(cancels, System.nanoTime() - beforeNanos);
      }
      if (recording) {
        done++;
      }
      if (virtual) {
        Thread.yield();
      }
    }
    operations.add(done);
    ended.countDown();
  }

  /** Loaded only in a JVM with virtual threads. */
  private static final class VirtualThreads {
    static final MethodHandle START;

    static {
      try {
        START =
            MethodHandles.lookup()
                .findStatic(
                    Thread.class,
                    "startVirtualThread",
                    MethodType.methodType(Thread.class, Runnable.class));
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    private VirtualThreads() {}
  }
}
