// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class LongMapTest {

  /**
   * Few keys, close together or far apart, so probes collide. They are added in waves, so the table
   * grows and shrinks.
   */
  @Property
  void behavesLikeAHashMap(
      @ForAll long seed, @ForAll @IntRange(min = 0, max = 63) int shift, @ForAll long offset) {
    SplittableRandom random = new SplittableRandom(seed);
    LongMap<Object> map = new LongMap<>();
    Map<Long, Object> model = new HashMap<>();
    for (int wave = 0; wave < 6; wave++) {
      int removalsOfTen = wave % 2 == 0 ? 3 : 8;
      for (int i = 0; i < 150; i++) {
        long key = offset + (random.nextLong(200) << shift);
        if (random.nextInt(10) < removalsOfTen) {
          assertThat(map.remove(key)).isSameAs(model.remove(key));
        } else {
          Object value = new Object();
          assertThat(map.putIfAbsent(key, value)).isEqualTo(model.putIfAbsent(key, value) == null);
        }
        assertThat(map.get(key)).isSameAs(model.get(key));
        assertThat(map.size()).isEqualTo(model.size());
      }
      model.forEach((key, value) -> assertThat(map.get(key)).isSameAs(value));
    }
    assertThat(map.drain()).containsExactlyInAnyOrderElementsOf(model.values());
    assertThat(map.size()).isZero();
    assertThat(map.drain()).isEmpty();
  }

  @Test
  @Tag("promise-Requests")
  void shrinksWithItsContent() {
    LongMap<String> map = new LongMap<>();
    long empty = MemoryTest.bytes(map);
    for (int i = 0; i < 10_000; i++) {
      map.putIfAbsent(i, "v");
    }
    assertThat(MemoryTest.bytes(map)).isGreaterThan(10_000 * 12);
    for (int i = 0; i < 9_999; i++) {
      map.remove(i);
    }
    assertThat(map.drain()).isEqualTo(List.of("v"));
    assertThat(MemoryTest.bytes(map)).isEqualTo(empty);
  }

  /**
   * Regression: IDs that differed only in their upper bits had the same hash position, so every
   * lookup passed all of them.
   */
  @Test
  @Tag("promise-Requests")
  void spreadsIdsWhicheverOfTheirBitsTheyDifferIn() {
    for (int shift = 0; shift <= 54; shift++) {
      Set<Long> homes = new HashSet<>();
      for (long id = 0; id < 1_024; id++) {
        homes.add(LongMap.spread(id << shift) & 2_047);
      }
      assertThat(homes).as("IDs shifted by " + shift).hasSizeGreaterThan(700);
    }
  }
}
