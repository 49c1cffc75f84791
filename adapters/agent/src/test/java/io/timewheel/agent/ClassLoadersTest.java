// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the agent with timers that are not on the class path of the application. */
@Tag("jar")
class ClassLoadersTest {
  private static final Path NETTY = Jars.of(io.netty.util.Timer.class);
  private static final Path TESTS = Jars.of(ClassLoadersTest.class);

  /**
   * As in OSGi, the class loader of the timer finds only the classes of the JDK and its own, not
   * those of the agent.
   */
  @Test
  void isolatedClassLoaderGetsTheEngine() throws Exception {
    ChildJvm.Output output =
        ChildJvm.withAgent("tick=1ms")
            .classPath(TESTS.toString())
            .run(IsolatedApplication.class, NETTY.toString(), TESTS.toString());

    assertThat(output.text())
        .contains("sees the agent: false")
        .contains("[Timewheel, tick 1 ms]")
        .contains("left: true")
        .doesNotContain("NoClassDefFoundError");
    assertThat(output.exitCode()).isZero();
  }

  /** The agent replaces each of two copies in two class loaders, because they are two classes. */
  @Test
  void eachClassLoaderIsChecked() throws Exception {
    ChildJvm.Output output =
        ChildJvm.withAgent("tick=1ms")
            .classPath(TESTS + System.getProperty("path.separator") + NETTY)
            .run(IsolatedApplication.class, NETTY.toString(), TESTS.toString(), "and-here");

    assertThat(output.lines().stream().filter(line -> line.contains("] replaced io.netty")))
        .hasSize(2);
    assertThat(output.lines().stream().filter(line -> line.equals("left: true"))).hasSize(2);
  }

  @Test
  void classLoaderWithoutResourcesIsLeftAlone() throws Exception {
    ChildJvm.Output output =
        ChildJvm.withAgent("tick=1ms")
            .classPath(TESTS.toString())
            .run(IsolatedApplication.class, NETTY.toString(), TESTS.toString(), "no-resources");

    assertThat(output.text())
        .contains("left alone: io.netty.util.HashedWheelTimer: its class loader has no resource")
        .contains("left: true")
        .doesNotContain("[Timewheel");
    assertThat(output.exitCode()).isZero();
  }

  /** On JDK 17, the recorder kept the context of the thread that loaded the events. */
  @Test
  void redeployedApplicationIsCollectedWithFlightRecorder() throws Exception {
    ChildJvm.Output output =
        ChildJvm.withAgent("tick=1ms")
            .run(RedeployedApplication.class, NETTY.toString(), TESTS.toString());

    assertThat(output.text()).contains("[Timewheel, tick 1 ms]").contains("collected: true");
    assertThat(output.exitCode()).isZero();
  }

  @Test
  void timerOnTheBootClassPathIsLeftAlone() throws Exception {
    ChildJvm.Output output =
        ChildJvm.withAgent("")
            .jvm("-Xbootclasspath/a:" + NETTY)
            .classPath(TESTS.toString())
            .run(NettyApplication.class);

    assertThat(output.text())
        .contains("left alone: io.netty.util.HashedWheelTimer: it is on the boot class path")
        .contains("left: true");
    assertThat(output.exitCode()).isZero();
  }

  @Test
  void timerThatFailsToAttachIsReported() throws Exception {
    ChildJvm.Output output =
        ChildJvm.withAgent("tick=1ms")
            .jvm("-Djava.system.class.loader=" + LoaderWithoutBridge.class.getName())
            .classPath(TESTS + System.getProperty("path.separator") + NETTY)
            .run(NettyApplication.class);

    assertThat(output.text())
        .contains(
            "[timewheel-agent] a timer keeps its own wheel: java.lang.ClassNotFoundException:"
                + " io.timewheel.agent.Bridge")
        .contains("left: true")
        .doesNotContain("[Timewheel, tick");
    assertThat(output.exitCode()).isZero();
  }

  @Test
  void namedModuleGetsTheEngine() throws Exception {
    List<String> modulePath = List.of(NETTY.toString());
    ChildJvm.Output output =
        ChildJvm.withAgent("tick=1ms")
            .jvm("--module-path", String.join(System.getProperty("path.separator"), modulePath))
            .jvm("--add-modules", "io.netty.common")
            .classPath(TESTS.toString())
            .run(NettyApplication.class);

    assertThat(output.text())
        .contains("module: module io.netty.common")
        .contains("[Timewheel, tick 1 ms]")
        .contains("left: true");
  }

  /**
   * The JVM loads the classes of the application from an archive, except those that the agent
   * changes.
   */
  @Test
  void sharedArchiveOfTheApplicationStaysInUse(@org.junit.jupiter.api.io.TempDir Path directory)
      throws Exception {
    String archive = directory.resolve("app.jsa").toString();
    // A class archive cannot contain classes of a directory on the class path.
    Path application = directory.resolve("app.jar");
    new Jars().classFile("", NettyApplication.class).write(application);
    String classPath = application + System.getProperty("path.separator") + NETTY;
    ChildJvm.Output dump =
        ChildJvm.withoutAgent()
            .jvm("-XX:ArchiveClassesAtExit=" + archive)
            .classPath(classPath)
            .run(NettyApplication.class);
    assertThat(dump.exitCode()).as(dump.text()).isZero();

    ChildJvm.Output output =
        ChildJvm.withAgent("tick=1ms")
            .jvm("-XX:SharedArchiveFile=" + archive, "-Xshare:auto", "-Xlog:class+load")
            .classPath(classPath)
            .run(NettyApplication.class);

    List<String> shared = new ArrayList<>();
    for (String line : output.lines()) {
      if (line.contains("io.netty.util.") && line.contains("source: shared objects file (top)")) {
        shared.add(line);
      }
    }
    assertThat(output.text()).contains("[Timewheel, tick 1 ms]").contains("left: true");
    assertThat(shared).isNotEmpty();
  }

  /** The class of a timeout, and that of the worker, load only when they are first used. */
  @ParameterizedTest
  @ValueSource(
      strings = {"timer loaded", "timer made", "timer started", "timeout started", "worker loaded"})
  void attachedAgentLeavesLoadedTimersAlone(String before) throws Exception {
    ChildJvm.Output output =
        ChildJvm.withoutAgent()
            .jvm("-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading")
            .run(AttachingApplication.class, ChildJvm.jar(), before);

    assertThat(output.text())
        .contains("left alone: io.netty.util.HashedWheelTimer: it was loaded before the agent")
        .contains("netty on Timewheel: false, runs: true")
        .contains("dubbo on Timewheel: true");
    assertThat(output.exitCode()).isZero();
  }
}
