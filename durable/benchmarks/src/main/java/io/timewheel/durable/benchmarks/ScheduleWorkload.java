// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;

/**
 * {@code callers} threads schedule timers for the next month in batches of {@code batch}. Each
 * waits for its commit before the next batch. The warm-up lasts {@code warmupMillis}, the
 * measurement {@code millis}.
 */
final class ScheduleWorkload implements Workload.Body {
  private static final long HOUR_MILLIS = TimeUnit.HOURS.toMillis(1);
  private static final long MONTH_MILLIS = TimeUnit.DAYS.toMillis(30);
  private static final long LONGEST_NANOS = TimeUnit.HOURS.toNanos(1);

  @Override
  public Map<String, Double> run(Subject.Opener opener, Place place, Parameters parameters)
      throws Exception {
    try (Subject subject = opener.open(id -> {})) {
      int batch = parameters.getInt("batch");
      AtomicLong numbers = new AtomicLong();
      long start =
          System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(parameters.get("warmupMillis"));
      long end = start + TimeUnit.MILLISECONDS.toNanos(parameters.get("millis"));
      List<Histogram> histograms = new ArrayList<>();
      List<Thread> threads = new ArrayList<>();
      AtomicReference<Throwable> failure = new AtomicReference<>();
      for (int i = 0; i < parameters.getInt("callers"); i++) {
        Histogram histogram = new Histogram(LONGEST_NANOS, 3);
        histograms.add(histogram);
        Thread thread =
            new Thread(
                () -> {
                  try {
                    call(subject, batch, numbers, histogram, start, end);
                  } catch (Exception e) {
                    failure.compareAndSet(null, e);
                  }
                });
        threads.add(thread);
      }
      threads.forEach(Thread::start);
      TimeUnit.NANOSECONDS.sleep(start - System.nanoTime());
      CpuMeter meter = new CpuMeter(place);
      TimeUnit.NANOSECONDS.sleep(end - System.nanoTime());
      meter.stop();
      for (Thread thread : threads) {
        thread.join();
      }
      if (failure.get() != null) {
        throw new IllegalStateException("a call failed", failure.get());
      }
      Histogram all = new Histogram(LONGEST_NANOS, 3);
      histograms.forEach(all::add);
      double seconds = (end - start) / 1e9;
      Map<String, Double> figures = new HashMap<>();
      figures.put("perSecond", all.getTotalCount() * batch / seconds);
      figures.put("p50Millis", all.getValueAtPercentile(50) / 1e6);
      figures.put("p99Millis", all.getValueAtPercentile(99) / 1e6);
      meter.putMicros(figures, (double) all.getTotalCount() * batch);
      return figures;
    }
  }

  /** Makes at least one call, and counts those that end within the measured time. */
  private static void call(
      Subject subject, int batch, AtomicLong numbers, Histogram histogram, long start, long end)
      throws Exception {
    long now;
    do {
      List<Subject.Order> orders = orders(batch, numbers);
      long before = System.nanoTime();
      subject.schedule(orders);
      now = System.nanoTime();
      if (now - start >= 0 && now - end < 0) {
        histogram.recordValue(now - before);
      }
    } while (now - end < 0);
  }

  /** Returns orders for the next month. */
  static List<Subject.Order> orders(int count, AtomicLong numbers) {
    long nowMillis = System.currentTimeMillis();
    ThreadLocalRandom random = ThreadLocalRandom.current();
    List<Subject.Order> orders = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      long dueMillis = nowMillis + random.nextLong(HOUR_MILLIS, MONTH_MILLIS);
      orders.add(Subject.Order.of(numbers.getAndIncrement(), dueMillis));
    }
    return orders;
  }
}
