// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * {@code timers} are due at one moment, after {@code leadMillis} in which they are scheduled, and
 * their handler does nothing: how many fire in a second, from that moment to the last? As many have
 * fired before, for the compiler.
 */
final class FireWorkload implements Workload.Body {
  private static final int BATCH = 1_000;

  @Override
  public Map<String, Double> run(Subject.Opener opener, Path directory, Parameters parameters)
      throws Exception {
    int timers = parameters.getInt("timers");
    long leadMillis = parameters.get("leadMillis");
    long limitMillis = parameters.get("limitMillis");
    AtomicLong fired = new AtomicLong();
    try (Subject subject = opener.open(directory, id -> fired.incrementAndGet())) {
      wave(subject, fired, 0, timers, leadMillis, limitMillis);
      return wave(subject, fired, timers, timers, leadMillis, limitMillis);
    }
  }

  private static Map<String, Double> wave(
      Subject subject, AtomicLong fired, int first, int timers, long leadMillis, long limitMillis)
      throws Exception {
    long dueMillis = System.currentTimeMillis() + leadMillis;
    int end = first + timers;
    for (int from = first; from < end; from += BATCH) {
      List<Subject.Order> orders = new ArrayList<>();
      for (int i = from; i < Math.min(end, from + BATCH); i++) {
        orders.add(Subject.Order.of(i, dueMillis));
      }
      subject.schedule(orders);
    }
    if (System.currentTimeMillis() >= dueMillis) {
      throw new IllegalStateException("took more than " + leadMillis + " ms to schedule");
    }
    Thread.sleep(dueMillis - System.currentTimeMillis());
    long cpuBefore = Figures.cpuNanos();
    while (fired.get() < end) {
      if (System.currentTimeMillis() > dueMillis + limitMillis) {
        throw new IllegalStateException(end - fired.get() + " timers have not fired");
      }
      Thread.sleep(1);
    }
    double millis = System.currentTimeMillis() - dueMillis;
    double cpuMicros = (Figures.cpuNanos() - cpuBefore) / 1e3;
    return Map.of("perSecond", 1_000 * timers / millis, "cpuMicros", cpuMicros / timers);
  }
}
