// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import static io.timewheel.benchmarks.report.Metric.less;
import static io.timewheel.benchmarks.report.Metric.more;

import io.timewheel.benchmarks.workloads.Workload;
import java.util.List;
import java.util.stream.Stream;

/** The displayed quantities, and those that more than one table or target needs. */
final class Metrics {
  static final Metric OPERATIONS = more("opsPerSecond", "million a second", 1e6);
  static final Metric OPERATION_NANOS = less("nanosPerOp", "ns each");
  static final Metric OPERATION_CPU = less("cpuNanosPerOp", "ns of CPU each");
  static final Metric OPERATION_BYTES = less("bytesPerOp", "bytes allocated each");
  static final Metric START_NANOS = less("nanosPerStart", "ns per start");
  static final Metric HEAP_BYTES = less("heapBytesPerPending", "bytes of heap per pending timeout");
  static final Metric OVERRUN = less("overrunMillis", "ms until the last one has run");
  static final Metric EXPIRY_CPU = less("cpuNanosPerExpiry", "ns of CPU per expiry");
  static final Metric TIMEOUT_CPU =
      less("cpuNanosPerTimeout", "ns of CPU per timeout, start included");
  static final Metric LATE_P50 = less("p50Micros", "p50, ms", 1000);
  static final Metric LATE_P99 = less("p99Micros", "p99, ms", 1000);
  static final Metric LATE_P999 = less("p999Micros", "p99.9, ms", 1000);
  static final Metric CPU = less("cpuMillis", "ms of CPU");
  static final Metric WAKE_UPS = less("wakeups", "wake-ups of the timer thread");
  static final Metric TOUCH_CPU = less("cpuNanosPerTouch", "ns of CPU to postpone");
  static final Metric SAME_STRIPE_MAX =
      less("sameStripeMaxMillis", "latest of the thread that started them, ms");
  static final Metric OTHER_THREADS_MAX =
      less("otherThreadsMaxMillis", "latest of other threads, ms");
  static final Metric EARLY = less("early", "early");

  private static final List<Metric> CALLS =
      List.of(
          less("startP50Micros", "start p50, µs"),
          less("startP99Micros", "start p99, µs"),
          less("startP999Micros", "start p99.9, µs"),
          less("startMaxMicros", "start max, µs"),
          less("cancelP50Micros", "cancel p50, µs"),
          less("cancelP99Micros", "cancel p99, µs"),
          less("cancelP999Micros", "cancel p99.9, µs"),
          less("cancelMaxMicros", "cancel max, µs"));

  private Metrics() {}

  /** Returns the columns of the workload's tables. */
  static List<Metric> of(Workload workload) {
    return switch (workload) {
      case CHURN, INFLIGHT, TOUCH -> List.of(OPERATIONS, OPERATION_CPU, OPERATION_BYTES);
      case LOAD ->
          List.of(START_NANOS, less("cpuNanosPerStart", "ns of CPU per start"), HEAP_BYTES);
      case EXPIRE -> List.of(EXPIRY_CPU, TIMEOUT_CPU, OVERRUN, EARLY);
      case LAG ->
          List.of(LATE_P50, LATE_P99, LATE_P999, less("maxMicros", "max, ms", 1000), CPU, EARLY);
      case IDLE -> List.of(CPU, WAKE_UPS, less("contextSwitches", "context switches"));
      case START_LATENCY -> CALLS;
      case CROWD -> Stream.concat(Stream.of(OPERATIONS), CALLS.stream()).toList();
      case VAIN_WAKE_UPS ->
          List.of(
              less("startP50Micros", "start p50, µs"),
              less("startP99Micros", "start p99, µs"),
              less("startP999Micros", "start p99.9, µs"),
              CPU,
              WAKE_UPS);
      case BIG_SLOT -> List.of(SAME_STRIPE_MAX, OTHER_THREADS_MAX, CPU);
      case LITTLE_MEMORY ->
          List.of(
              less("lost", "lost of those accepted"),
              more("afterwards", "works afterwards (1: yes)", 1),
              LATE_P99,
              less("maxMicros", "max, ms", 1000),
              less("refused", "starts refused"));
      case GC ->
          List.of(
              less("pauseP99Millis", "p99 of a pause, ms"),
              less("pauseMaxMillis", "longest pause, ms"),
              less("pauseTotalMillis", "all pauses, ms"),
              less("pauses", "pauses"),
              less("promotedBytes", "promoted, MB", 1e6));
      case PATTERNS ->
          List.of(
              less("nanosPerAdd", "ns to add"),
              TOUCH_CPU,
              less("nanosPerRemove", "ns to remove"),
              less("heapBytesPerEntry", "bytes of heap per entry"));
    };
  }
}
