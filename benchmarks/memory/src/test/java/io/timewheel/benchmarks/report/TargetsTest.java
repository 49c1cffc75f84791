// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.benchmarks.report.Target.Verdict;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TargetsTest {
  private static List<Target> targets(Recordings recordings) {
    return new Targets(recordings.measurements()).all();
  }

  private static Target target(Recordings recordings, String figure) {
    return targets(recordings).stream()
        .filter(target -> target.figure().startsWith(figure))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void withoutMeasurementsNothingIsMetAndNothingIsMissed() {
    assertThat(targets(Recordings.of("timewheel")))
        .hasSizeGreaterThan(12)
        .allMatch(target -> target.verdict() == Verdict.NOT_MEASURED)
        .allMatch(target -> target.measured().toString().contains("not recorded"));
  }

  /**
   * For each target, the value of the other subject (or none), and values that meet and miss it.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "churn (start;churn;1 thread;opsPerSecond;netty42;10;15;14.9",
        "churn, 2;churn;2 threads;opsPerSecond;netty42;10;30;29.9",
        "churn, CPU;churn;8 threads;cpuNanosPerOp;stpe;30;9.9;10.1",
        "churn, 1 thread, against the floor:;churn;1 thread;nanosPerOp;floor;20;40;40.1",
        "churn, 1 thread, against the floor with;churn;1 thread;opsPerSecond;locked-floor;10;8;7.9",
        "in flight, 1;inflight;1 thread;opsPerSecond;netty42;10;13;12.9",
        "in flight, 2;inflight;2 threads;opsPerSecond;netty42;10;30;29.9",
        "touch;touch;1 thread;opsPerSecond;kafka;10;30;29.9",
        "heap;load;any;heapBytesPerPending;;0;40.4;40.6",
        "idle, 6M pending, 1 ms tick: wake;idle;6M pending;wakeups;;0;0;1",
        "lag and expire;lag;any;early;;0;0;1",
        "lag and expire;expire;any;early;;0;0;1",
        "lag, 100 µs tick, against Sch;lag;100 µs tick;p99Micros;stpe;100;300;301",
        "expire;expire;any;cpuNanosPerExpiry;netty42;100;100;101",
        "expire, 6M in a second: the last;expire;6M in a second;overrunMillis;;0;5;5.1",
        "expire, 6M in a second, CPU;expire;6M in a second;cpuNanosPerTimeout;netty42;100;70;71",
        "load;load;10M, 1 ms to 1 year;nanosPerStart;dubbo;100;100;101",
      })
  void isMetUpToItsLimitAndNotBeyond(
      String figure,
      String workload,
      String variant,
      String metric,
      String other,
      double others,
      double met,
      double missed) {
    String[] subjects = {"timewheel", "netty42", "stpe", "kafka", "dubbo", "floor", "locked-floor"};
    Recordings good = Recordings.of(subjects);
    Recordings bad = Recordings.of(subjects);
    if (other != null) {
      good.values(workload, variant, other, metric, others);
      bad.values(workload, variant, other, metric, others);
    }
    good.values(workload, variant, "timewheel", metric, met);
    bad.values(workload, variant, "timewheel", metric, missed);

    assertThat(target(good, figure).verdict()).isEqualTo(Verdict.MET);
    assertThat(target(bad, figure).verdict()).isEqualTo(Verdict.NOT_MET);
  }

  @ParameterizedTest
  @CsvSource({"50,MET", "50.1,NOT_MET"})
  void idleIsMeasuredAgainstAnEmptyJvm(double millis, Verdict verdict) {
    Recordings recordings = Recordings.of("timewheel", "empty");
    recordings
        .values("idle", "6M pending", "empty", "cpuMillis", 40)
        .values("idle", "6M pending", "timewheel", "cpuMillis", millis);

    assertThat(target(recordings, "idle, 6M pending, 1 ms tick: CPU").verdict()).isEqualTo(verdict);
  }

  @ParameterizedTest
  @CsvSource({"650,1200,MET", "651,1200,NOT_MET", "650,1201,NOT_MET"})
  void lagHasTwoParts(double p50, double p99, Verdict verdict) {
    Recordings recordings = Recordings.of("timewheel");
    recordings
        .values("lag", "1 ms tick", "timewheel", "p50Micros", p50)
        .values("lag", "1 ms tick", "timewheel", "p99Micros", p99);

    assertThat(target(recordings, "lag, 1 ms").verdict()).isEqualTo(verdict);
  }

  @ParameterizedTest
  @CsvSource({"40,40,MET", "41,40,NOT_MET", "40,41,NOT_MET"})
  void bigSlotDelaysNeitherItsOwnStripeNorOthers(double same, double others, Verdict verdict) {
    Recordings recordings = Recordings.of("timewheel");
    recordings
        .values("big-slot", "4M in a slot of 65 s", "timewheel", "sameStripeMaxMillis", same)
        .values("big-slot", "4M in a slot of 65 s", "timewheel", "otherThreadsMaxMillis", others);

    assertThat(target(recordings, "big slot").verdict()).isEqualTo(verdict);
  }

  @ParameterizedTest
  @CsvSource({"99,MET", "100,NOT_MET"})
  void equalIsNotLess(double millis, Verdict verdict) {
    Recordings recordings = Recordings.of("timewheel", "stpe");
    recordings
        .values("lag", "100 µs tick", "timewheel", "cpuMillis", millis)
        .values("lag", "100 µs tick", "stpe", "cpuMillis", 100);

    assertThat(
            target(recordings, "lag, 100 µs tick, against ScheduledThreadPoolExecutor: CPU")
                .verdict())
        .isEqualTo(verdict);
  }

  @Test
  void oneRoundWithAWakeUpOrAnEarlyTimeoutIsOneTooMany() {
    Recordings recordings = Recordings.of("timewheel", "timewheel-hashed");
    recordings
        .values("idle", "6M pending", "timewheel", "wakeups", 0, 0, 1)
        .values("lag", "1 ms tick", "timewheel", "early", 0, 0, 0)
        .values("lag", "1 ms tick", "timewheel-hashed", "early", 0, 0, 1);

    assertThat(target(recordings, "idle, 6M pending, 1 ms tick: wake").verdict())
        .isEqualTo(Verdict.NOT_MET);
    assertThat(target(recordings, "lag and expire").verdict()).isEqualTo(Verdict.NOT_MET);
  }

  @Test
  void oneMissedPartMissesATargetAndOneUnmeasuredPartLeavesItOpen() {
    Recordings open = Recordings.of("timewheel", "netty42");
    open.values("expire", "6M in a second", "netty42", "cpuNanosPerExpiry", 100)
        .values("expire", "1M in a second", "netty42", "cpuNanosPerExpiry", 100)
        .values("expire", "1M in a second", "timewheel", "cpuNanosPerExpiry", 50);
    assertThat(target(open, "expire"))
        .isEqualTo(
            new Target(
                "expire, CPU per expiry, against Netty 4.2",
                "no more",
                List.of(
                    "6M in a second: expire, 6M in a second not recorded",
                    "1M in a second: 0.500 times"),
                Verdict.NOT_MEASURED));

    open.values("expire", "2M in a second", "netty42", "cpuNanosPerExpiry", 100)
        .values("expire", "2M in a second", "timewheel", "cpuNanosPerExpiry", 150);
    assertThat(target(open, "expire").verdict()).isEqualTo(Verdict.NOT_MET);
  }
}
