// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the agent's jar with an application in a separate JVM. */
@Tag("jar")
class AgentJarTest {
  @Test
  void replacesTheTimerOfAnApplication() throws Exception {
    ChildJvm.Output output = ChildJvm.withAgent("").run(NettyApplication.class);

    assertThat(output.text())
        .contains("[timewheel-agent] replaced io.netty.util.HashedWheelTimer of file:")
        .contains("(tick: the application's own)")
        .containsPattern("timer: io.netty.util.HashedWheelTimer@.* \\[Timewheel, tick 100 ms]")
        .contains("cancelled: true")
        .contains("left: true");
    assertThat(output.exitCode()).isZero();
  }

  @Test
  void removedAgentLeavesTheApplicationUnchanged() throws Exception {
    Path netty = Jars.of(io.netty.util.Timer.class);
    byte[] before = Files.readAllBytes(netty);
    ChildJvm.withAgent("tick=1ms").run(NettyApplication.class);
    ChildJvm.Output output = ChildJvm.withoutAgent().run(NettyApplication.class);

    assertThat(Files.readAllBytes(netty)).isEqualTo(before);
    assertThat(output.text()).contains("left: true").doesNotContainIgnoringCase("timewheel, tick");
    assertThat(output.exitCode()).isZero();
  }

  @Test
  void usesTheTickOfTheOptionAndReportsAtExit() throws Exception {
    ChildJvm.Output output = ChildJvm.withAgent("tick=1ms,report=exit").run(NettyApplication.class);

    assertThat(output.text())
        .contains("[Timewheel, tick 1 ms]")
        .contains("[timewheel-agent] timers on Timewheel:")
        .contains("io.netty.util.HashedWheelTimer: 1 timer(s), 0 pending, 100 expired, late p50 ");
  }

  @Test
  void comparesWithoutReplacing() throws Exception {
    ChildJvm.Output output = ChildJvm.withAgent("report=compare").run(NettyApplication.class);

    assertThat(output.text())
        .contains("[timewheel-agent] watches io.netty.util.HashedWheelTimer")
        .contains("[own wheel, watched by Timewheel]")
        .contains("[timewheel-agent] the application's own timers:")
        .contains("io.netty.util.HashedWheelTimer: 1 timer(s)")
        .contains(" 100 expired, late p50 ");
  }

  @Test
  void leavesAnExcludedTimerAlone() throws Exception {
    ChildJvm.Output output =
        ChildJvm.withAgent("exclude=com.example.*:io.netty.*").run(NettyApplication.class);

    assertThat(output.text())
        .contains("[timewheel-agent] left alone: io.netty.util.HashedWheelTimer: the options")
        .contains("left: true")
        .doesNotContain("[Timewheel");
  }

  @Test
  void stopsTheJvmForAnInvalidOption() throws Exception {
    ChildJvm.Output output = ChildJvm.withAgent("tick=0ms").run(NettyApplication.class);

    assertThat(output.lines())
        .containsExactly(
            "[timewheel-agent] tick: 0ms (expected: a number and ns, us, ms or s, as in 1ms; more"
                + " than zero, at most 86400s)");
    assertThat(output.exitCode()).isEqualTo(2);
  }

  /** As with {@code JAVA_TOOL_OPTIONS} and the command line, or with a copy of the jar. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void secondAgentIsIgnored(boolean copy, @TempDir Path directory) throws Exception {
    Path jar = Path.of(ChildJvm.jar());
    Path second = copy ? Files.copy(jar, directory.resolve("copy.jar")) : jar;

    ChildJvm.Output output =
        ChildJvm.withAgent("tick=2ms")
            .jvm("-javaagent:" + second + "=tick=3ms")
            .run(NettyApplication.class);

    assertThat(output.text())
        .containsOnlyOnce(
            "[timewheel-agent] the agent is given twice; ignored: tick=3ms. Remove one of the two")
        .containsOnlyOnce("replaced io.netty.util.HashedWheelTimer of file:")
        .contains("[Timewheel, tick 2 ms]")
        .contains("left: true");
    assertThat(output.exitCode()).isZero();
  }

  @Test
  void jarHasNothingOutsideItsPackage() throws IOException {
    try (JarFile jar = new JarFile(ChildJvm.jar())) {
      List<String> foreign =
          jar.stream()
              .map(JarEntry::getName)
              .filter(name -> name.endsWith(".class"))
              .filter(name -> !name.startsWith("io/timewheel/agent/"))
              .toList();

      assertThat(foreign).isEmpty();
    }
  }
}
