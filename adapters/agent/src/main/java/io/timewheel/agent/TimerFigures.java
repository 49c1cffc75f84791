// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Collections;
import java.util.Locale;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The figures of all timers of one class. */
final class TimerFigures {
  private final String className;
  private final boolean measuresCpu;
  private final LagHistogram lag = new LagHistogram();
  private final AtomicLong made = new AtomicLong();
  private final AtomicLong stoppedCpuNanos = new AtomicLong();
  private final Set<WheelEngine> engines =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  TimerFigures(String className, boolean measuresCpu) {
    this.className = className;
    this.measuresCpu = measuresCpu;
  }

  void add(WheelEngine engine) {
    engines.add(engine);
  }

  /** Returns the name of the next timer, for logs and Flight Recorder. */
  String nextName() {
    return className + "-" + made.incrementAndGet();
  }

  void late(long nanos) {
    lag.add(nanos);
  }

  /** Adds the CPU time of a timer thread that is about to end. */
  void stopped(WheelEngine engine, @Nullable Thread thread) {
    if (measuresCpu) {
      stoppedCpuNanos.addAndGet(cpuNanos(thread));
    }
  }

  private static long cpuNanos(@Nullable Thread thread) {
    if (thread == null) {
      return 0;
    }
    try {
      ThreadMXBean threads = ManagementFactory.getThreadMXBean();
      return Math.max(0, threads.getThreadCpuTime(thread.getId()));
    } catch (LinkageError | UnsupportedOperationException e) {
      return 0; // no module java.management
    }
  }

  private WheelEngine[] engines() {
    return engines.toArray(new WheelEngine[0]);
  }

  long pending() {
    long pending = 0;
    for (WheelEngine engine : engines()) {
      pending += engine.pending();
    }
    return pending;
  }

  long cpuNanos() {
    long sum = stoppedCpuNanos.get();
    for (WheelEngine engine : engines()) {
      if (!engine.isStopped()) {
        sum += cpuNanos(engine.thread());
      }
    }
    return sum;
  }

  LagHistogram lag() {
    return lag;
  }

  /** Returns a line of the report. */
  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%s: %d timer(s), %d pending, %d expired, late p50 %s p99 %s p99.9 %s max %s, timer threads"
            + " %.0f ms CPU",
        className,
        made.get(),
        pending(),
        lag.count(),
        millis(lag.percentileNanos(0.5)),
        millis(lag.percentileNanos(0.99)),
        millis(lag.percentileNanos(0.999)),
        millis(lag.maxNanos()),
        cpuNanos() / 1e6);
  }

  private static String millis(long nanos) {
    return String.format(Locale.ROOT, "%.1f ms", nanos / 1e6);
  }
}
