// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.concurrent.Deadline;
import io.timewheel.concurrent.WheelScheduledExecutor;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Verifies that the two examples print the output in their Javadoc, and that a scheduled executor
 * and a deadline follow the clock of a manual timer.
 */
class ConcurrentExamplesTest {
  @Test
  void scheduledExecutorPrintsTheOutputInItsJavadoc() throws Exception {
    assertThat(Output.of(ScheduledExecutor::main).lines())
        .containsExactly("three heartbeats", "cancelled: true", "terminated: true");
  }

  @Test
  void timedFuturesPrintsTheOutputInItsJavadoc() throws Exception {
    assertThat(Output.of(TimedFutures::main).lines())
        .containsExactly("answer: 42", "pending: 0", "no answer: a guess");
  }

  @Test
  void aScheduledExecutorGoesByTheTimeOfItsTimer() {
    ManualTimer timer = ManualTimer.create();
    WheelScheduledExecutor scheduler =
        WheelScheduledExecutor.builder().timer(timer).executor(Runnable::run).build();
    List<Duration> heartbeats = new ArrayList<>();
    ScheduledFuture<?> heartbeat =
        scheduler.scheduleAtFixedRate(() -> heartbeats.add(timer.elapsed()), 1, 1, TimeUnit.HOURS);
    Deadline deadline = Deadline.after(Duration.ofHours(3), timer.timeSource());

    timer.advanceBy(Duration.ofHours(3));

    assertThat(heartbeats)
        .containsExactly(Duration.ofHours(1), Duration.ofHours(2), Duration.ofHours(3));
    assertThat(deadline.isExpired()).isTrue();
    heartbeat.cancel(false);
    assertThat(timer.pendingTimeouts()).isZero();
  }
}
