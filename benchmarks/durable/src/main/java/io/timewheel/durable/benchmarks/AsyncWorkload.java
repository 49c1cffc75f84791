// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One thread schedules timers for the next month. It waits for room, but not for commits. The
 * warm-up lasts {@code warmupMillis}. Then commits are counted for {@code millis}.
 */
final class AsyncWorkload implements Workload.Body {
  @Override
  public Map<String, Double> run(Subject.Opener opener, Place place, Parameters parameters)
      throws Exception {
    AtomicLong numbers = new AtomicLong();
    AtomicLong acknowledged = new AtomicLong();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    try (Subject subject = opener.open(id -> {})) {
      WarmUp warmUp = new WarmUp(parameters.get("warmupMillis"));
      for (long millis = 0; !warmUp.isOver(millis); millis += warmUp.stepMillis()) {
        call(subject, numbers, acknowledged, failure, warmUp.stepMillis());
      }
      CpuMeter meter = new CpuMeter(place);
      long before = acknowledged.get();
      long startNanos = System.nanoTime();
      call(subject, numbers, acknowledged, failure, parameters.get("millis"));
      double count = acknowledged.get() - before;
      double seconds = (System.nanoTime() - startNanos) / 1e9;
      Map<String, Double> figures = new HashMap<>();
      figures.put("perSecond", count / seconds);
      meter.stop().putMicros(figures, count);
      if (failure.get() != null) {
        throw new IllegalStateException("a call failed", failure.get());
      }
      return figures;
    }
  }

  private static void call(
      Subject subject,
      AtomicLong numbers,
      AtomicLong acknowledged,
      AtomicReference<Throwable> failure,
      long millis) {
    long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (System.nanoTime() - endNanos < 0) {
      subject
          .scheduleAsync(ScheduleWorkload.orders(1, numbers).get(0))
          .whenComplete(
              (result, error) -> {
                acknowledged.incrementAndGet();
                if (error != null) {
                  failure.compareAndSet(null, error);
                }
              });
    }
  }
}
