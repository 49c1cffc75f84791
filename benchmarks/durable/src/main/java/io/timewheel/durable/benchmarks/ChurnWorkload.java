// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Requests with a time limit, for {@code seconds}: {@code perSecond} timers a second are scheduled
 * for ten seconds later. Nine of ten are cancelled after five seconds, and the others fire. The
 * number of live timers is bounded. So file growth and bytes that wait for compaction are debt.
 */
final class ChurnWorkload implements Workload.Body {
  private static final int BATCH = 1_000;
  private static final long DUE_MILLIS = 10_000;
  private static final long CANCEL_MILLIS = 5_000;
  private static final long SAMPLE_NANOS = TimeUnit.SECONDS.toNanos(5);

  @Override
  public Map<String, Double> run(Subject.Opener opener, Place place, Parameters parameters)
      throws Exception {
    AtomicLong fired = new AtomicLong();
    try (Subject subject = opener.open(id -> fired.incrementAndGet())) {
      return churn(subject, place, parameters, fired);
    }
  }

  private record Batch(long first, long scheduledNanos) {}

  private static Map<String, Double> churn(
      Subject subject, Place place, Parameters parameters, AtomicLong fired) throws Exception {
    long start = System.nanoTime();
    long endNanos = start + TimeUnit.SECONDS.toNanos(parameters.get("seconds"));
    long batchNanos = TimeUnit.SECONDS.toNanos(BATCH) / parameters.get("perSecond");
    long nextNanos = start;
    long sampleNanos = start + SAMPLE_NANOS;
    Deque<Batch> living = new ArrayDeque<>();
    List<Double> diskMegabytes = new ArrayList<>();
    List<Double> debtMegabytes = new ArrayList<>();
    long number = 0;
    while (nextNanos - endNanos < 0) {
      TimeUnit.NANOSECONDS.sleep(nextNanos - System.nanoTime());
      living.add(new Batch(number, System.nanoTime()));
      number = schedule(subject, number);
      while (!living.isEmpty()
          && System.nanoTime() - living.element().scheduledNanos()
              > TimeUnit.MILLISECONDS.toNanos(CANCEL_MILLIS)) {
        cancel(subject, living.remove().first());
      }
      if (System.nanoTime() - sampleNanos > 0) {
        sampleNanos += SAMPLE_NANOS;
        diskMegabytes.add(place.bytes() / 1e6);
        debtMegabytes.add(subject.pendingCompactionBytes() / 1e6);
      }
      nextNanos += batchNanos;
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    // One of ten each, except those of the last ten seconds.
    double expected = Math.max(0, number - parameters.get("perSecond") * DUE_MILLIS / 1_000) / 10.0;
    return Map.of(
        "perSecond", number / seconds,
        "firedOfExpected", expected == 0 ? 1 : fired.get() / expected,
        "diskMegabytesMax", max(diskMegabytes),
        "diskMegabytesEnd", last(diskMegabytes),
        "debtMegabytesMax", max(debtMegabytes),
        "debtMegabytesEnd", last(debtMegabytes));
  }

  private static long schedule(Subject subject, long first) throws Exception {
    List<Subject.Order> orders = new ArrayList<>();
    long dueMillis = System.currentTimeMillis() + DUE_MILLIS;
    for (long i = first; i < first + BATCH; i++) {
      orders.add(Subject.Order.of(i, dueMillis));
    }
    subject.schedule(orders);
    return first + BATCH;
  }

  private static void cancel(Subject subject, long first) throws Exception {
    List<String> ids = new ArrayList<>();
    for (long i = first; i < first + BATCH; i++) {
      if (i % 10 != 0) {
        ids.add(Subject.Order.of(i, 0).id());
      }
    }
    subject.cancel(ids);
  }

  private static double max(List<Double> samples) {
    return samples.stream().mapToDouble(each -> each).max().orElse(0);
  }

  private static double last(List<Double> samples) {
    return samples.isEmpty() ? 0 : samples.get(samples.size() - 1);
  }
}
