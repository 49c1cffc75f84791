// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.benchmarks.subjects.SubjectKind;
import io.timewheel.benchmarks.workloads.Workload;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

class CaseTest {
  private static Case the(Workload workload, String variant) {
    return Plan.full().stream()
        .filter(aCase -> aCase.workload() == workload && aCase.variant().equals(variant))
        .findFirst()
        .orElseThrow();
  }

  private static Set<SubjectKind> absent(Workload workload, String variant) {
    Set<SubjectKind> absent = EnumSet.allOf(SubjectKind.class);
    absent.removeIf(
        subject ->
            !the(workload, variant).concerns(subject)
                || the(workload, variant).absence(subject).isEmpty());
    return absent;
  }

  @Test
  void subjectsWithoutAPartInACase() {
    assertThat(absent(Workload.CHURN, "1 thread")).containsExactly(SubjectKind.EMPTY);
    assertThat(absent(Workload.CHURN, "2 threads"))
        .containsExactly(
            SubjectKind.TIMEWHEEL_POLLED,
            SubjectKind.AGRONA,
            SubjectKind.LOCKED_FLOOR,
            SubjectKind.EMPTY);
    assertThat(absent(Workload.LOAD, "10M, 1 ms to 1 year"))
        .containsExactly(SubjectKind.PEKKO, SubjectKind.LOCKED_FLOOR, SubjectKind.EMPTY);
    assertThat(absent(Workload.LAG, "1 ms tick"))
        .containsExactly(SubjectKind.FLOOR, SubjectKind.LOCKED_FLOOR, SubjectKind.EMPTY);
    assertThat(absent(Workload.LAG, "100 µs tick"))
        .containsExactly(
            SubjectKind.NETTY41,
            SubjectKind.NETTY42,
            SubjectKind.KAFKA,
            SubjectKind.PEKKO,
            SubjectKind.FLOOR,
            SubjectKind.LOCKED_FLOOR,
            SubjectKind.EMPTY);
    assertThat(absent(Workload.IDLE, "6M pending"))
        .containsExactly(SubjectKind.FLOOR, SubjectKind.LOCKED_FLOOR);
    assertThat(absent(Workload.PATTERNS, "1M keys"))
        .containsExactly(
            SubjectKind.TIMEWHEEL_POLLED,
            SubjectKind.AGRONA,
            SubjectKind.LOCKED_FLOOR,
            SubjectKind.EMPTY);
  }

  @Test
  void patternsAreMeasuredAsSuchOnly() {
    assertThat(the(Workload.CHURN, "1 thread").concerns(SubjectKind.EXPIRATIONS)).isFalse();
    assertThat(the(Workload.PATTERNS, "1M keys").concerns(SubjectKind.EXPIRATIONS)).isTrue();
    assertThat(the(Workload.PATTERNS, "1M keys").concerns(SubjectKind.NETTY42)).isTrue();
  }

  @Test
  void theReasonIsReported() {
    assertThat(the(Workload.LOAD, "10M, 1 ms to 1 year").absence(SubjectKind.PEKKO))
        .hasValue("refuses a delay over 24 days at its tick");
  }

  @Test
  void everyPlanHasEveryWorkload() {
    for (List<Case> plan : List.of(Plan.full(), Plan.quick(), Plan.smoke())) {
      for (Workload workload : Workload.values()) {
        Predicate<Case> isOfIt = aCase -> aCase.workload() == workload;
        assertThat(plan).anyMatch(isOfIt);
      }
    }
  }

  @Test
  void variantsAreDistinct() {
    for (List<Case> plan : List.of(Plan.full(), Plan.quick(), Plan.smoke())) {
      assertThat(plan.stream().map(aCase -> aCase.workload() + aCase.variant()))
          .doesNotHaveDuplicates();
    }
  }
}
