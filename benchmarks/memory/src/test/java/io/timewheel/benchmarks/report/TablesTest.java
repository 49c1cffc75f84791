// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.benchmarks.results.Results;
import io.timewheel.benchmarks.workloads.Workload;
import org.junit.jupiter.api.Test;

class TablesTest {
  private static String tableOf(Recordings recordings) {
    return new Tables(recordings.measurements()).of(Workload.CHURN);
  }

  @Test
  void wholeTable() {
    Results imaginary = Results.read(Recordings.imaginary());

    assertThat(new Tables(new Measurements(imaginary)).of(Workload.CHURN))
        .isEqualTo(
            """
            ### churn, 1 thread

            |  | million a second<br>more is better | ns of CPU each<br>less is better | bytes allocated each<br>less is better |
            |---|--:|--:|--:|
            | **Timewheel hierarchical** | 20 (10–22) | 50 (45.5–100) | 40 |
            | Netty 4.2 HashedWheelTimer | 10 (8–11)<br>2 × | 300 (273–375)<br>6 × | 56<br>1.40 × |
            | Kafka SystemTimer<sup>1</sup> | 3<br>5 × | 400<br>6 × | 80<br>2 × |
            | Agrona DeadlineTimerWheel | 40<br>0.500 × **we lose** | 25<br>0.500 × **we lose** | 40<br>1 × |
            | ScheduledThreadPoolExecutor<sup>2</sup> | – | – | – |
            | the clock and an allocation | 40 (20–44)<br>0.500 × | 25 (22.7–50)<br>0.500 × | 40<br>1 × |

            1. Kafka SystemTimer: failed: java.lang.OutOfMemoryError: &lt;Java heap space> \\| 4 GB (1 of 3 runs)
            2. ScheduledThreadPoolExecutor: absent: it rests today

            Not part of this: empty JVM.

            Measured in 3 rounds.
            """);
  }

  @Test
  void lossIsMarkedAndWinAndDrawAreNot() {
    Recordings recordings = Recordings.of("timewheel", "netty42", "stpe", "dubbo");
    recordings
        .values("churn", "1 thread", "timewheel", "opsPerSecond", 10e6)
        .values("churn", "1 thread", "netty42", "opsPerSecond", 5e6)
        .values("churn", "1 thread", "stpe", "opsPerSecond", 20e6)
        .values("churn", "1 thread", "dubbo", "opsPerSecond", 10e6);

    assertThat(tableOf(recordings))
        .contains("| The netty42 | 5<br>2 × |")
        .contains("| The stpe | 20<br>0.500 × **we lose** |")
        .contains("| The dubbo | 10<br>1 × |");
  }

  @Test
  void siblingsAndBoundsAreNeverMarkedAsLosses() {
    Recordings recordings = Recordings.of("timewheel", "timewheel-polled", "floor");
    recordings
        .values("churn", "1 thread", "timewheel", "opsPerSecond", 10e6)
        .values("churn", "1 thread", "timewheel-polled", "opsPerSecond", 20e6)
        .values("churn", "1 thread", "floor", "opsPerSecond", 40e6);

    assertThat(tableOf(recordings)).contains("0.500 ×").contains("0.250 ×").doesNotContain("lose");
  }

  @Test
  void absentPeerIsARowAndAbsentBoundIsNot() {
    Recordings recordings = Recordings.of("timewheel", "kafka", "floor");
    recordings
        .values("churn", "1 thread", "timewheel", "opsPerSecond", 10e6)
        .absent("churn", "1 thread", "kafka", 0, "counts sheep")
        .absent("churn", "1 thread", "floor", 0, "is no timer");

    assertThat(tableOf(recordings))
        .contains("| The kafka<sup>1</sup> | – |", "\n1. The kafka: absent: counts sheep\n")
        .contains("\nNot part of this: The floor.\n\nMeasured in 1 round.\n")
        .doesNotContain("is no timer");
  }

  @Test
  void variantsKeepTheirOrderAndEmptyMetricsAreOmitted() {
    Recordings recordings = Recordings.of("timewheel");
    recordings
        .values("churn", "2 threads", "timewheel", "opsPerSecond", 10e6)
        .values("churn", "1 thread", "timewheel", "bytesPerOp", 40);

    assertThat(tableOf(recordings))
        .containsSubsequence(
            "### churn, 2 threads\n\n|  | million a second<br>more is better |\n",
            "### churn, 1 thread\n\n|  | bytes allocated each<br>less is better |\n");
  }

  @Test
  void failureWithoutFiguresIsARowWithItsReason() {
    Recordings recordings = Recordings.of("timewheel", "kafka");
    recordings
        .values("churn", "1 thread", "timewheel", "opsPerSecond", 10e6, 10e6)
        .failed("churn", "1 thread", "kafka", 0, "exit code 3\nand\n  more")
        .failed("churn", "1 thread", "kafka", 1, "exit code 4");

    assertThat(tableOf(recordings))
        .contains("| The kafka<sup>1</sup> <sup>2</sup> | – |")
        .contains("\n1. The kafka: failed: exit code 3 and more (1 of 2 runs)\n")
        .contains("\n2. The kafka: failed: exit code 4 (1 of 2 runs)\n");
  }
}
