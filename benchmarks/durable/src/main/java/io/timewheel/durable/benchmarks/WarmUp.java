// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;

/**
 * Ends the warm-up of a measurement when the JVM compiles little, because the compiler would
 * otherwise compete with the subject for two processors. A slow machine needs more time for that. A
 * warm-up takes at most five times its shortest duration.
 */
final class WarmUp {
  private static final int LONGEST = 5;

  /** The share of one processor below which the compiler does not distort a measurement. */
  private static final double QUIET = 0.1;

  private static final long STEP_MILLIS = 1_000;

  private final CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
  private final long shortestMillis;
  private long seenNanos = System.nanoTime();
  private long seenCompiledMillis = compiler.getTotalCompilationTime();

  WarmUp(long shortestMillis) {
    this.shortestMillis = shortestMillis;
  }

  /** {@return the time between two calls of {@link #isOver}} */
  long stepMillis() {
    return Math.min(STEP_MILLIS, shortestMillis);
  }

  /** Returns whether a warm-up that has taken this time is over. */
  boolean isOver(long tookMillis) {
    long nowNanos = System.nanoTime();
    long compiledMillis = compiler.getTotalCompilationTime();
    double share = 1e6 * (compiledMillis - seenCompiledMillis) / Math.max(1, nowNanos - seenNanos);
    seenNanos = nowNanos;
    seenCompiledMillis = compiledMillis;
    return tookMillis >= shortestMillis
        && (share < QUIET || tookMillis >= LONGEST * shortestMillis);
  }

  /** Waits for the end of a warm-up that has just begun. */
  void await() throws InterruptedException {
    long startNanos = System.nanoTime();
    while (!isOver(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos))) {
      TimeUnit.MILLISECONDS.sleep(stepMillis());
    }
  }
}
