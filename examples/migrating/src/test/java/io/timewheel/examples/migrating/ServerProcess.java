// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples.migrating;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;

/** A server of the system, in a process of its own. */
record ServerProcess(Process process, int port) implements AutoCloseable {
  /** Skips the test, and prints the reason, if a program is not installed. */
  static void assumeInstalled(String debianPackage, Path program) {
    if (!Files.isExecutable(program)) {
      String why = "SKIPPED, not tested: no " + program + "; install the package " + debianPackage;
      System.err.println(why); // surefire does not print why a test was skipped
      Assumptions.abort(why);
    }
  }

  /** Starts a server, and returns when a line of its output contains a text. */
  static ServerProcess start(
      int port, Map<String, String> environment, String ready, String... command)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(List.of(command)).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.start();
    BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
    StringBuilder output = new StringBuilder();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      output.append(line).append('\n');
      if (line.contains(ready)) {
        readOn(lines);
        return new ServerProcess(process, port);
      }
    }
    throw new IOException(command[0] + " does not start:\n" + output);
  }

  /** Reads the rest of the output, so that the pipe does not fill up. */
  private static void readOn(BufferedReader lines) {
    Thread reader =
        new Thread(
            () -> {
              try (lines) {
                lines.transferTo(Writer.nullWriter());
              } catch (IOException e) {
                // The server has ended.
              }
            });
    reader.setDaemon(true);
    reader.start();
  }

  /** {@return a port on which no program listens} */
  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Override
  public void close() {
    List<ProcessHandle> children = process.descendants().toList();
    process.destroyForcibly().onExit().join();
    children.forEach(ProcessHandle::destroyForcibly);
  }
}
