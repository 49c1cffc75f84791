// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests timers in JVMs that run out of memory and later have free memory again. */
class LittleMemoryTest {
  @TempDir Path directory;

  /** Opening a slot needs new slots, for which there is no memory. */
  @Test
  @Tag("promise-29")
  void timerThreadRetriesUntilThereIsMemory() throws Exception {
    assertThat(run("expire")).containsExactly("out of memory", "runs again");
  }

  /** If a stop runs out of memory at any point, a later stop returns all timeouts. */
  @Test
  @Tag("promise-23")
  void stopThatRunsOutOfMemoryLosesNothing() throws Exception {
    assertThat(run("stop")).containsExactly("out of memory", "returned: all", "called back: all");
  }

  private List<String> run(String what) throws Exception {
    return ChildJvm.run(
        directory,
        List.of(
            "-Xmx16m",
            "-XX:+UseSerialGC",
            "-XX:-UseTLAB", // otherwise, the timer thread may have some memory left
            "-cp",
            ChildJvm.CLASS_PATH,
            LittleMemoryProgram.class.getName(),
            what));
  }
}
