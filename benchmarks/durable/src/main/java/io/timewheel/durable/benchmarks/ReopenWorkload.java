// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Opens a directory in which {@link FillWorkload} stored {@code timers}. Measures the time to open,
 * and the time until a new timer that is due at once has fired. Also measures the heap, which must
 * be small, and the size on disk.
 */
final class ReopenWorkload implements Workload.Body {
  private static final String PROBE = "probe-0000000000";

  @Override
  public Map<String, Double> run(Subject.Opener opener, Place place, Parameters parameters)
      throws Exception {
    double diskBytes = place.bytes();
    CountDownLatch fired = new CountDownLatch(1);
    long heapBefore = Figures.heapBytes();
    long start = System.nanoTime();
    try (Subject subject = opener.open(id -> fired.countDown())) {
      double openMillis = (System.nanoTime() - start) / 1e6;
      subject.schedule(List.of(new Subject.Order(PROBE, System.currentTimeMillis())));
      if (!fired.await(parameters.get("limitMillis"), TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException("the first timer has not fired");
      }
      double firedMillis = (System.nanoTime() - start) / 1e6;
      double residentBytes = Figures.residentBytes();
      return Map.of(
          "openMillis", openMillis,
          "firedMillis", firedMillis,
          "heapMegabytes", (Figures.heapBytes() - heapBefore) / 1e6,
          "residentMegabytes", residentBytes / 1e6,
          "diskBytesPerTimer", diskBytes / parameters.get("timers"));
    }
  }
}
