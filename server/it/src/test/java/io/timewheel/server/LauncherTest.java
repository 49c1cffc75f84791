// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the script at the root, in a separate tree, with stand-ins for Java and Maven that print
 * their arguments.
 */
class LauncherTest {
  @TempDir private Path directory;
  private Path root;
  private Path jar;

  private record Ended(long pid, int exitCode, String out, String err) {}

  @BeforeEach
  void copy() throws IOException {
    root = Files.createDirectory(directory.resolve("a root"));
    jar = root.resolve("server/app/target/timewheel-server.jar");
    Files.copy(Path.of("..", "..", "timewheel"), root.resolve("timewheel"));
    script("jdk/bin/java", "for each in \"$$\" \"$@\"; do echo \"$each\"; done; exit 7");
    maven("mkdir -p server/app/target && touch server/app/target/timewheel-server.jar");
  }

  private void script(String name, String... lines) throws IOException {
    Path file = directory.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, "#!/bin/sh\n" + String.join("\n", lines) + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private void maven(String build) throws IOException {
    script(
        "bin/mvn",
        "echo \"$@\" >>'" + directory.resolve("built") + "'",
        "echo '[INFO] Building Timewheel Server 1.0 [1/1]'",
        build);
  }

  private Process start(Path launcher, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of("bash", launcher.toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
    builder.environment().put("JAVA_HOME", directory.resolve("jdk").toString());
    builder.environment().merge("PATH", "", (path, none) -> directory.resolve("bin") + ":" + path);
    builder.environment().put("CDPATH", directory.toString());
    builder.environment().remove("TIMEWHEEL_JAVA_OPTS");
    return builder.start();
  }

  private static Ended end(Process process) throws Exception {
    String out = new String(process.getInputStream().readAllBytes(), UTF_8);
    String err = new String(process.getErrorStream().readAllBytes(), UTF_8);
    return new Ended(process.pid(), process.waitFor(), out, err);
  }

  private void pretendItIsBuilt() throws IOException {
    Files.createDirectories(jar.getParent());
    Files.createFile(jar);
  }

  @Test
  void runsTheServerWithItsArgumentsAndExitCode() throws Exception {
    pretendItIsBuilt();
    Path launcher = Path.of("a root", "timewheel");
    Ended ended = end(start(launcher, "serve", "--data", "a b", ""));
    assertThat(ended.exitCode()).isEqualTo(7);
    assertThat(ended.err()).isEmpty();
    assertThat(ended.out().lines())
        .startsWith(Long.toString(ended.pid()))
        .endsWith("-jar", jar.toRealPath().toString(), "serve", "--data", "a b", "");
    assertThat(directory.resolve("built")).doesNotExist();
  }

  @Test
  void theServerMakesFilesForTheirOwnerOnly() throws Exception {
    pretendItIsBuilt();
    script("jdk/bin/java", "umask");
    assertThat(end(start(root.resolve("timewheel"), "serve")).out().strip()).isEqualTo("0077");
  }

  @Test
  void isFoundThroughLinks() throws Exception {
    pretendItIsBuilt();
    Path far = Files.createSymbolicLink(directory.resolve("far"), Path.of("a root", "timewheel"));
    Path near = Files.createSymbolicLink(directory.resolve("near"), far);
    Ended ended = end(start(near, "stats"));
    assertThat(ended.exitCode()).as(ended.err()).isEqualTo(7);
    assertThat(ended.out().lines()).contains(jar.toRealPath().toString());
  }

  @Test
  void buildsOnceForAllCallersAndReportsItOnStandardError() throws Exception {
    List<Process> started = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      started.add(start(root.resolve("timewheel"), "stats"));
    }
    StringBuilder errors = new StringBuilder();
    for (Process process : started) {
      Ended ended = end(process);
      assertThat(ended.exitCode()).as(ended.err()).isEqualTo(7);
      assertThat(ended.out().lines()).startsWith(Long.toString(ended.pid())).endsWith("stats");
      errors.append(ended.err());
    }
    assertThat(directory.resolve("built")).content().hasLineCount(1);
    assertThat(errors.toString().lines())
        .filteredOn(line -> !line.contains("waiting"))
        .containsExactly(
            "timewheel: building, once; this takes some minutes",
            "timewheel: building Timewheel Server 1.0 (1/1)");
  }

  @Test
  void makesTheArchiveOfClassesAgainWhenAnyJarIsNewer() throws Exception {
    pretendItIsBuilt();
    Files.writeString(directory.resolve("jdk/release"), "JAVA_RUNTIME_VERSION=\"17.0.1+1\"\n");
    Path library = Files.createDirectory(jar.resolveSibling("lib")).resolve("core.jar");
    Path archive = jar.resolveSibling("timewheel-java-17.0.1+1.jsa");
    for (Path file : List.of(jar, Files.createFile(library))) {
      Files.setLastModifiedTime(file, FileTime.fromMillis(1_000));
    }
    Files.setLastModifiedTime(Files.createFile(archive), FileTime.fromMillis(2_000));
    end(start(root.resolve("timewheel"), "stats"));
    assertThat(Files.getLastModifiedTime(archive).toMillis()).isEqualTo(2_000);

    Files.setLastModifiedTime(library, FileTime.fromMillis(3_000));
    end(start(root.resolve("timewheel"), "stats"));
    assertThat(Files.getLastModifiedTime(archive).toMillis()).isGreaterThan(3_000);
  }

  @Test
  void aJavaHomeWithoutJavaIsReported() throws Exception {
    Files.delete(directory.resolve("jdk/bin/java"));
    Ended ended = end(start(root.resolve("timewheel"), "stats"));
    assertThat(ended.exitCode()).isEqualTo(1);
    assertThat(ended.err()).contains("no bin/java in JAVA_HOME, which is " + directory);
  }

  @Test
  void aFailedBuildEndsTheScript() throws Exception {
    maven("echo '[ERROR] no space left'; exit 1");
    Ended ended = end(start(root.resolve("timewheel"), "stats"));
    assertThat(ended.exitCode()).isEqualTo(1);
    assertThat(ended.out()).isEmpty();
    assertThat(ended.err()).contains("[ERROR] no space left");
  }
}
