// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * {@code perSecond} timers a second are due at random times for {@code millis}, after a warm-up of
 * {@code warmupMillis}. All are scheduled first, within {@code leadMillis}. The figure is the time
 * from the due time to the first line of the handler. A timer that has not fired {@code
 * limitMillis} after the last due time counts with that lag, although its lag is longer.
 */
final class LagWorkload implements Workload.Body {
  private static final int BATCH = 1_000;
  private static final long LONGEST_MICROS = 3_600_000_000L;

  @Override
  public Map<String, Double> run(Subject.Opener opener, Place place, Parameters parameters)
      throws Exception {
    long perSecond = parameters.get("perSecond");
    long warmupMillis = parameters.get("warmupMillis");
    int timers = Math.toIntExact(perSecond * (warmupMillis + parameters.get("millis")) / 1_000);
    int warmup = Math.toIntExact(perSecond * warmupMillis / 1_000);
    long[] dueMillis = new long[timers];
    Histogram lagMicros = new ConcurrentHistogram(LONGEST_MICROS, 3);
    AtomicInteger early = new AtomicInteger();
    AtomicInteger fired = new AtomicInteger();
    Subject.OnFire onFire =
        id -> {
          int number = Integer.parseInt(id, id.indexOf('-') + 1, id.length(), 10);
          long micros = micros() - 1_000 * dueMillis[number];
          if (micros < 0) {
            early.incrementAndGet();
          }
          if (number >= warmup) {
            lagMicros.recordValue(Math.min(LONGEST_MICROS, Math.max(0, micros)));
          }
          fired.incrementAndGet();
        };
    try (Subject subject = opener.open(onFire)) {
      scheduleAll(subject, dueMillis, perSecond, parameters.get("leadMillis"));
      sleepUntil(dueMillis[warmup]);
      CpuMeter meter = new CpuMeter(place);
      sleepUntil(dueMillis[timers - 1]);
      meter.stop();
      long limitMillis = dueMillis[timers - 1] + parameters.get("limitMillis");
      while (fired.get() < timers && System.currentTimeMillis() < limitMillis) {
        Thread.sleep(10);
      }
      int missing = timers - fired.get();
      long leastMicros = micros() - 1_000 * dueMillis[timers - 1];
      if (missing > 0) {
        lagMicros.recordValueWithCount(leastMicros, missing);
      }
      Map<String, Double> figures = new HashMap<>();
      figures.put("p50Millis", lagMicros.getValueAtPercentile(50) / 1e3);
      figures.put("p99Millis", lagMicros.getValueAtPercentile(99) / 1e3);
      figures.put("maxMillis", lagMicros.getMaxValue() / 1e3);
      figures.put("early", (double) early.get());
      figures.put("unfired", (double) missing);
      meter.putCores(figures);
      return figures;
    }
  }

  private static void sleepUntil(long millis) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(millis - System.currentTimeMillis());
  }

  private static long micros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
  }

  /**
   * Schedules timers at random times within the span of each batch, so the times grow from batch to
   * batch.
   */
  private static void scheduleAll(
      Subject subject, long[] dueMillis, long perSecond, long leadMillis) throws Exception {
    long firstMillis = System.currentTimeMillis() + leadMillis;
    SplittableRandom random = new SplittableRandom(42);
    for (int from = 0; from < dueMillis.length; from += BATCH) {
      int to = Math.min(dueMillis.length, from + BATCH);
      long[] times =
          random
              .longs(
                  to - from,
                  firstMillis + 1_000L * from / perSecond,
                  firstMillis + 1_000L * to / perSecond + 1)
              .sorted()
              .toArray();
      System.arraycopy(times, 0, dueMillis, from, times.length);
      List<Subject.Order> orders = new ArrayList<>();
      for (int i = from; i < to; i++) {
        orders.add(Subject.Order.of(i, dueMillis[i]));
      }
      subject.schedule(orders);
    }
    if (System.currentTimeMillis() > firstMillis) {
      throw new IllegalStateException("took more than " + leadMillis + " ms to schedule");
    }
  }
}
