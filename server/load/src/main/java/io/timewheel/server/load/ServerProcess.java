// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.load;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.timewheel.server.cli.Main;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server in its own process, on a store in a directory. */
final class ServerProcess implements AutoCloseable {
  private static final Pattern READY = Pattern.compile("ready on http://127\\.0\\.0\\.1:(\\d+)");
  private static final Pattern PEAK = Pattern.compile("VmHWM:\\s*(\\d+) kB");

  private final Process process;
  private final int port;

  private ServerProcess(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /**
   * Starts the server, and waits until it is ready.
   *
   * @param directory the directory of the timers and the logs
   * @param options the options of its JVM
   */
  static ServerProcess start(Path directory, List<String> options) throws IOException {
    Path log = directory.resolve("server.log");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName(),
            "serve",
            "--port",
            "0",
            "--data",
            directory.resolve("data").toString(),
            "--audit-log",
            directory.resolve("audit.log").toString()));
    Process process = new ProcessBuilder(command).redirectError(log.toFile()).start();
    BufferedReader said = process.inputReader(UTF_8);
    for (String line = said.readLine(); line != null; line = said.readLine()) {
      Matcher ready = READY.matcher(line);
      if (ready.find()) {
        return new ServerProcess(process, Integer.parseInt(ready.group(1)));
      }
    }
    process.destroyForcibly();
    throw new IOException("the server ended before it was ready; see " + log);
  }

  int port() {
    return port;
  }

  /** {@return the processor time of the process so far} */
  long cpuMicros() {
    return TimeUnit.NANOSECONDS.toMicros(
        process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos());
  }

  /** {@return the peak memory of the process so far} */
  double peakMegabytes() throws IOException {
    Path status = Path.of("/proc", String.valueOf(process.pid()), "status");
    Matcher peak = PEAK.matcher(Files.readString(status));
    if (!peak.find()) {
      throw new IOException(status + " has no line VmHWM");
    }
    return Long.parseLong(peak.group(1)) / 1_024.0;
  }

  @Override
  public void close() throws IOException {
    process.destroy();
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the server ended", e);
    }
  }
}
