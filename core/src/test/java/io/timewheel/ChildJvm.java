// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.testing.Await;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a test program in a separate JVM, with its own options. */
final class ChildJvm {
  static final String MAIN = MainClasses.directory().toString();
  static final String TESTS = location(ChildJvm.class);
  static final String CLASS_PATH =
      String.join(File.pathSeparator, MAIN, TESTS, location(Await.class));

  private ChildJvm() {}

  /**
   * Returns the output of the program after its end. The program must succeed and print no errors.
   */
  static List<String> run(Path directory, List<String> arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:TieredStopAtLevel=1"); // faster for a JVM that lives a second
    command.addAll(arguments);
    Path output = directory.resolve("output.txt");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).as("the end of %s", command).isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(Files.readString(output)).doesNotContain("Exception", "Error");
    assertThat(process.exitValue()).isZero();
    return Files.readAllLines(output);
  }

  private static String location(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }
}
