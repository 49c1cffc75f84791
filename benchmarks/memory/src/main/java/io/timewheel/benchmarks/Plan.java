// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import static java.util.concurrent.TimeUnit.DAYS;
import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.timewheel.benchmarks.workloads.Parameters;
import io.timewheel.benchmarks.workloads.Workload;
import java.util.ArrayList;
import java.util.List;

/** Defines the measurements, their duration and their repetitions. */
final class Plan {
  private static final int MILLION = 1_000_000;

  /** The timeouts that one thread keeps pending, where operations are measured. */
  private static final int LIVE = 100_000;

  private static final long TICK_NANOS = MILLISECONDS.toNanos(1);
  private static final long FINE_TICK_NANOS = MICROSECONDS.toNanos(100);

  private final List<Case> cases = new ArrayList<>();

  private Plan() {}

  /**
   * Returns the full plan: over an hour on two cores. Long measurements with little variation are
   * repeated less.
   */
  static List<Case> full() {
    Plan plan = new Plan();
    for (int threads : new int[] {1, 2, 8}) {
      plan.cases.add(operation(Workload.CHURN, threads, 0, 3, 300));
    }
    plan.cases.add(operation(Workload.INFLIGHT, 1, LIVE, 3, 300));
    plan.cases.add(operation(Workload.TOUCH, 1, LIVE, 3, 300));
    plan.cases.add(operation(Workload.INFLIGHT, 2, LIVE, 3, 300));
    plan.load("1M, 1 s to 24 h", 3, MILLION, SECONDS.toNanos(1), HOURS.toNanos(24), 1, 3);
    plan.load("6M, 1 s to 24 h", 1, 6 * MILLION, SECONDS.toNanos(1), HOURS.toNanos(24), 2, 8);
    plan.load("10M, 1 ms to 1 year", 1, 10 * MILLION, TICK_NANOS, DAYS.toNanos(365), 3, 14);
    plan.expire("1M in a second", 3, MILLION, 1, 5);
    plan.expire("6M in a second", 1, 6 * MILLION, 2, 20);
    plan.lag("1 ms tick", 3, 50_000, TICK_NANOS, false, 5_000);
    plan.lag("1 ms tick, both cores busy", 1, 50_000, TICK_NANOS, true, 5_000);
    plan.lag("100 µs tick", 3, 50_000, FINE_TICK_NANOS, false, 5_000);
    plan.lag("100 µs tick, both cores busy", 1, 50_000, FINE_TICK_NANOS, true, 5_000);
    plan.idle("6M pending", 1, 6 * MILLION, 2, 20_000);
    plan.startLatency("2 producers, 1M in a second", 3, MILLION, 1_000);
    plan.crowd("2 threads, 6M fire", 1, 2, 6 * MILLION, 0, 3, 2_000);
    plan.crowd("2 threads, 6M fire, both cores busy", 1, 2, 6 * MILLION, 2, 3, 2_000);
    plan.littleMemory(3, 10_000, 4_000);
    plan.bigSlot("4M in a slot of 65 s", 4 * MILLION, 66_000, 130_000, 6_000);
    plan.crowd("64 threads", 3, 64, 0, 0, 1, 2_000);
    plan.crowd("256 threads", 3, 256, 0, 0, 1, 2_000);
    plan.crowd("256 threads, both cores busy", 3, 256, 0, 2, 1, 2_000);
    plan.crowd("10,000 virtual threads", 3, 10_000, 0, 0, 1, 2_000);
    plan.vainWakeUps("100 ms, cancelled at once", 3, 4_000);
    plan.gc("6M pending", 1, 6 * MILLION, 3, 10_000);
    plan.patterns("1M keys", 3, MILLION, 2, 6);
    return plan.cases;
  }

