// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Timers in JVMs that have run out of memory, really, and get some back. */
class LittleMemoryTest {
  @TempDir Path directory;

  /** Opening a slot takes new slots, which there is no memory for. */
  @Test
  void workerTriesAgainUntilThereIsMemory() throws Exception {
    assertThat(run("expire")).containsExactly("out of memory", "runs again");
  }

  /** Whatever a stop runs out of memory for, one that is called later returns everything. */
  @Test
  void stopThatRunsOutOfMemoryLosesNothing() throws Exception {
    assertThat(run("stop")).containsExactly("out of memory", "returned: all", "called back: all");
  }

  private List<String> run(String what) throws Exception {
    return ChildJvm.run(
        directory,
        List.of(
            "-Xmx16m",
            "-XX:+UseSerialGC",
            "-XX:-UseTLAB", // or the timer thread has some memory left when there is none
            "-cp",
            ChildJvm.CLASS_PATH,
            LittleMemoryProgram.class.getName(),
            what));
  }
}
