// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HeadlineTest {
  private final Recordings recordings =
      Recordings.of("timewheel", "timewheel-hashed", "netty42", "kafka", "agrona");

  private String text() {
    return new Headline(recordings.measurements()).text();
  }

  @Test
  void plotsTheMediansOnOneScaleBestFirst() {
    recordings
        .values("churn", "1 thread", "timewheel", "opsPerSecond", 10e6, 12e6, 90e6)
        .values("churn", "1 thread", "agrona", "opsPerSecond", 18e6)
        .values("churn", "1 thread", "kafka", "opsPerSecond", 0.2e6)
        .values("churn", "2 threads", "kafka", "opsPerSecond", 3e6)
        .values("churn", "2 threads", "timewheel", "opsPerSecond", 24e6);

    assertThat(text())
        .startsWith(
            """
            ```
            start and cancel, million a second

                                  1 thread                         2 threads
            The agrona        18  ██████████████████            –
            The timewheel     12  ████████████                 24  ████████████████████████
            The kafka      0.200                                3  ███
            ```

            """);
  }

  @Test
  void withoutThroughputThereIsNoPlot() {
    recordings.values("idle", "6M pending", "timewheel", "cpuMillis", 40);

    assertThat(text())
        .doesNotContain("```")
        .contains("| idle with 6M pending: ms of CPU in 20 s | 40 |");
  }

  @Test
  void showsTheBestPeerAndMarksWhereItIsBetter() {
    recordings
        .values("expire", "6M in a second", "timewheel", "overrunMillis", 300)
        .values("expire", "6M in a second", "timewheel-hashed", "overrunMillis", 2)
        .values("expire", "6M in a second", "netty42", "overrunMillis", 1.5)
        .values("expire", "6M in a second", "kafka", "overrunMillis", 3000)
        .values("load", "6M, 1 s to 24 h", "timewheel", "heapBytesPerPending", 40)
        .values("load", "6M, 1 s to 24 h", "netty42", "heapBytesPerPending", 56)
        .values("load", "6M, 1 s to 24 h", "kafka", "heapBytesPerPending", 48)
        .values("load", "6M, 1 s to 24 h", "agrona", "heapBytesPerPending", 30);

    assertThat(text())
        .contains("overruns it | 300 | 2 | 1.50 | 1.50 The netty42<br>**we lose** |\n")
        .contains("with 6M pending | 40 | – | 56 | 30 The agrona<br>**we lose** |\n");
  }

  @Test
  void briefTableHasThreeRowsAndTwoTimers() {
    recordings
        .values("churn", "2 threads", "timewheel", "opsPerSecond", 24e6)
        .values("churn", "2 threads", "netty42", "opsPerSecond", 3e6)
        .values("load", "6M, 1 s to 24 h", "timewheel", "heapBytesPerPending", 40)
        .values("load", "6M, 1 s to 24 h", "netty42", "heapBytesPerPending", 56);

    assertThat(new Headline(recordings.measurements()).brief())
        .isEqualTo(
            """
            |  | The timewheel | The netty42 | best of the others |
            |---|--:|--:|--:|
            | start and cancel, 2 threads: million a second | 24 | 3 | 3 The netty42 |
            | memory: bytes of heap per pending timeout, with 6M pending | 40 | 56 | 56 The netty42 |
            | mass expiry, 6M due within a second: ms by which the last one overruns it | – | – | – |
            """);
  }
}
