// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.internal.due.LoadPlan.Load;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LoadPlanTest {
  /** Two other loads, and a restart for each of them. */
  private static final int MAX_WAIT = 4;

  private static Set<Load> random(Random random) {
    Set<Load> needed = EnumSet.noneOf(Load.class);
    for (Load load : Load.values()) {
      if (random.nextInt(load == Load.RESTART ? 10 : 2) == 0) {
        needed.add(load);
      }
    }
    return needed;
  }

  /** Each load clears its own need; the others stay, and new ones arrive. */
  @Test
  void servesEachNeedSoonAndNoOther() {
    for (int seed = 0; seed < 2_000; seed++) {
      Random random = new Random(seed);
      Map<Load, Integer> waits = new EnumMap<>(Load.class);
      Load last = null;
      for (int step = 0; step < 50; step++) {
        for (Load load : random(random)) {
          waits.putIfAbsent(load, 0);
        }
        Load next = LoadPlan.choose(waits.keySet(), last);
        if (next == null) {
          assertThat(waits).as("seed " + seed).isEmpty();
          continue;
        }
        assertThat(waits).as("seed " + seed).containsKey(next);
        if (next == Load.RESTART) {
          waits.clear(); // it includes all others
        } else {
          assertThat(waits).as("seed " + seed).doesNotContainKey(Load.RESTART);
          waits.remove(next);
        }
        waits.replaceAll((load, steps) -> steps + 1);
        assertThat(waits.values()).as("seed " + seed).allMatch(steps -> steps <= MAX_WAIT);
        last = next;
      }
    }
  }

  @Test
  void loadsThatAreNeededAllTheTimeTakeTurns() {
    Set<Load> needed = EnumSet.complementOf(EnumSet.of(Load.RESTART));
    Load last = null;
    for (int round = 0; round < 3; round++) {
      for (Load turn : needed) {
        last = LoadPlan.choose(needed, last);
        assertThat(last).isEqualTo(turn);
      }
    }
  }
}
