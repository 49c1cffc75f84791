// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.benchmarks.subjects.SubjectKind;
import io.timewheel.benchmarks.workloads.Parameters;
import io.timewheel.benchmarks.workloads.Workload;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs every workload and every subject in this JVM, for so short a time that the figures have no
 * meaning. Workloads that wait for the clock have one subject here, because waiting for all would
 * take minutes.
 */
@Tag("proof")
class SmokeTest {
  private static final int WARM_UP = 100;

  private static final Set<Workload> WITH_ALL =
      EnumSet.of(
          Workload.CHURN,
          Workload.INFLIGHT,
          Workload.TOUCH,
          Workload.LOAD,
          Workload.EXPIRE,
          Workload.PATTERNS);

  static Stream<Arguments> all() {
    return Plan.smoke().stream()
        .filter(aCase -> aCase.isIn(Runtime.version()))
        // It would fill the heap of this JVM; JvmTest covers it.
        .filter(aCase -> aCase.workload() != Workload.LITTLE_MEMORY)
        .flatMap(
            aCase ->
                Stream.of(SubjectKind.values())
                    // A class path contains only one Netty; JvmTest covers the other one.
                    .filter(subject -> subject != SubjectKind.NETTY41)
                    .filter(
                        subject ->
                            subject == SubjectKind.TIMEWHEEL || WITH_ALL.contains(aCase.workload()))
                    .filter(subject -> subject.isIn(Runtime.version()))
                    .filter(aCase::concerns)
                    .filter(subject -> aCase.absence(subject).isEmpty())
                    .map(
                        subject ->
                            Arguments.of(
                                aCase.workload(), aCase.variant(), subject, aCase.parameters())));
  }

  @ParameterizedTest(name = "{0} {1} {2}")
  @MethodSource("all")
  void isMeasured(Workload workload, String variant, SubjectKind subject, Parameters parameters)
      throws Exception {
    Map<String, Double> metrics = new HashMap<>();

    workload.measure(subject, parameters, WARM_UP, metrics::putAll);

    assertThat(metrics).containsKeys(expected(workload));
    assertThat(metrics.values()).allMatch(Double::isFinite);
  }

  private static String[] expected(Workload workload) {
    return switch (workload) {
      case CHURN, INFLIGHT, TOUCH ->
          new String[] {"opsPerSecond", "nanosPerOp", "bytesPerOp", "cpuNanosPerOp"};
      case LOAD -> new String[] {"nanosPerStart", "heapBytesPerPending"};
      case EXPIRE ->
          new String[] {"overrunMillis", "cpuNanosPerExpiry", "cpuNanosPerTimeout", "early"};
      case LATENESS ->
          new String[] {"p50Micros", "p99Micros", "p999Micros", "maxMicros", "cpuMillis", "early"};
      case IDLE -> new String[] {"cpuMillis"};
      case START_LATENCY ->
          new String[] {
            "startP50Micros", "startP99Micros", "startP999Micros", "startMaxMicros",
            "cancelP50Micros", "cancelP99Micros", "cancelP999Micros", "cancelMaxMicros"
          };
      case CROWD -> new String[] {"opsPerSecond", "startP999Micros", "cancelMaxMicros"};
      case VAIN_WAKE_UPS ->
          new String[] {
            "startP50Micros", "startP99Micros", "startP999Micros", "startMaxMicros", "cpuMillis"
          };
      case BIG_SLOT -> new String[] {"sameStripeMaxMillis", "otherThreadsMaxMillis", "cpuMillis"};
      case LITTLE_MEMORY -> new String[] {"lost", "afterwards", "refused", "p99Micros"};
      case GC ->
          new String[] {
            "pauseP99Millis", "pauseMaxMillis", "pauseTotalMillis", "pauses", "promotedBytes"
          };
      case PATTERNS -> new String[] {"nanosPerAdd", "nanosPerRemove", "heapBytesPerEntry"};
    };
  }
}
