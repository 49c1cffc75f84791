// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.stream.Stream;

/** A {@code redis-server} of the system, without persistence, on a free port. */
record RedisServer(Process process, int port) implements AutoCloseable {
  private static final String SKIPPED =
      "SKIPPED: there is no redis-server on the PATH, so Redis clients were not tested";

  /** Skips the test, and prints the reason, if there is no {@code redis-server}. */
  static void assumeInstalled() {
    if (!isInstalled()) {
      System.err.println(SKIPPED); // surefire does not print why a test was skipped
    }
    assumeTrue(isInstalled(), SKIPPED);
  }

  static boolean isInstalled() {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .anyMatch(directory -> new File(directory, "redis-server").canExecute());
  }

  /** Starts a server and returns when it accepts connections. */
  static RedisServer start(Path directory) throws IOException {
    String output = "";
    for (int attempt = 0; attempt < 10; attempt++) {
      int port = freePort(); // if another process binds the port, the next one is tried
      String options = "redis-server --bind 127.0.0.1 --port " + port + " --appendonly no";
      Process process =
          new ProcessBuilder(options.split(" "))
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .start();
      BufferedReader lines = process.inputReader();
      output = "";
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.contains("Ready to accept connections")) {
          return new RedisServer(process, port);
        }
        output += line + "\n";
      }
    }
    throw new IOException("redis-server does not start:\n" + output);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** Makes the server at a port accept commands without answering them, for an hour. */
  static void pause(int port) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.getOutputStream().write("CLIENT PAUSE 3600000 ALL\r\n".getBytes(US_ASCII));
      new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII)).readLine();
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }
}
