// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/** Stores {@code timers} that are due within the next month, for {@link ReopenWorkload}. */
final class FillWorkload implements Workload.Body {
  private static final int BATCH = 1_000;
  private static final int CALLERS = 4;

  @Override
  public Map<String, Double> run(Subject.Opener opener, Place place, Parameters parameters)
      throws Exception {
    long timers = parameters.get("timers");
    long start = System.nanoTime();
    AtomicLong numbers = new AtomicLong();
    ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
    try (Subject subject = opener.open(id -> {})) {
      AtomicLong left = new AtomicLong(timers);
      List<Future<?>> ends =
          IntStream.range(0, CALLERS)
              .<Future<?>>mapToObj(
                  i ->
                      callers.submit(
                          () -> {
                            for (long n = left.getAndAdd(-BATCH);
                                n > 0;
                                n = left.getAndAdd(-BATCH)) {
                              int count = (int) Math.min(BATCH, n);
                              subject.schedule(ScheduleWorkload.orders(count, numbers));
                            }
                            return null;
                          }))
              .toList();
      for (Future<?> end : ends) {
        end.get();
      }
    } finally {
      callers.shutdownNow();
    }
    return Map.of(
        "perSecond", timers / ((System.nanoTime() - start) / 1e9),
        "bytesPerTimer", place.bytes() / (double) timers);
  }
}
