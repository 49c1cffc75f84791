// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.seams;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.examples.Output;
import org.junit.jupiter.api.Test;

/**
 * Verifies that each library waits on the timer of its example. The tests advance the clock of that
 * timer, which has no effect on any other timer.
 */
class SeamsTest {
  @Test
  void caffeine() throws InterruptedException {
    assertThat(Output.inNoTime(CaffeineExpiry::play))
        .isEqualToNormalizingNewlines(
            """
            after 1.5 s: 1 entry
            removed ann: EXPIRED
            after 4 s: 0 entries
            """);
  }

  @Test
  void failsafe() throws InterruptedException {
    assertThat(Output.inNoTime(FailsafeRetry::play))
        .isEqualToNormalizingNewlines(
            """
            attempt 1
            attempt 2
            attempt 3
            answer: pong
            """);
  }

  @Test
  void reactor() throws InterruptedException {
    assertThat(Output.inNoTime(ReactorTime::play))
        .isEqualToNormalizingNewlines(
            """
            100 ms have passed
            no answer within 200 ms
            """);
  }

  @Test
  void spring() throws InterruptedException {
    assertThat(Output.inNoTime(SpringTasks::play))
        .isEqualToNormalizingNewlines(
            """
            heartbeat
            heartbeat
            heartbeat
            cancelled: true
            """);
  }

  @Test
  void resilience4j() throws InterruptedException {
    assertThat(Output.inNoTime(ResilienceCalls::play))
        .isEqualToNormalizingNewlines(
            """
            attempt 1
            attempt 2
            attempt 3
            answer: pong
            no answer: TimeoutException
            """);
  }
}
