// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each workload, for a moment. */
class LoadTest {
  @TempDir private Path directory;

  @Test
  void everyWorkloadEnds() throws Exception {
    try (ServerProcess server = ServerProcess.start(directory, List.of("-Xmx128m"))) {
      Workloads workloads = new Workloads(server.port(), 1);
      assertThat(workloads.batches()).isPositive();
      assertThat(workloads.singles(2).getTotalCount()).isPositive();
      assertThat(workloads.lag(100).getTotalCount()).isEqualTo(100);
      assertThat(workloads.idle(20).getTotalCount()).isPositive();
      // Fewer only if this process stands still for so long that the claims end first.
      assertThat(workloads.waiting(20, 5).answered()).isBetween(0, 20);
    }
  }
}
