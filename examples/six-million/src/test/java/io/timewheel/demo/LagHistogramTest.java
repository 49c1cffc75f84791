// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LagHistogramTest {
  private final LagHistogram histogram = new LagHistogram();

  @Test
  void percentilesAreExactToThreeDigitsFromNanosecondsToDays() {
    for (long lagNanos = 1; lagNanos <= TimeUnit.DAYS.toNanos(10); lagNanos *= 10) {
      histogram.add(lagNanos);
    }

    assertThat(histogram.percentileNanos(50)).isBetween(10_000_000L, 10_010_000L);
    assertThat(histogram.percentileNanos(100)).isEqualTo(histogram.maxNanos());
    assertThat(histogram.maxNanos()).isBetween(100_000_000_000_000L, 100_100_000_000_000L);
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
