// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.settings.Ingress;
import io.timewheel.server.settings.LogOutput;
import io.timewheel.testing.Await;
import java.io.File;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Tests the nginx configuration in {@code dist} with Debian's nginx in front of a server. */
class NginxTest {
  private static final File NGINX = new File("/usr/sbin/nginx");
  private static final String TIMER = "/v1/namespaces/shop/timers/order%2F42%3Ab";
  private static final Pattern ADDRESS = Pattern.compile("(?:src|href)=\"([^\"#]+)\"");

  @TempDir private Path directory;
  private Running running;
  private Process nginx;
  private HttpClient client;
  private SSLContext trust;
  private String url;

  @BeforeEach
  void start() throws Exception {
    if (!NGINX.canExecute()) {
      System.err.println("SKIPPED: NginxTest needs " + NGINX + " (apt-get install nginx-light)");
    }
    assumeTrue(NGINX.canExecute(), "nginx is not installed");
    TlsFixture fixture = new TlsFixture(directory);
    trust = fixture.trust();
    client = HttpClient.newBuilder().sslContext(trust).build();
    Ingress ingress = new Ingress("/timers", List.of(Cidr.parse("127.0.0.1")), null);
    running = new Running(config -> IngressTest.with(config, ingress));
    do { // another process may take the port first
      int port = freePort();
      nginx = nginx(fixture, port);
      url = "https://localhost:" + port + "/timers";
    } while (!accepts(URI.create(url).getPort()));
  }

  @AfterEach
  void stop() throws InterruptedException {
    if (nginx != null) {
      nginx.destroy();
      nginx.waitFor();
    }
    if (running != null) {
      running.close();
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private boolean accepts(int port) {
    Await.until(() -> !nginx.isAlive() || connects(port));
    return nginx.isAlive();
  }

  private static boolean connects(int port) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (ConnectException e) {
      return false;
    }
  }

  /** Starts nginx. Changes only paths and ports of the configuration, and enables its limit. */
  private Process nginx(TlsFixture fixture, int port) throws IOException {
    String site =
        Files.readString(Path.of("..", "dist", "nginx.conf"))
            .replace("listen 443 ssl", "listen 127.0.0.1:" + port + " ssl")
            .replace("server 127.0.0.1:7400", "server 127.0.0.1:" + running.server.port())
            .replace("#limit_conn", "limit_conn")
            .replace("/etc/nginx/timewheel.crt", fixture.file("rsa.crt").toString())
            .replace("/etc/nginx/timewheel.key", fixture.file("rsa.key").toString());
    assertThat(site).doesNotContain("listen 443", ":7400", "/etc/nginx/timewheel");
    StringBuilder main = new StringBuilder("daemon off;\nmaster_process off;\n");
    main.append("pid ").append(directory.resolve("pid")).append(";\n");
    main.append("events {}\nhttp {\naccess_log off;\n");
    for (String kind : List.of("client_body", "proxy", "fastcgi", "uwsgi", "scgi")) {
      main.append(kind).append("_temp_path ").append(directory.resolve(kind)).append(";\n");
    }
    Path file = Files.writeString(directory.resolve("nginx.conf"), main + site + "}\n");
    Path log = directory.resolve("error.log");
    return new ProcessBuilder(
            NGINX.toString(), "-p", directory.toString(), "-e", log.toString(), "-c", file + "")
        .redirectErrorStream(true)
        .redirectOutput(log.toFile())
        .start();
  }

  private HttpResponse<String> send(String method, String path, String body, String... headers)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + path))
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    if (body != null) {
      request.header("Content-Type", "application/json");
    }
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return client.send(request.build(), BodyHandlers.ofString());
  }

  private static String timer(String after) {
    return "{\"after\":\"" + after + "\",\"target\":{\"queue\":\"q\"}}";
  }

  @Test
  void theConsoleAndItsFilesAreFound() throws Exception {
    assertThat(send("GET", "", null).headers().firstValue("Location")).hasValue(url + "/");
    String html = send("GET", "/", null).body();
    List<String> addresses = ADDRESS.matcher(html).results().map(found -> found.group(1)).toList();
    assertThat(addresses).hasSizeGreaterThan(4);
    for (String address : addresses) {
      assertThat(send("GET", "/" + address, null).statusCode()).as(address).isEqualTo(200);
    }
  }

  @Test
  void idsArriveUnchangedAndOriginIsThatOfTheProxy() throws Exception {
    String origin = url.substring(0, url.length() - "/timers".length());
    assertThat(send("PUT", TIMER, timer("PT1H"), "Origin", origin).statusCode()).isEqualTo(201);
    assertThat(send("GET", TIMER, null).body()).contains("\"id\":\"order/42:b\"");
    assertThat(send("PUT", TIMER, timer("PT1H"), "Origin", "https://evil.example").statusCode())
        .isEqualTo(403);
    String payload = "{\"timers\":[" + " ".repeat(15 << 20) + "]}";
    assertThat(send("POST", "/v1/namespaces/shop/timers:batch", payload).statusCode())
        .isNotEqualTo(413);
  }

  @Test
  void eventsArriveWhileTheStreamIsOpen() throws Exception {
    HttpRequest events = HttpRequest.newBuilder(URI.create(url + "/v1/events?types=timer")).build();
    try (Stream<String> lines = client.send(events, BodyHandlers.ofLines()).body()) {
      assertThat(send("PUT", TIMER, timer("PT1H")).statusCode()).isEqualTo(201);
      Iterator<String> each = lines.iterator();
      String line = each.next();
      while (!line.contains("order/42:b")) {
        line = each.next();
      }
      assertThat(line).startsWith("data: ").contains("\"change\"");
    }
  }

  @Test
  void aClaimWaitsAndAnAbandonedOneIsDropped() throws Exception {
    HttpRequest claim =
        HttpRequest.newBuilder(URI.create(url + "/v1/namespaces/shop/queues/q/firings:claim"))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"wait\":\"PT1M\"}"))
            .build();
    CompletableFuture<?> abandoned = client.sendAsync(claim, BodyHandlers.ofString());
    awaitClaims(1);
    abandoned.cancel(true);
    awaitClaims(0);

    var claimed = client.sendAsync(claim, BodyHandlers.ofString());
    awaitClaims(1);
    assertThat(send("PUT", TIMER, timer("PT0S")).statusCode()).isEqualTo(201);
    assertThat(claimed.get().body()).contains("\"id\":\"order/42:b\"");
  }

  private void awaitClaims(int count) {
    Await.until(() -> running.server.waitingClaims() == count);
  }

  @Test
  void theAuditLogHasTheClientAndNotTheProxy() throws Exception {
    Logger logger = (Logger) LoggerFactory.getLogger(LogOutput.AUDIT);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    logger.addAppender(log);
    // Another address of this machine stands for another machine. The server ignores its header.
    try (Socket socket = new Socket()) {
      socket.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 2}), 0));
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), URI.create(url).getPort()));
      Socket tls = trust.getSocketFactory().createSocket(socket, "localhost", -1, true);
      String request =
          "DELETE /timers"
              + TIMER
              + " HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.1\r\n"
              + "Connection: close\r\n\r\n";
      tls.getOutputStream().write(request.getBytes(US_ASCII));
      String answer = new String(tls.getInputStream().readAllBytes(), US_ASCII);
      assertThat(answer).startsWith("HTTP/1.1 404 ");
      assertThat(log.list)
          .singleElement()
          .satisfies(line -> assertThat(line.getFormattedMessage()).contains("127.0.0.2"));
    } finally {
      logger.detachAppender(log);
    }
  }
}
