// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the assignment of threads to stripes. */
class HomesTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 32, WheelTimer.Builder.MAX_STRIPES})
  void threadsSpreadEvenlyOverAllStripes(int stripes) {
    Homes homes = new Homes(stripes);
    Map<Integer, Integer> threadsByHome = new HashMap<>();
    int threads = stripes * 16;
    for (Thread thread : threads(threads)) {
      threadsByHome.merge(homes.of(thread), 1, Integer::sum);
    }

    assertThat(threadsByHome.keySet()).hasSize(stripes).allMatch(home -> home < stripes);
    assertThat(threadsByHome.values()).allMatch(count -> count <= 32);
  }

  @Test
  void consecutiveThreadsHaveDifferentHomes() {
    Homes homes = new Homes(4);
    List<Thread> threads = threads(100);
    for (int i = 1; i < threads.size(); i++) {
      assertThat(homes.of(threads.get(i))).isNotEqualTo(homes.of(threads.get(i - 1)));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 32, WheelTimer.Builder.MAX_STRIPES})
  void movesVisitAllStripesAndReturn(int stripes) {
    Homes homes = new Homes(stripes);
    Thread thread = new Thread();
    int first = homes.of(thread);
    Set<Integer> visited = new LinkedHashSet<>();
    for (int i = 0; i < stripes; i++) {
      visited.add(homes.of(thread));
      homes.move(thread);
    }

    assertThat(visited).hasSize(stripes);
    assertThat(homes.of(thread)).isEqualTo(first);
  }

  @Test
  void moveDoesNotAffectOtherGroups() {
    Homes homes = new Homes(4);
    List<Thread> threads = threads(2);
    int other = homes.of(threads.get(1));
    homes.move(threads.get(0));

    assertThat(homes.of(threads.get(1))).isEqualTo(other);
  }

  private static List<Thread> threads(int number) {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < number; i++) {
      threads.add(new Thread());
    }
    return threads;
  }
}