  /** Returns a plan for a first impression: about eight minutes. */
  static List<Case> quick() {
    Plan plan = new Plan();
    plan.cases.add(operation(Workload.CHURN, 1, 0, 1, 100));
    plan.cases.add(operation(Workload.CHURN, 2, 0, 1, 100));
    plan.cases.add(operation(Workload.INFLIGHT, 1, LIVE, 1, 100));
    plan.cases.add(operation(Workload.TOUCH, 1, LIVE, 1, 100));
    plan.load("1M, 1 s to 24 h", 1, MILLION, SECONDS.toNanos(1), HOURS.toNanos(24), 1, 3);
    plan.expire("1M in a second", 1, MILLION, 1, 5);
    plan.lag("1 ms tick", 1, 20_000, TICK_NANOS, false, 2_000);
    plan.idle("1M pending", 1, MILLION, 1, 2_000);
    plan.startLatency("2 producers, 1M in a second", 1, MILLION, 1_000);
    plan.crowd("64 threads", 1, 64, 0, 0, 1, 1_000);
    plan.littleMemory(1, 10_000, 2_000);
    plan.vainWakeUps("100 ms, cancelled at once", 1, 2_000);
    plan.bigSlot("1M in a quarter of a second", MILLION, 4_100, 4_350, 2_000);
    plan.gc("1M pending", 1, MILLION, 1, 2_000);
    plan.patterns("100k keys", 1, 100_000, 1, 3);
    return plan.cases;
  }

  /** Returns a plan for tests: everything, for some seconds, so the figures have no meaning. */
  static List<Case> smoke() {
    Plan plan = new Plan();
    plan.cases.add(operation(Workload.CHURN, 1, 0, 1, 10));
    plan.cases.add(operation(Workload.CHURN, 2, 0, 1, 10));
    plan.cases.add(operation(Workload.INFLIGHT, 1, 1000, 1, 10));
    plan.cases.add(operation(Workload.TOUCH, 1, 1000, 1, 10));
    plan.load("1k", 1, 1000, SECONDS.toNanos(1), HOURS.toNanos(24), 1, 1);
    plan.expire("1k", 1, 1000, 1, 1);
    plan.lag("1 ms tick", 1, 100, TICK_NANOS, false, 20);
    plan.lag("100 µs tick, both cores busy", 1, 100, FINE_TICK_NANOS, true, 20);
    plan.idle("0 pending", 1, 0, 1, 20);
    plan.idle("1k pending", 1, 1000, 1, 20);
    plan.startLatency("1k", 1, 1000, 20);
    plan.crowd("4 threads, 1k fire, busy", 1, 4, 1000, 1, 1, 20);
    plan.bigSlot("1k in a slot", 1000, 1000, 1050, 20);
    plan.littleMemory(1, 1000, 20);
    plan.crowd("1001 virtual threads", 1, 1001, 0, 0, 1, 20);
    plan.vainWakeUps("100 ms, cancelled at once", 1, 20);
    plan.gc("1k pending", 1, 1000, 1, 50);
    plan.patterns("1k keys", 1, 1000, 1, 1);
    return plan.cases;
  }

  private static Case operation(
      Workload workload, int threads, int live, int rounds, int iterationMillis) {
    return new Case(
        workload,
        threads == 1 ? "1 thread" : threads + " threads",
        new Parameters(threads, live, 0, SECONDS.toNanos(30), TICK_NANOS, 0, iterationMillis),
        1,
        rounds,
        2.5 + 5e-3 * iterationMillis);
  }

  private void load(
      String variant,
      int rounds,
      int count,
      long minNanos,
      long maxNanos,
      int heapGigabytes,
      double seconds) {
    Parameters parameters = new Parameters(1, count, minNanos, maxNanos, TICK_NANOS, 0, 0);
    cases.add(new Case(Workload.LOAD, variant, parameters, heapGigabytes, rounds, seconds));
  }

  private void expire(String variant, int rounds, int count, int heapGigabytes, double seconds) {
    int windowMillis = count < 10_000 ? 20 : 1000;
    Parameters parameters =
        new Parameters(
            1, count, 0, MILLISECONDS.toNanos(windowMillis), TICK_NANOS, 0, windowMillis);
    cases.add(new Case(Workload.EXPIRE, variant, parameters, heapGigabytes, rounds, seconds));
  }

