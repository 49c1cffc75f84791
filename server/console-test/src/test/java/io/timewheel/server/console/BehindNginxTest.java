// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.timewheel.server.settings.Cidr;
import io.timewheel.server.settings.Ingress;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * The console below the path of the nginx configuration in {@code server/dist}. Debian's nginx runs
 * without privileges; if the test runs as root, nginx runs as the user nobody.
 */
@ExtendWith(InBrowser.class)
class BehindNginxTest {
  private static final File NGINX = new File("/usr/sbin/nginx");
  private static final String TIMERS = "/v1/namespaces/shop/timers/";
  private static final String NOBODY = "65534";

  @TempDir private Path directory;
  private RealServer server;
  private Process nginx;
  private int port;

  @BeforeEach
  void start() throws IOException {
    if (!NGINX.canExecute()) {
      System.err.println(
          "SKIPPED: BehindNginxTest needs " + NGINX + " (apt-get install nginx-light)");
    }
    assumeTrue(NGINX.canExecute(), "nginx is not installed");
    server = new RealServer(new Ingress("/timers", List.of(Cidr.parse("127.0.0.1")), null));
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
    do { // another process may take the port first
      try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        port = free.getLocalPort();
      }
      nginx = nginx();
    } while (!accepts());
  }

  @AfterEach
  void stop() throws InterruptedException {
    if (nginx != null) {
      nginx.destroy();
      nginx.waitFor();
    }
    if (server != null) {
      server.close();
    }
  }

  /** Starts nginx. Changes only paths and ports of the configuration, and removes TLS. */
  private Process nginx() throws IOException {
    String site =
        Files.readString(Path.of("..", "dist", "nginx.conf"))
            .replace("listen 443 ssl", "listen 127.0.0.1:" + port)
            .replace("server 127.0.0.1:7400", "server 127.0.0.1:" + server.port())
            .replaceAll("(?m)^ *ssl_certificate.*$", "");
    assertThat(site).doesNotContain("443", ":7400", "/etc/nginx/timewheel.crt");
    StringBuilder main = new StringBuilder("daemon off;\nmaster_process off;\n");
    main.append("pid ").append(directory.resolve("pid")).append(";\n");
    main.append("events {}\nhttp {\naccess_log off;\n");
    for (String kind : List.of("client_body", "proxy", "fastcgi", "uwsgi", "scgi")) {
      main.append(kind).append("_temp_path ").append(directory.resolve(kind)).append(";\n");
    }
    Path file = Files.writeString(directory.resolve("nginx.conf"), main + site + "}\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    List<String> command = new ArrayList<>();
    if (System.getProperty("user.name").equals("root")) {
      command.addAll(
          List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"));
    }
    String log = directory.resolve("error.log").toString();
    command.addAll(
        List.of(NGINX.toString(), "-p", directory.toString(), "-e", log, "-c", file + ""));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("output").toFile())
        .start();
  }

  private boolean accepts() throws IOException {
    Await.until(() -> !nginx.isAlive() || connects());
    if (nginx.isAlive()) {
      return true;
    }
    String output = Files.readString(directory.resolve("output"));
    assertThat(output).contains("Address already in use");
    return false;
  }

  private boolean connects() throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (ConnectException e) {
      return false;
    }
  }

  @Test
  void eventsArriveAndAnEditSucceeds(Browser browser) throws IOException, InterruptedException {
    browser.complaints();
    browser.size(1280, 900);
    browser.go("http://127.0.0.1:" + port + "/timers/#/timers?ns=shop");
    browser.awaitText("main", "No timers wait");
    browser.awaitText(".live", "Live");

    // The list is read again only after an event.
    server.put(TIMERS + "order%2F42", "{\"after\":\"PT480H\",\"target\":{\"queue\":\"orders\"}}");
    browser.awaitText(".rows", "order/42");
    server.put(TIMERS + "order-43", "{\"after\":\"PT480H\",\"target\":{\"queue\":\"orders\"}}");
    browser.awaitText(".rows", "order-43");

    browser.go("http://127.0.0.1:" + port + "/timers/#/edit/shop/order%2F42");
    browser.awaitText("h1", "Edit order/42");
    browser.click("input[placeholder=orders]");
    browser.press("-paid");
    browser.click("button[type=submit]");
    browser.awaitText("main", "into the queue orders-paid");
    assertThat(server.get(TIMERS + "order%2F42")).contains("\"queue\":\"orders-paid\"");

    assertThat(browser.complaints()).isEmpty();
    browser.go("about:blank");
  }
}
