// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the warning of too many timers with a thread. */
class CrowdTest {
  @TempDir Path directory;

  /** Runs in a JVM without other timers. */
  @Test
  void warnsOncePerJvmOfMoreThan64LiveTimers() throws Exception {
    String warning =
        "[WARNING: 65 timers are live in this JVM; share one timer, or stop those no longer"
            + " needed]";

    assertThat(
            ChildJvm.run(
                directory, List.of("-cp", ChildJvm.CLASS_PATH, CrowdProgram.class.getName())))
        .containsExactly(
            "64 timers ran: []", "65 timers ran: " + warning, "66 timers ran: " + warning);
  }

  @Test
  void timersRunIfTheLogOfTheWarningThrows() {
    try (LogCapture log =
        new LogCapture(
            entry -> {
              throw new IllegalStateException("a log that throws");
            })) {
      List<WheelTimer> timers = CrowdProgram.startTimers(Worker.LIVE_LIMIT + 2);
      CrowdProgram.runOneTaskOnEach(timers);
      timers.forEach(timer -> assertThat(timer.stop()).hasSize(1));
      assertThat(log.lines()).hasSizeLessThanOrEqualTo(1);
    }
  }
}
