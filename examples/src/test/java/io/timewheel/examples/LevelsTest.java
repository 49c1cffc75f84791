// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

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
    "0, 64",
    "1, 4096",
    "2, 262144",
    "3, 16777216",
    "4, 1073741824",
    "5, 68719476736",
    "6, 4398046511104",
    "7, 281474976710656",
    "8, 18014398509481984",
    "9, 1152921504606846976",
  })
  void aLevelEndsWhereTheWheelSaysSo(int level, long rangeTicks) {
    assertThat(Levels.levelOf(rangeTicks - 1)).isEqualTo(level);
    assertThat(Levels.levelOf(rangeTicks)).isEqualTo(level + 1);
  }

  @Test
  void theLongestTimeIsOnTheLastLevel() {
    assertThat(Levels.levelOf(Long.MAX_VALUE)).isEqualTo(10);
  }

  @Test
  void whatIsDueOrOverdueIsOnTheFirstLevel() {
    assertThat(Levels.levelOf(0)).isZero();
    assertThat(Levels.levelOf(-1)).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "0, up to 64 ms",
    "1, 64 ms to 4.1 s",
    "2, 4.1 s to 4.4 min",
    "3, 4.4 min to 4.7 h",
    "4, 4.7 h to 12.4 d",
    "5, 12.4 d to 2.2 y",
    "6, 2.2 y to 139 y",
  })
  void namesTheRangeOfALevel(int level, String range) {
    assertThat(new Levels(TICK_NANOS).range(level)).isEqualTo(range);
  }

  @Test
  void countsByRemainingTime() {
    Levels levels = new Levels(TICK_NANOS);
    levels.add(64 * TICK_NANOS - 1);
    levels.add(64 * TICK_NANOS);
    levels.add(TimeUnit.MINUTES.toNanos(1));
    levels.add(TimeUnit.MINUTES.toNanos(2));

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
