// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.benchmarks.subjects.SubjectKind;
import io.timewheel.benchmarks.workloads.Parameters;
import io.timewheel.benchmarks.workloads.Workload;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProgressTest {
  /** A quarter of a minute each, and nothing for the subject that takes no part. */
  private static final List<Order> ORDERS =
      Order.of(
          List.of(
              new Case(Workload.LOAD, "1M", new Parameters(1, 1, 1, 2, 1_000_000, 0, 0), 1, 1, 15)),
          List.of(SubjectKind.TIMEWHEEL, SubjectKind.EMPTY, SubjectKind.STPE),
          0);

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  private Progress progress(boolean terminal) {
    PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    return new Progress(out, terminal, ORDERS);
  }

  private String printed() {
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void printsPlainLinesWithoutATerminal() {
    Progress progress = progress(false);

    progress.begin(ORDERS.get(0));
    progress.end(ORDERS.get(0));
    progress.fail(ORDERS.get(0), "no reason");
    progress.begin(ORDERS.get(1));

    assertThat(printed().lines().map(String::strip))
        .containsExactly(
            "░".repeat(24) + "    0 %  1 of 3  0:30 left  load, 1M, timewheel, round 1",
            "failed: load, 1M, timewheel, round 1: no reason",
            "█".repeat(12)
                + "░".repeat(12)
                + "   50 %  2 of 3  0:15 left  load, 1M, empty, round 1");
  }

  @Test
  void isOneLineOnATerminal() {
    Progress progress = progress(true);

    progress.begin(ORDERS.get(0));
    progress.begin(ORDERS.get(2));

    assertThat(printed()).startsWith("\r").doesNotContain("\n").contains("stpe");
  }

  @Test
  void timeIsInMinutesAndSeconds() {
    assertThat(Progress.format(Duration.ofSeconds(5))).isEqualTo("0:05");
    assertThat(Progress.format(Duration.ofMinutes(75))).isEqualTo("75:00");
  }
}
