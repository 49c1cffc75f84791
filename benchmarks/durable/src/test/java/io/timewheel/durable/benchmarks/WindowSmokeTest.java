// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Runs the workload whose figure is the heap of this JVM. No other test may allocate meanwhile. */
@Tag("proof")
@Isolated
@Timeout(300)
final class WindowSmokeTest {
  @TempDir private Path directory;

  @Test
  void looksAtTheWindow() throws Exception {
    Parameters parameters = Parameters.parse("timers=2000,inMillis=55000");

    var figures = Workload.WINDOW.run(SubjectKind.OURS, directory, parameters);

    assertThat(figures.get("heapBytesPerTimer")).isPositive();
  }
}
