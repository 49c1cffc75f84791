// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.benchmarks.subjects.SubjectKind;
import io.timewheel.benchmarks.workloads.Parameters;
import io.timewheel.benchmarks.workloads.Workload;
import java.util.List;
import org.junit.jupiter.api.Test;

class OrderTest {
  private static final List<SubjectKind> SUBJECTS =
      List.of(SubjectKind.TIMEWHEEL, SubjectKind.NETTY42, SubjectKind.STPE);

  private static Case named(String variant, int rounds) {
    return new Case(
        Workload.LOAD, variant, new Parameters(1, 1, 1, 2, 1_000_000, 0, 0), 1, rounds, 1);
  }

  private static List<String> orders(int rounds, Case... cases) {
    return Order.of(List.of(cases), SUBJECTS, rounds).stream()
        .map(
            order ->
                order.measured().variant()
                    + order.round()
                    + order.position()
                    + order.subject().id().charAt(0))
        .toList();
  }

  @Test
  void everySecondRoundIsBackwards() {
    assertThat(orders(0, named("a", 3)))
        .containsExactly("a00t", "a01n", "a02s", "a10s", "a11n", "a12t", "a20t", "a21n", "a22s");
  }

  @Test
  void allVariantsAreMeasuredInEachRound() {
    assertThat(orders(0, named("a", 2), named("b", 1)))
        .containsExactly("a00t", "a01n", "a02s", "b00t", "b01n", "b02s", "a10s", "a11n", "a12t");
  }

  @Test
  void requestedRoundsReplaceThoseOfThePlan() {
    assertThat(orders(1, named("a", 3))).containsExactly("a00t", "a01n", "a02s");
    assertThat(orders(2, named("a", 1))).hasSize(6);
  }
}
