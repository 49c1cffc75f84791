// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Measures occurrences per second. {@code timers} recur every {@code everyMillis}, evenly spread,
 * and their handler does nothing. Occurrences count for {@code millis} after {@code warmupMillis}.
 * Each is recorded before the next occurrence of its timer starts.
 */
final class RecurWorkload implements Workload.Body {
  private static final int BATCH = 1_000;

  @Override
  public Map<String, Double> run(Subject.Opener opener, Place place, Parameters parameters)
      throws Exception {
    int timers = parameters.getInt("timers");
    long everyMillis = parameters.get("everyMillis");
    LongAdder fired = new LongAdder();
    try (Subject subject = opener.open(id -> fired.increment())) {
      long firstMillis = System.currentTimeMillis() + parameters.get("leadMillis");
      for (int from = 0; from < timers; from += BATCH) {
        List<Subject.Order> orders = new ArrayList<>();
        for (int i = from; i < Math.min(timers, from + BATCH); i++) {
          orders.add(Subject.Order.of(i, firstMillis + i * everyMillis / timers));
        }
        subject.recur(orders, Duration.ofMillis(everyMillis));
      }
      TimeUnit.MILLISECONDS.sleep(firstMillis - System.currentTimeMillis());
      new WarmUp(parameters.get("warmupMillis")).await();
      CpuMeter meter = new CpuMeter(place);
      long before = fired.sum();
      long startNanos = System.nanoTime();
      TimeUnit.MILLISECONDS.sleep(parameters.get("millis"));
      double count = fired.sum() - before;
      Map<String, Double> figures = new HashMap<>();
      figures.put("perSecond", count / ((System.nanoTime() - startNanos) / 1e9));
      figures.put("offeredPerSecond", 1_000.0 * timers / everyMillis);
      meter.stop().putMicros(figures, count);
      return figures;
    }
  }
}
