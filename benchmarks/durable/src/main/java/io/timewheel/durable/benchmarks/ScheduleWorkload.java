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
import org.jspecify.annotations.Nullable;

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
      AtomicReference<@Nullable Period> measured = new AtomicReference<>();
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
                    call(subject, batch, numbers, histogram, measured);
                  } catch (Exception e) {
                    failure.compareAndSet(null, e);
                  }
                });
        threads.add(thread);
      }
      threads.forEach(Thread::start);
      new WarmUp(parameters.get("warmupMillis")).await();
      CpuMeter meter = new CpuMeter(place);
      Period period = Period.fromNow(parameters.get("millis"));
      measured.set(period);
      TimeUnit.NANOSECONDS.sleep(period.endNanos - System.nanoTime());
      meter.stop();
      for (Thread thread : threads) {
        thread.join();
      }
      if (failure.get() != null) {
        throw new IllegalStateException("a call failed", failure.get());
      }
      Histogram all = new Histogram(LONGEST_NANOS, 3);
      histograms.forEach(all::add);
      double seconds = (period.endNanos - period.startNanos) / 1e9;
      Map<String, Double> figures = new HashMap<>();
      figures.put("perSecond", all.getTotalCount() * batch / seconds);
      figures.put("p50Millis", all.getValueAtPercentile(50) / 1e6);
      figures.put("p99Millis", all.getValueAtPercentile(99) / 1e6);
      meter.putMicros(figures, (double) all.getTotalCount() * batch);
      return figures;
    }
  }

  /** The measured time. */
  private record Period(long startNanos, long endNanos) {
    static Period fromNow(long millis) {
      long startNanos = System.nanoTime();
      return new Period(startNanos, startNanos + TimeUnit.MILLISECONDS.toNanos(millis));
    }
  }

  /** Makes calls until the end of the measured time, and counts those that end within it. */
  private static void call(
      Subject subject,
      int batch,
      AtomicLong numbers,
      Histogram histogram,
      AtomicReference<@Nullable Period> measured)
      throws Exception {
    long now;
    Period period;
    do {
      List<Subject.Order> orders = orders(batch, numbers);
      long before = System.nanoTime();
      subject.schedule(orders);
      now = System.nanoTime();
      period = measured.get();
      if (period != null && now - period.startNanos >= 0 && now - period.endNanos < 0) {
        histogram.recordValue(now - before);
      }
    } while (period == null || now - period.endNanos < 0);
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
