// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProgressBarTest {
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final PrintStream nowhere = new PrintStream(new ByteArrayOutputStream());

  @Test
  void beforeTheFirstThereIsNoTimeLeftToTell() {
    assertThat(bar(false).text(0, SECOND_NANOS).stripTrailing())
        .isEqualTo("Starting   ....................   0 %            0    0.00 M/s");
  }

  @Test
  void halfWayItTellsTheRateAndTheTimeLeft() {
    assertThat(bar(false).text(3_000_000, SECOND_NANOS / 2))
        .isEqualTo("Starting   ##########..........  50 %    3,000,000    6.00 M/s   0.5 s left");
  }

  @Test
  void atTheEndItTellsHowLongItTook() {
    assertThat(bar(true).text(6_000_000, SECOND_NANOS))
        .isEqualTo("Starting   ████████████████████ 100 %    6,000,000    6.00 M/s   in 1.0 s");
  }

  @Test
  void fitsIntoALine() {
    ProgressBar longest = new ProgressBar(new Screen(nowhere, true, true), "Starting", 100_000_000);

    assertThat(longest.text(10_000_000, 100 * SECOND_NANOS).length()).isLessThan(Screen.WIDTH);
  }

  private ProgressBar bar(boolean blocks) {
    return new ProgressBar(new Screen(nowhere, true, blocks), "Starting", 6_000_000);
  }
}
