// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.testing.Await;
import java.io.File;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/**
 * Debian's nginx with the configuration in {@code server/dist}, on one port with TLS and on one
 * without. It needs no privileges; if the test runs as root, it runs as the user nobody.
 */
final class Nginx implements AutoCloseable {
  static final File PROGRAM = new File("/usr/sbin/nginx");
  private static final String NOBODY = "65534";

  private final Path directory;
  private Process process;
  private int tlsPort;
  private int plainPort;

  /** Starts nginx in a directory with the files rsa.crt and rsa.key. */
  Nginx(Path directory, int serverPort) throws IOException {
    this.directory = directory;
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
    do { // another process may take a port first
      try (ServerSocket tls = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
          ServerSocket plain = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        tlsPort = tls.getLocalPort();
        plainPort = plain.getLocalPort();
      }
      process = start(serverPort);
      Await.until("nginx", () -> !process.isAlive() || (connects(tlsPort) && connects(plainPort)));
    } while (!isRunning());
  }

  int tlsPort() {
    return tlsPort;
  }

  int plainPort() {
    return plainPort;
  }

  /** Changes only paths and ports of the configuration, and enables its limit. */
  private Process start(int serverPort) throws IOException {
    String listen = "listen 127.0.0.1:%d ssl;\n    listen 127.0.0.1:%d;";
    String site =
        Files.readString(Path.of("..", "dist", "nginx.conf"))
            .replace("listen 443 ssl;", listen.formatted(tlsPort, plainPort))
            .replace("server 127.0.0.1:7400", "server 127.0.0.1:" + serverPort)
            .replace("#limit_conn", "limit_conn")
            .replace("/etc/nginx/timewheel.crt", directory.resolve("rsa.crt").toString())
            .replace("/etc/nginx/timewheel.key", directory.resolve("rsa.key").toString());
    assertThat(site).doesNotContain("listen 443", ":7400", "/etc/nginx/timewheel", "#limit_conn");
    StringBuilder main = new StringBuilder("daemon off;\nmaster_process off;\n");
    main.append("pid ").append(directory.resolve("pid")).append(";\n");
    main.append("events {}\nhttp {\naccess_log off;\n");
    for (String kind : List.of("client_body", "proxy", "fastcgi", "uwsgi", "scgi")) {
      main.append(kind).append("_temp_path ").append(directory.resolve(kind)).append(";\n");
    }
    Path file = Files.writeString(directory.resolve("nginx.conf"), main + site + "}\n");
    for (String name : List.of("nginx.conf", "rsa.crt", "rsa.key")) {
      Path each = directory.resolve(name);
      Files.setPosixFilePermissions(each, PosixFilePermissions.fromString("rw-r--r--"));
    }
    List<String> command = new ArrayList<>();
    if (System.getProperty("user.name").equals("root")) {
      command.addAll(
          List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"));
    }
    String log = directory.resolve("error.log").toString();
    command.addAll(
        List.of(PROGRAM.toString(), "-p", directory.toString(), "-e", log, "-c", file + ""));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("output").toFile())
        .start();
  }

  private boolean isRunning() throws IOException {
    if (process.isAlive()) {
      return true;
    }
    assertThat(Files.readString(directory.resolve("output"))).contains("Address already in use");
    return false;
  }

  private static boolean connects(int port) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (ConnectException e) {
      return false;
    }
  }

  @Override
  public void close() {
    process.destroy();
    Await.until("the end of nginx", () -> !process.isAlive());
  }
}
