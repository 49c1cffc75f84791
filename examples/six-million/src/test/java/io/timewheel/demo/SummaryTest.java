// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.TimerStats;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the summary of impossible results, and of possible ones. */
class SummaryTest {
  private final Lags lags = new Lags();

  @Test
  void correctResultsAreReportedAsCorrect() {
    Figures figures = figures(60, new TimerStats(0, 100, 5, 60, 40, 0, 0, 7, 0));

    assertThat(figures.areSound()).isTrue();
    assertThat(verdict(figures)).isEqualTo("Each timeout is accounted for, and none fired early.");
  }

  @Test
  void lostTimeoutIsReported() {
    Figures figures = figures(59, new TimerStats(0, 100, 5, 59, 40, 0, 0, 7, 0));

    assertThat(figures.areSound()).isFalse();
    assertThat(verdict(figures))
        .isEqualTo("FAILED: expired, cancelled and pending do not add up to started.");
  }

  @Test
  void earlyTimeoutIsReported() {
    lags.startingIsOver();
    lags.expired(null, -1);
    Figures figures = figures(60, new TimerStats(0, 100, 5, 60, 40, 0, 0, 7, 0));

    assertThat(figures.areSound()).isFalse();
    assertThat(verdict(figures)).isEqualTo("FAILED: 1 timeout fired early.");
  }

  @Test
  void differingCountsAreReported() {
    Figures figures = figures(60, new TimerStats(1, 100, 5, 59, 40, 0, 0, 7, 0));

    assertThat(figures.areSound()).isFalse();
    assertThat(verdict(figures))
        .startsWith("FAILED: the timer's counts differ: TimerStats[pending=1, ");
  }

  /** 100 started, 10 cancelled, 5 moved, 30 returned by stop(). */
  private Figures figures(long expired, TimerStats stats) {
    return new Figures(
        new Options(100, 1, 1, false),
        100,
        new Figures.Starting(TimeUnit.SECONDS.toNanos(1), 0),
        new Figures.Memory(4_000, 100),
        expired,
        10,
        5,
        30,
        new Levels(TimeUnit.MILLISECONDS.toNanos(1)),
        lags,
        new Figures.WakeUps(7, TimeUnit.SECONDS.toNanos(1)),
        new Figures.WakeUps(0, TimeUnit.SECONDS.toNanos(1)),
        -1,
        stats);
  }

  private static String verdict(Figures figures) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new Summary(figures, new Screen(new PrintStream(bytes, true, UTF_8), false, false)).print();
    return bytes.toString(UTF_8).lines().reduce((first, second) -> second).orElse("");
  }
}
