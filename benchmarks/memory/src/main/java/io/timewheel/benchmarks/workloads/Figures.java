// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import java.util.LinkedHashMap;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** Measuring tools of the workloads. */
final class Figures {
  /**
   * The objects that a workload keeps. Not private, so that no compiler detects that it is never
   * read.
   */
  static volatile Object[] kept = {};

  private Figures() {}

  /** {@return an array for the handles of timeouts that stay reachable until the end} */
  static Object[] keep(int count) {
    Object[] handles = new Object[count];
    kept = handles;
    return handles;
  }

  /** {@return the bytes in use after a collection} */
  static long liveBytes() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  static void sleepUntil(long nanos) throws InterruptedException {
    for (long left; (left = nanos - System.nanoTime()) > 0; ) {
      Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
    }
  }

  /** Makes a histogram of values up to a minute, with three digits. */
  static Histogram histogram() {
    return new Histogram(60_000_000_000L, 3);
  }

  static void record(Histogram histogram, long nanos) {
    histogram.recordValue(Math.max(0, Math.min(nanos, histogram.getHighestTrackableValue())));
  }

  /** Returns percentiles by name: with a prefix as in startP50Micros, without as in p50Micros. */
  static Map<String, Double> percentiles(String prefix, Histogram histogram) {
    Map<String, Double> metrics = new LinkedHashMap<>();
    String p = prefix.isEmpty() ? "p" : prefix + "P";
    metrics.put(p + "50Micros", histogram.getValueAtPercentile(50) / 1e3);
    metrics.put(p + "99Micros", histogram.getValueAtPercentile(99) / 1e3);
    metrics.put(p + "999Micros", histogram.getValueAtPercentile(99.9) / 1e3);
    metrics.put(
        prefix.isEmpty() ? "maxMicros" : prefix + "MaxMicros", histogram.getMaxValue() / 1e3);
    return metrics;
  }
}
