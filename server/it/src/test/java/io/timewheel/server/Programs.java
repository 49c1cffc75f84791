// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs the command in separate processes, and kills the remaining ones at the end. */
final class Programs implements AutoCloseable {
  private static final String READY = "Timewheel ready on ";

  private final List<Process> processes = new ArrayList<>();
  private final List<String> options;

  Programs() {
    this("-Xmx128m");
  }

  /** Runs the command with other options of the JVM, such as {@code -Xmx256m}. */
  Programs(String... options) {
    this.options = List.of(options);
  }

  Process run(Map<String, String> environment, String... args) throws IOException {
    return run(environment, Redirect.PIPE, args);
  }

  /** Runs the command with its errors where they cannot fill an unread pipe. */
  Process run(Map<String, String> environment, Redirect errors, String... args) throws IOException {
    return run(environment, errors, Redirect.PIPE, args);
  }

  Process run(Map<String, String> environment, Redirect errors, Redirect output, String... args)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // Most of these run briefly: the second compiler would cost more than it saves.
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.add("--enable-native-access=ALL-UNNAMED"); // as the manifest of the jar
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add("io.timewheel.server.cli.Main");
    command.addAll(List.of(args));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    Process process = builder.redirectError(errors).redirectOutput(output).start();
    processes.add(process);
    return process;
  }

  /** {@return the URL of a server, once it is ready} */
  static String address(Process server, String host) throws IOException {
    String line = server.inputReader(StandardCharsets.UTF_8).readLine();
    assertThat(line).startsWith(READY + "http://" + host + ":");
    return line.substring(READY.length());
  }

  @Override
  public void close() {
    processes.forEach(Process::destroyForcibly);
  }
}
