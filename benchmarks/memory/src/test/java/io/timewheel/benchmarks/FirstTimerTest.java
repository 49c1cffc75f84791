// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Uses one JVM for each library: the figures have no meaning. */
@Tag("proof")
@Execution(ExecutionMode.CONCURRENT)
class FirstTimerTest {
  @Test
  void rowHasBothLibrariesAndTheirRatio() throws Exception {
    String millis = "\\d+\\.\\d ms \\(\\d+\\.\\d–\\d+\\.\\d\\)";
    assertThat(FirstTimer.row(Path.of(System.getProperty("java.home"), "bin", "java"), 1))
        .matches("\\| .+ \\| " + millis + " \\| " + millis + " \\| \\d+\\.\\d\\d \\|");
  }
}
