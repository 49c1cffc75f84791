// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures how many timers fire per second. {@code timers} are due at one moment, and their handler
 * does nothing. The time ends when the last completion is recorded. A warm-up with the same number
 * runs first, so that the JVM has compiled the code. Its first timers are due after {@code
 * leadMillis}. The warm-up is repeated (see {@link WarmUp}). The figures are those of the median of
 * several {@code bursts}, because the JVM may compile again during one.
 */
final class FireWorkload implements Workload.Body {
  private static final int BATCH = 1_000;

  /** Timers that are claimed ahead of their time count too. */
  private static final long AHEAD_MILLIS = 200;

  @Override
  public Map<String, Double> run(Subject.Opener opener, Place place, Parameters parameters)
      throws Exception {
    int timers = parameters.getInt("timers");
    long leadMillis = parameters.get("leadMillis");
    AtomicLong fired = new AtomicLong();
    try (Subject subject = opener.open(id -> fired.incrementAndGet())) {
      long startMillis = System.currentTimeMillis();
      long dueMillis = startMillis + leadMillis;
      schedule(subject, 0, timers, dueMillis);
      long tookMillis = System.currentTimeMillis() - startMillis;
      await(subject, place, fired, timers, dueMillis, parameters);
      long warmMillis = System.currentTimeMillis() - dueMillis;
      WarmUp warmUp = new WarmUp(parameters.get("warmupMillis", 0));
      boolean warm = warmUp.isOver(warmMillis);
      List<Map<String, Double>> bursts = new ArrayList<>();
      for (int end = 2 * timers; bursts.size() < parameters.get("bursts", 1); end += timers) {
        dueMillis = System.currentTimeMillis() + 2_000 + 2 * tookMillis;
        schedule(subject, end - timers, end, dueMillis);
        if (System.currentTimeMillis() > dueMillis - AHEAD_MILLIS) {
          throw new IllegalStateException("due before all were scheduled");
        }
        Map<String, Double> figures = await(subject, place, fired, end, dueMillis, parameters);
        if (warm) {
          bursts.add(figures);
        }
        warmMillis += System.currentTimeMillis() - dueMillis;
        warm = warm || warmUp.isOver(warmMillis);
      }
      bursts.sort(Comparator.comparing(figures -> figures.get("perSecond")));
      return bursts.get(bursts.size() / 2);
    }
  }

  private static void schedule(Subject subject, int first, int end, long dueMillis)
      throws Exception {
    for (int from = first; from < end; from += BATCH) {
      List<Subject.Order> orders = new ArrayList<>();
      for (int i = from; i < Math.min(end, from + BATCH); i++) {
        orders.add(Subject.Order.of(i, dueMillis));
      }
      subject.schedule(orders);
    }
  }

  private static Map<String, Double> await(
      Subject subject,
      Place place,
      AtomicLong fired,
      int end,
      long dueMillis,
      Parameters parameters)
      throws Exception {
    TimeUnit.MILLISECONDS.sleep(dueMillis - AHEAD_MILLIS - System.currentTimeMillis());
    CpuMeter meter = new CpuMeter(place);
    int timers = parameters.getInt("timers");
    long limit = dueMillis + parameters.get("limitMillis");
    while (fired.get() < end) {
      sleep(1, limit, end - fired.get());
    }
    double handledMillis = System.currentTimeMillis() - dueMillis;
    for (long left = subject.unfinished(); left > 0; left = subject.unfinished()) {
      sleep(10, limit, left);
    }
    double millis = System.currentTimeMillis() - dueMillis;
    Map<String, Double> figures = new HashMap<>();
    figures.put("perSecond", 1_000 * timers / millis);
    figures.put("handledPerSecond", 1_000 * timers / handledMillis);
    meter.stop().putMicros(figures, timers);
    return figures;
  }

  private static void sleep(long millis, long limit, long left) throws InterruptedException {
    if (System.currentTimeMillis() > limit) {
      throw new IllegalStateException(left + " timers have not fired");
    }
    Thread.sleep(millis);
  }
}
