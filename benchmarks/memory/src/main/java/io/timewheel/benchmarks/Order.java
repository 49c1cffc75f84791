// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import io.timewheel.benchmarks.subjects.SubjectKind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * One planned measurement.
 *
 * @param measured the variant of the workload
 * @param subject the timer to measure
 * @param round counted from 0
 * @param position in the order of this round
 */
record Order(Case measured, SubjectKind subject, int round, int position) {

  /** Returns the name of the variant, as {@link io.timewheel.benchmarks.results.Run#name} does. */
  String name() {
    return measured.workload().id() + ", " + measured.variant();
  }

  /**
   * Returns the order of all measurements. They run round by round, so that drift over the day
   * affects all equally. Every second round is reversed, so that no subject always comes first.
   */
  static List<Order> of(List<Case> cases, List<SubjectKind> subjects, int rounds) {
    int last = rounds > 0 ? rounds : cases.stream().mapToInt(Case::rounds).max().orElse(0);
    List<Order> orders = new ArrayList<>();
    for (int round = 0; round < last; round++) {
      List<SubjectKind> inOrder = new ArrayList<>(subjects);
      if (round % 2 == 1) {
        Collections.reverse(inOrder);
      }
      for (Case measured : cases) {
        if (rounds > 0 || round < measured.rounds()) {
          int thisRound = round;
          IntStream.range(0, inOrder.size())
              .filter(i -> measured.concerns(inOrder.get(i)))
              .mapToObj(i -> new Order(measured, inOrder.get(i), thisRound, i))
              .forEach(orders::add);
        }
      }
    }
    return orders;
  }
}
