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
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs every workload and every subject in this JVM, for so short a time that the figures have no
 * meaning. Only this class proves that each workload measures each subject and reports each figure.
 * Most workloads wait for the clock, so their cases run at the same time. Those of JMH run one
 * after the other, because {@code Operations} keeps its subject in a static field. The long
 * workloads have one subject here.
 */
@Tag("proof")
@Execution(ExecutionMode.CONCURRENT)
@Timeout(300)
class SmokeTest {
  private static final int WARM_UP = 100;
  private static final String TOO_SLOW = "the first was due before the last was started";

  private static final Set<Workload> WITH_ALL =
      EnumSet.of(
          Workload.CHURN,
          Workload.INFLIGHT,
          Workload.TOUCH,
          Workload.LOAD,
          Workload.EXPIRE,
          Workload.PATTERNS);

  static Stream<Arguments> operations() {
    return all(Workload::isOperation);
  }

  static Stream<Arguments> waiting() {
    return all(workload -> !workload.isOperation());
  }

  private static Stream<Arguments> all(Predicate<Workload> wanted) {
    return Plan.smoke().stream()
        .filter(aCase -> wanted.test(aCase.workload()))
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
  @MethodSource("operations")
  @Execution(ExecutionMode.SAME_THREAD)
  void jmhMeasures(Workload workload, String variant, SubjectKind subject, Parameters parameters)
      throws Exception {
    measure(workload, subject, parameters);
  }

  @ParameterizedTest(name = "{0} {1} {2}")
  @MethodSource("waiting")
  void isMeasured(Workload workload, String variant, SubjectKind subject, Parameters parameters)
      throws Exception {
    measure(workload, subject, parameters);
  }

  private static void measure(Workload workload, SubjectKind subject, Parameters parameters)
      throws Exception {
    Map<String, Double> metrics = new HashMap<>();

    for (int tries = 1; !isMeasuredInTime(workload, subject, parameters, metrics); tries++) {
      assertThat(tries).as("tries, all of them too slow").isLessThan(10);
      metrics.clear();
    }

    assertThat(metrics).containsKeys(expected(workload));
    assertThat(metrics.values()).allMatch(Double::isFinite);
  }

  /** A busy machine may be too slow for a workload, which then refuses its figures. */
  private static boolean isMeasuredInTime(
      Workload workload, SubjectKind subject, Parameters parameters, Map<String, Double> metrics)
      throws Exception {
    try {
      workload.measure(subject, parameters, WARM_UP, metrics::putAll);
      return true;
    } catch (IllegalStateException e) {
      if (TOO_SLOW.equals(e.getMessage())) {
        return false;
      }
      throw e;
    }
  }

  private static String[] expected(Workload workload) {
    return switch (workload) {
      case CHURN, INFLIGHT, TOUCH ->
          new String[] {"opsPerSecond", "nanosPerOp", "bytesPerOp", "cpuNanosPerOp"};
      case LOAD -> new String[] {"nanosPerStart", "heapBytesPerPending"};
      case EXPIRE ->
          new String[] {"overrunMillis", "cpuNanosPerExpiry", "cpuNanosPerTimeout", "early"};
      case LAG ->
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
