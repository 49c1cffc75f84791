// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static java.util.concurrent.TimeUnit.MINUTES;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs a main class of the tests in a separate JVM, with or without the agent. */
final class ChildJvm {
  private final List<String> command = new ArrayList<>();
  private String classPath = System.getProperty("java.class.path");

  /** The result of a run: the exit code and the output of the JVM. */
  record Output(int exitCode, String text) {
    List<String> lines() {
      return text.lines().toList();
    }
  }

  private ChildJvm() {
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-ea");
    // Faster for a JVM that lives a second.
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-XX:+UseSerialGC");
  }

  static ChildJvm withAgent(String options) {
    return new ChildJvm().jvm("-javaagent:" + jar() + "=" + options);
  }

  static ChildJvm withoutAgent() {
    return new ChildJvm();
  }

  static String jar() {
    return System.getProperty("timewheel.agent.jar");
  }

  ChildJvm jvm(String... options) {
    command.addAll(List.of(options));
    return this;
  }

  /** Makes the output end with the time and the CPU time of the JVM, in seconds. */
  ChildJvm timed() {
    String script = "TIMEFORMAT='real %R user %U sys %S'; time \"$@\"";
    command.addAll(0, List.of("bash", "-c", script, "bash"));
    return this;
  }

  ChildJvm classPath(String path) {
    classPath = path;
    return this;
  }

  Output run(Class<?> main, String... arguments) throws IOException, InterruptedException {
    return run(main.getName(), arguments);
  }

  Output runJar(Path jar) throws IOException, InterruptedException {
    command.addAll(List.of("-jar", jar.toString()));
    return run();
  }

  Output run(String main, String... arguments) throws IOException, InterruptedException {
    command.addAll(List.of("-cp", classPath, main));
    command.addAll(List.of(arguments));
    return run();
  }

  private Output run() throws IOException, InterruptedException {
    Path output = Files.createTempFile("child", ".log");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      // If the application does not end, it is killed, and its exit code fails the test.
      if (!process.waitFor(5, MINUTES)) {
        process.destroyForcibly().waitFor();
      }
      return new Output(process.exitValue(), Files.readString(output));
    } finally {
      Files.delete(output);
    }
  }
}
