// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LevelsTest {
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** The table in the documentation of the hierarchical wheel: the range of each level in ticks. */
  @ParameterizedTest
  @CsvSource({
    "0, 256",
    "1, 65536",
    "2, 16777216",
    "3, 4294967296",
    "4, 1099511627776",
    "5, 281474976710656",
    "6, 72057594037927936",
  })
  void levelsEndAsInTheTableOfTheWheel(int level, long rangeTicks) {
    assertThat(Levels.levelOf(rangeTicks - 1)).isEqualTo(level);
    assertThat(Levels.levelOf(rangeTicks)).isEqualTo(level + 1);
  }

  @Test
  void theLongestTimeIsOnTheLastLevel() {
    assertThat(Levels.levelOf(Long.MAX_VALUE)).isEqualTo(7);
  }

  @Test
  void dueAndOverdueTimeoutsAreOnTheFirstLevel() {
    assertThat(Levels.levelOf(0)).isZero();
    assertThat(Levels.levelOf(-1)).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "0, up to 256 ms",
    "1, 256 ms to 1.1 min",
    "2, 1.1 min to 4.7 h",
    "3, 4.7 h to 49.7 d",
    "4, 49.7 d to 34.9 y",
  })
  void namesTheRangeOfALevel(int level, String range) {
    assertThat(new Levels(TICK_NANOS).range(level)).isEqualTo(range);
  }

  @Test
  void countsByRemainingTime() {
    Levels levels = new Levels(TICK_NANOS);
    levels.add(256 * TICK_NANOS - 1);
    levels.add(256 * TICK_NANOS);
    levels.add(TimeUnit.HOURS.toNanos(1));
    levels.add(TimeUnit.HOURS.toNanos(2));

    assertThat(levels.size()).isEqualTo(3);
    assertThat(levels.count(0)).isEqualTo(1);
    assertThat(levels.count(1)).isEqualTo(1);
    assertThat(levels.count(2)).isEqualTo(2);
    assertThat(levels.total()).isEqualTo(4);
  }

  @Test
  void withoutTimeoutsThereIsNoLevel() {
    assertThat(new Levels(TICK_NANOS).size()).isZero();
  }
}
