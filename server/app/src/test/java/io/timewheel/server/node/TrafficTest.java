// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.api.StatsAnswer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests rates, minutes and lags, second by second on a clock of the test. */
class TrafficTest {
  private static final Instant START = Instant.parse("2026-12-01T09:00:00Z");

  private final Traffic traffic = new Traffic();

  /** Samples at a second, with these total counts of fired and failed attempts. */
  private void sample(long second, long fired, long failed) {
    traffic.fired.add(fired - traffic.fired.sum());
    traffic.failed.add(failed - traffic.failed.sum());
    traffic.sample(START.plusSeconds(second));
  }

  private NamespaceTraffic.Seen seen() {
    return new NamespaceTraffic.Seen(List.of(traffic));
  }

  @Test
  void ratesAreThoseOfTheLastTenSeconds() {
    assertThat(traffic.rates()).isEqualTo(new StatsAnswer.Rates(0, 0, 0));
    for (int second = 0; second <= 100; second++) {
      traffic.scheduled.increment();
      sample(second, second * 3L, second / 2);
    }
    assertThat(traffic.rates()).isEqualTo(new StatsAnswer.Rates(1, 3, 0.5));
    for (int second = 101; second <= 105; second++) {
      sample(second, 300, 50);
    }
    assertThat(traffic.rates()).isEqualTo(new StatsAnswer.Rates(0.5, 1.5, 0.3));
    sample(110, 300, 50);
    assertThat(traffic.rates()).isEqualTo(new StatsAnswer.Rates(0, 0, 0));
  }

  @Test
  void aMinuteContainsItsCounts() {
    traffic.scheduled.increment();
    traffic.scheduled.increment();
    sample(0, 5, 1);
    sample(59, 7, 1);
    traffic.lags.add(3);
    sample(60, 9, 2);
    assertThat(seen().minutes())
        .extracting(StatsAnswer.Minute::at)
        .containsExactly(START, START.plusSeconds(60));
    StatsAnswer.Minute first = seen().minutes().get(0);
    assertThat(first.scheduled()).isEqualTo(2);
    assertThat(first.fired()).isEqualTo(7);
    assertThat(first.failed()).isEqualTo(1);
    assertThat(first.lagMax()).isNull();
    StatsAnswer.Minute last = seen().minutes().get(1);
    assertThat(last.scheduled()).isZero();
    assertThat(last.fired()).isEqualTo(2);
    assertThat(last.failed()).isEqualTo(1);
    assertThat(last.lagMax()).isEqualTo(Duration.ofMillis(3));
  }

  @Test
  void anHourIsRetainedWithItsLags() {
    traffic.lags.add(9_000);
    sample(0, 1, 0);
    traffic.lags.add(1);
    sample(60, 2, 0);
    assertThat(seen().lag().count()).isEqualTo(2);
    assertThat(seen().lag().max()).isEqualTo(Duration.ofSeconds(9));
    for (int minute = 2; minute <= 60; minute++) {
      sample(minute * 60L, 2, 0);
    }
    assertThat(seen().minutes()).hasSize(60);
    assertThat(seen().minutes().get(0).at()).isEqualTo(START.plusSeconds(60));
    assertThat(seen().lag().count()).isEqualTo(1);
    assertThat(seen().lag().max()).isEqualTo(Duration.ofMillis(1));
  }

  @Test
  void minutesWithoutSamplesAreThereAndEmpty() {
    sample(0, 1, 0);
    sample(5 * 60, 1, 0);
    assertThat(seen().minutes()).hasSize(6);
    assertThat(seen().minutes())
        .extracting(StatsAnswer.Minute::fired)
        .containsExactly(1L, 0L, 0L, 0L, 0L, 0L);
    sample(5 * 60 + 7 * 24 * 3_600, 2, 0);
    assertThat(seen().minutes()).hasSize(1);
  }

  @Test
  void aClockThatGoesBackLosesNothing() {
    sample(59, 1, 0);
    sample(61, 3, 0);
    sample(58, 4, 0);
    assertThat(seen().minutes()).extracting(StatsAnswer.Minute::fired).containsExactly(1L, 3L);
    assertThat(traffic.rates()).isEqualTo(new StatsAnswer.Rates(0, 0, 0));
    sample(-3_600, 6, 0);
    assertThat(seen().minutes()).extracting(StatsAnswer.Minute::fired).containsExactly(2L);
  }

  @Test
  void percentilesAreBoundsAndTheLongestLagAtMost() {
    for (int i = 0; i < 99; i++) {
      traffic.lags.add(2);
    }
    traffic.lags.add(70);
    sample(0, 100, 0);
    assertThat(seen().lag().percentile(50)).isEqualTo(Duration.ofMillis(2));
    assertThat(seen().lag().percentile(99)).isEqualTo(Duration.ofMillis(2));
    assertThat(seen().lag().percentile(100)).isEqualTo(Duration.ofMillis(70));
    for (int i = 0; i < 10; i++) {
      traffic.lags.add(Duration.ofHours(2).toMillis());
    }
    sample(1, 110, 0);
    assertThat(seen().lag().percentile(99)).isEqualTo(Duration.ofHours(2));
    assertThat(new LagCounts().percentile(99)).isEqualTo(Duration.ZERO);
  }
}
