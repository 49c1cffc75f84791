// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.Timer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.loader.launch.JarLauncher;

/** Tests the agent in containers, whose class loaders do not see the agent or the class path. */
@Tag("jar")
class ContainersTest {
  @TempDir private Path directory;

  @Test
  void springBootJarRunsOnTimewheel() throws Exception {
    Path jar =
        new Jars()
            .attribute("Main-Class", JarLauncher.class.getName())
            .attribute("Start-Class", NettyApplication.class.getName())
            .attribute("Spring-Boot-Classes", "BOOT-INF/classes/")
            .attribute("Spring-Boot-Lib", "BOOT-INF/lib/")
            .contentOf(Jars.of(JarLauncher.class))
            .classFile("BOOT-INF/classes/", NettyApplication.class)
            .jarOf("BOOT-INF/lib/netty.jar", Timer.class)
            .write(directory.resolve("application.jar"));

    ChildJvm.Output output = ChildJvm.withAgent("tick=1ms").runJar(jar);

    assertReplaced(output, "jar:nested:" + jar + "/!BOOT-INF/lib/netty.jar!/");
  }

  /**
   * The server has Netty on its class path. The web application has its own copy, which its class
   * loader prefers.
   */
  @Test
  void tomcatAndItsWebApplicationRunOnTimewheel() throws Exception {
    Path libraries = Files.createDirectories(directory.resolve("WEB-INF/lib"));
    new Jars().classFile("", NettyApplication.class).write(libraries.resolve("application.jar"));
    Path netty = Files.copy(Jars.of(Timer.class), libraries.resolve("netty.jar"));

    ChildJvm.Output output =
        ChildJvm.withAgent("tick=1ms").run(TomcatApplication.class, directory.toString());

    assertThat(output.text()).contains("class loader: ParallelWebappClassLoader");
    assertReplaced(output, "file:" + netty);
    assertReplaced(output, "file:" + Jars.of(Timer.class));
    assertThat(output.lines()).filteredOn("left: true"::equals).hasSize(2);
  }

  @Test
  void osgiBundleRunsOnTimewheel() throws Exception {
    Path bundle =
        new Jars()
            .attribute("Bundle-ManifestVersion", "2")
            .attribute("Bundle-SymbolicName", "application")
            .attribute("Bundle-ClassPath", ".,netty.jar")
            .attribute("Import-Package", "javax.security.cert")
            .classFile("", NettyApplication.class)
            .jarOf("netty.jar", Timer.class)
            .write(directory.resolve("bundle.jar"));

    ChildJvm.Output output =
        ChildJvm.withAgent("tick=1ms").run(OsgiApplication.class, bundle.toString());

    assertThat(output.text()).contains("the bundle does not see the agent");
    assertReplaced(output, "");
  }

  /** Tests a JVM with only the modules that the agent needs, like one made by jlink. */
  @Test
  void smallJvmRunsOnTimewheel() throws Exception {
    ChildJvm.Output output =
        ChildJvm.withAgent("tick=1ms,report=exit")
            .jvm("--limit-modules", "java.instrument,java.logging")
            .run(NettyApplication.class);

    assertReplaced(output, "file:" + Jars.of(Timer.class));
    assertThat(output.text()).contains("100 expired").contains("timer threads 0 ms CPU");
  }

  private static void assertReplaced(ChildJvm.Output output, String location) {
    assertThat(output.text())
        .contains("] replaced io.netty.util.HashedWheelTimer of " + location)
        .contains("[Timewheel, tick 1 ms]")
        .contains("left: true")
        .doesNotContain("NoClassDefFoundError");
    assertThat(output.exitCode()).as(output.text()).isZero();
  }
}
