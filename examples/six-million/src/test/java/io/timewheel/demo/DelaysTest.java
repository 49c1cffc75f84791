// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DelaysTest {
  @Test
  void areTheSameForTheSameSeed() {
    assertThat(delays()).isEqualTo(delays());
  }

  @Test
  void reachFromAMillisecondToAYear() {
    assertThat(Arrays.stream(delays()).summaryStatistics())
        .satisfies(
            all -> {
              assertThat(all.getMin()).isBetween(Delays.LEAST_NANOS, 2 * Delays.LEAST_NANOS);
              assertThat(all.getMax()).isBetween(Delays.MOST_NANOS / 2, Delays.MOST_NANOS);
            });
  }

  @Test
  void areAsManyInEachDecade() {
    long millis = between(TimeUnit.MILLISECONDS.toNanos(1));
    long hours = between(TimeUnit.HOURS.toNanos(1));

    assertThat(millis).isCloseTo(hours, withinPercentage(5));
  }

  private static long between(long nanos) {
    return Arrays.stream(delays()).filter(delay -> delay >= nanos && delay < 10 * nanos).count();
  }

  private static long[] delays() {
    return Delays.random(100_000, new SplittableRandom(6));
  }
}