  private void lag(
      String variant, int rounds, int count, long tickNanos, boolean busy, int windowMillis) {
    int busyCpus = busy ? Runtime.getRuntime().availableProcessors() : 0;
    Parameters parameters =
        new Parameters(
            1, count, 0, MILLISECONDS.toNanos(windowMillis), tickNanos, busyCpus, windowMillis);
    cases.add(new Case(Workload.LAG, variant, parameters, 1, rounds, 2.5 + windowMillis / 1e3));
  }

  private void idle(String variant, int rounds, int count, int heapGigabytes, int windowMillis) {
    Parameters parameters =
        new Parameters(1, count, HOURS.toNanos(1), HOURS.toNanos(24), TICK_NANOS, 0, windowMillis);
    double seconds = 2.5 + count * 1e-6 + windowMillis / 1e3;
    cases.add(new Case(Workload.IDLE, variant, parameters, heapGigabytes, rounds, seconds));
  }

  private void startLatency(String variant, int rounds, int count, int windowMillis) {
    Parameters parameters =
        new Parameters(2, count, 0, SECONDS.toNanos(30), TICK_NANOS, 0, windowMillis);
    cases.add(
        new Case(Workload.START_LATENCY, variant, parameters, 1, rounds, 5 + windowMillis / 1e3));
  }

  private void crowd(
      String variant,
      int rounds,
      int threads,
      int count,
      int busyCpus,
      int heapGigabytes,
      int windowMillis) {
    Parameters parameters =
        new Parameters(threads, count, 0, SECONDS.toNanos(30), TICK_NANOS, busyCpus, windowMillis);
    double seconds = 3 + 4e-6 * count + windowMillis / 1e3;
    cases.add(new Case(Workload.CROWD, variant, parameters, heapGigabytes, rounds, seconds));
  }

  /** Adds a variant with one wake-up per millisecond. */
  private void vainWakeUps(String variant, int rounds, int count) {
    Parameters parameters =
        new Parameters(1, count, 0, MILLISECONDS.toNanos(100), TICK_NANOS, 0, count);
    cases.add(new Case(Workload.VAIN_WAKE_UPS, variant, parameters, 1, rounds, 3 + count / 1e3));
  }

  /**
   * The tick is 1 ms. A slot of level 2 begins 65.5 s after the timer was made, and ends 65.5 s
   * later. A slot of level 1 begins after 4.1 s, and ends 0.25 s later.
   */
  private void bigSlot(
      String variant, int count, long fromMillis, long toMillis, int windowMillis) {
    Parameters parameters =
        new Parameters(
            8,
            count,
            MILLISECONDS.toNanos(fromMillis),
            MILLISECONDS.toNanos(toMillis),
            TICK_NANOS,
            0,
            windowMillis);
    double seconds = 5 + fromMillis / 1e3 + windowMillis / 2e3;
    cases.add(new Case(Workload.BIG_SLOT, variant, parameters, 2, 1, seconds));
  }

  private void littleMemory(int rounds, int count, int windowMillis) {
    Parameters parameters =
        new Parameters(
            1, count, 0, MILLISECONDS.toNanos(windowMillis), TICK_NANOS, 0, windowMillis);
    double seconds = 6 + windowMillis / 1e3;
    cases.add(
        new Case(Workload.LITTLE_MEMORY, "a full heap of 1 GB", parameters, 1, rounds, seconds));
  }

  private void patterns(String variant, int rounds, int count, int heapGigabytes, double seconds) {
    Parameters parameters = new Parameters(1, count, 0, MINUTES.toNanos(30), TICK_NANOS, 0, 0);
    cases.add(new Case(Workload.PATTERNS, variant, parameters, heapGigabytes, rounds, seconds));
  }

  private void gc(String variant, int rounds, int count, int heapGigabytes, int windowMillis) {
    Parameters parameters =
        new Parameters(1, count, HOURS.toNanos(1), HOURS.toNanos(24), TICK_NANOS, 0, windowMillis);
    double seconds = 3 + count * 1e-6 + windowMillis / 1e3;
    cases.add(new Case(Workload.GC, variant, parameters, heapGigabytes, rounds, seconds));
  }
}
