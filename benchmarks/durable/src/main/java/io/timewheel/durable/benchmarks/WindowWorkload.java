// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Measures the heap of waiting timers: {@code timers} are due within a minute, {@code inMillis}
 * from now, or far in the future.
 */
final class WindowWorkload implements Workload.Body {
  private static final int BATCH = 1_000;

  @Override
  public Map<String, Double> run(Subject.Opener opener, Place place, Parameters parameters)
      throws Exception {
    int timers = parameters.getInt("timers");
    try (Subject subject = opener.open(id -> {})) {
      // Objects that are created once, for the first timers, do not count.
      schedule(subject, 0, BATCH, parameters.get("inMillis"));
      long before = Figures.heapBytes();
      schedule(subject, BATCH, BATCH + timers, parameters.get("inMillis"));
      return Map.of("heapBytesPerTimer", (Figures.heapBytes() - before) / (double) timers);
    }
  }

  private static void schedule(Subject subject, int from, int to, long inMillis) throws Exception {
    for (int i = from; i < to; i += BATCH) {
      List<Subject.Order> orders = new ArrayList<>();
      for (int j = i; j < Math.min(to, i + BATCH); j++) {
        orders.add(Subject.Order.of(j, System.currentTimeMillis() + inMillis));
      }
      subject.schedule(orders);
    }
  }
}
