// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.stream.Stream;

/** A real Redis server without persistence, on a free port. */
final class RedisServer implements AutoCloseable {
  private static final int ATTEMPTS = 10;

  private final Process process;
  private final int port;

  private RedisServer(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /** Returns whether there is a {@code redis-server} on the path. */
  static boolean isInstalled() {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .anyMatch(directory -> new File(directory, "redis-server").canExecute());
  }

  /** Starts a server and returns when it accepts connections. */
  static RedisServer start(Path directory) throws IOException {
    StringBuilder output = new StringBuilder();
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      int port = freePort(); // if another process binds the port, the next one is tried
      Process process =
          new ProcessBuilder(
                  "redis-server",
                  "--bind",
                  "127.0.0.1",
                  "--port",
                  Integer.toString(port),
                  "--save",
                  "",
                  "--dir",
                  directory.toString())
              .redirectErrorStream(true)
              .start();
      if (isReady(process.inputReader(), output)) {
        return new RedisServer(process, port);
      }
      process.onExit().join(); // its output has ended
    }
    throw new IOException("redis-server does not start:\n" + output);
  }

  private static boolean isReady(BufferedReader lines, StringBuilder output) throws IOException {
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      output.append(line).append('\n');
      if (line.contains("Ready to accept connections")) {
        return true;
      }
    }
    return false;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  int port() {
    return port;
  }

  @Override
  public void close() {
    process.destroy();
    process.onExit().join();
  }
}
