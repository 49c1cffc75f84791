// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LagHistogramTest {
  private final LagHistogram histogram = new LagHistogram();

  @ParameterizedTest
  @ValueSource(doubles = {0, 1, 25, 50, 90, 99, 99.9, 99.99, 100})
  void percentilesAreThoseOfTheSortedLagsToOneInSixtyFour(double percent) {
    long[] lagsNanos = logUniform(20_000);
    for (long lagNanos : lagsNanos) {
      histogram.add(lagNanos);
    }
    Arrays.sort(lagsNanos);
    int rank = Math.max(1, (int) Math.ceil(percent / 100 * lagsNanos.length));
    long exactNanos = lagsNanos[rank - 1];

    assertThat(histogram.percentileNanos(percent))
        .isBetween(exactNanos, exactNanos + exactNanos / 64);
  }

  private static long[] logUniform(int count) {
    SplittableRandom random = new SplittableRandom(1);
    return random.doubles(count, 0, 62).mapToLong(bits -> (long) Math.pow(2, bits)).toArray();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 63, 64, 65, 127, 128, 1_000_000, Long.MAX_VALUE})
  void aSingleLagIsEveryPercentile(long lagNanos) {
    histogram.add(lagNanos);

    assertThat(histogram.percentileNanos(50)).isEqualTo(lagNanos);
    assertThat(histogram.percentileNanos(100)).isEqualTo(lagNanos);
    assertThat(histogram.maxNanos()).isEqualTo(lagNanos);
  }

  @Test
  void countsTheEarlyOnes() {
    histogram.add(-1);
    histogram.add(0);
    histogram.add(1);

    assertThat(histogram.count()).isEqualTo(3);
    assertThat(histogram.early()).isEqualTo(1);
    assertThat(histogram.maxNanos()).isEqualTo(1);
  }

  @Test
  void withoutLagsAllIsZero() {
    assertThat(histogram.count()).isZero();
    assertThat(histogram.percentileNanos(99)).isZero();
    assertThat(histogram.maxNanos()).isZero();
  }
}
