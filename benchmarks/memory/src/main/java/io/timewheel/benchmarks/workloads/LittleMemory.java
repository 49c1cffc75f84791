// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.timewheel.benchmarks.subjects.Subject;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Fills the heap for half of the measured time. Checks whether all timeouts run that were accepted
 * before and during that time, and how late they are. Also checks whether the timer still works
 * when there is memory again.
 */
final class LittleMemory {
  private static final long BEAT_NANOS = MILLISECONDS.toNanos(2);
  private static final long TIMEOUT_NANOS = SECONDS.toNanos(5);

  private final Subject subject;
  private final AtomicInteger ran = new AtomicInteger();
  private int accepted;
  private int refused;

  private LittleMemory(Subject subject) {
    this.subject = subject;
  }

  static Map<String, Double> measure(Subject subject, Parameters parameters)
      throws InterruptedException {
    return new LittleMemory(subject).run(parameters);
  }

  private Map<String, Double> run(Parameters parameters) throws InterruptedException {
    long windowNanos = MILLISECONDS.toNanos(parameters.windowMillis());
    long[] lateNanos = new long[parameters.count()];
    Arrays.fill(lateNanos, Long.MAX_VALUE); // for those that never run
    Object[] handles = Figures.keep(parameters.count());
    long firstNanos = System.nanoTime() + MILLISECONDS.toNanos(200) + handles.length * 5_000L;
    for (int i = 0; i < handles.length; i++) {
      int index = i;
      long dueNanos = firstNanos + windowNanos / handles.length * i;
      Object task =
          subject.task(
              () -> {
                lateNanos[index] = System.nanoTime() - dueNanos;
                ran.incrementAndGet();
              });
      handles[i] = subject.start(task, dueNanos - System.nanoTime());
    }
    accepted = handles.length;

    Object beat = subject.task(ran::incrementAndGet);
    Ballast ballast = new Ballast();
    Figures.sleepUntil(firstNanos + windowNanos / 4);
    ballast.fill();
    while (System.nanoTime() - firstNanos < windowNanos * 3 / 4) {
      beat(beat);
      LockSupport.parkNanos(BEAT_NANOS);
    }
    ballast.drop();
    Figures.sleepUntil(firstNanos + windowNanos);
    awaitAll();
    int lost = accepted - ran.get();

    Histogram late = Figures.histogram();
    for (long nanos : lateNanos) {
      Figures.record(late, nanos);
    }
    Map<String, Double> metrics = new LinkedHashMap<>(Figures.percentiles("", late));
    metrics.put("refused", (double) refused);
    metrics.put("lost", (double) lost);
    metrics.put("afterwards", worksAfterwards() ? 1.0 : 0.0);
    return metrics;
  }

  /**
   * Starts timeouts at regular intervals. A start may fail for lack of memory; an accepted timeout
   * must not.
   */
  private void beat(Object task) {
    try {
      subject.start(task, BEAT_NANOS);
      accepted++;
    } catch (RuntimeException | OutOfMemoryError e) {
      refused++;
    }
  }

  private boolean worksAfterwards() {
    AtomicBoolean ranNow = new AtomicBoolean();
    beat(subject.task(() -> ranNow.set(true)));
    long sinceNanos = System.nanoTime();
    while (!ranNow.get() && System.nanoTime() - sinceNanos < TIMEOUT_NANOS) {
      LockSupport.parkNanos(BEAT_NANOS);
    }
    return ranNow.get();
  }

  /** Waits until all accepted timeouts have run, or none has for a while. */
  private void awaitAll() {
    int seen = ran.get();
    long sinceNanos = System.nanoTime();
    while (seen < accepted && System.nanoTime() - sinceNanos < TIMEOUT_NANOS) {
      LockSupport.parkNanos(BEAT_NANOS);
      int now = ran.get();
      if (now != seen) {
        seen = now;
        sinceNanos = System.nanoTime();
      }
    }
  }

  /** Fills the rest of the heap, with pieces that get smaller as it fills. */
  private static final class Ballast {
    private static final int LARGEST_BYTES = 1 << 18;

    private Object @Nullable [] pieces;

    void fill() {
      for (int bytes = LARGEST_BYTES; bytes > 0; bytes >>= 6) {
        try {
          while (true) {
            pieces = new Object[] {new byte[bytes], pieces};
          }
        } catch (OutOfMemoryError e) {
          // Smaller ones may still fit.
        }
      }
    }

    void drop() {
      pieces = null;
    }
  }
}
