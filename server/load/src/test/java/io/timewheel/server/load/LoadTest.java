// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs each workload briefly. Each fails unless every request succeeds and every timer fires once.
 */
@Tag("proof")
class LoadTest {
  /**
   * The memory outside the heap: so little that the test fails if waiting claims occupy some of it.
   */
  private static final List<String> OPTIONS = List.of("-Xmx128m", "-XX:MaxDirectMemorySize=4m");

  @TempDir private Path directory;

  @Test
  void everyWorkloadIsAnsweredCompletely() throws Exception {
    Map<String, Double> figures = new TreeMap<>();
    try (ServerProcess server = ServerProcess.start(directory, OPTIONS)) {
      Workloads workloads = new Workloads(server, figures);
      assertThat(workloads.batches("batches", 1)).isPositive();
      assertThat(workloads.singles("singles", 2, 1).getTotalCount()).isPositive();
      assertThat(workloads.lag("lag", 100, 1).getTotalCount()).isEqualTo(100);
      workloads.crowd(600, 5, Duration.ofSeconds(1));
      workloads.silent(20);
      assertThat(server.peakMegabytes()).isPositive();
    }
    assertThat(figures)
        .containsKeys(
            "batches.perSecond", "singles.p99Millis", "lag.p99Millis", "crowd.lastMillis");
  }
}
