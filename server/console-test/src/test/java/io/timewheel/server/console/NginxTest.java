// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.settings.Ingress;
import io.timewheel.server.settings.LogOutput;
import io.timewheel.testing.Await;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Tests the nginx configuration in {@code server/dist} with Debian's nginx in front of a server. It
 * alone proves that IDs, origins, events, claims and addresses of clients pass that configuration.
 * All tests share both, and each has its own namespace.
 */
@Tag("proof")
@EnabledIf("hasNginx")
class NginxTest {
  private static final Pattern ADDRESS = Pattern.compile("(?:src|href)=\"([^\"#]+)\"");

  @TempDir private static Path directory;
  private static RealServer server;
  private static Nginx nginx;
  private static SSLContext trust;
  private static HttpClient client;
  private static String url;

  static boolean hasNginx() {
    if (!Nginx.PROGRAM.canExecute()) {
      System.err.println(
          "SKIPPED: NginxTest needs " + Nginx.PROGRAM + " (apt-get install nginx-light)");
    }
    return Nginx.PROGRAM.canExecute();
  }

  @BeforeAll
  static void start() throws Exception {
    for (String name : List.of("rsa.crt", "rsa.key")) {
      try (InputStream file = tls(name)) {
        Files.copy(file, directory.resolve(name));
      }
    }
    trust = trust();
    client = HttpClient.newBuilder().sslContext(trust).build();
    server = new RealServer(new Ingress("/timers", List.of(Cidr.parse("127.0.0.1")), null));
    nginx = new Nginx(directory, server.port());
    url = "https://localhost:" + nginx.tlsPort() + "/timers";
  }

  @AfterAll
  static void stop() {
    if (nginx != null) {
      nginx.close();
    }
    if (server != null) {
      server.close();
    }
  }

  /** Returns a file of the server's tests. They describe the certificates. */
  private static InputStream tls(String name) {
    return requireNonNull(NginxTest.class.getResourceAsStream("/io/timewheel/server/tls/" + name));
  }

  /** {@return a context that trusts the authority of the certificate} */
  private static SSLContext trust() throws Exception {
    KeyStore authorities = KeyStore.getInstance("PKCS12");
    authorities.load(null, null);
    try (InputStream authority = tls("ca.crt")) {
      authorities.setCertificateEntry(
          "ca", CertificateFactory.getInstance("X.509").generateCertificate(authority));
    }
    TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
    trusted.init(authorities);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trusted.getTrustManagers(), null);
    return context;
  }

  private static HttpResponse<String> send(
      String method, String path, String body, String... headers) throws Exception {
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

  private static String timerOf(String namespace) {
    return "/v1/namespaces/" + namespace + "/timers/order%2F42%3Ab";
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
    String timer = timerOf("origin");
    String origin = url.substring(0, url.length() - "/timers".length());
    assertThat(send("PUT", timer, timer("PT1H"), "Origin", origin).statusCode()).isEqualTo(201);
    assertThat(send("GET", timer, null).body()).contains("\"id\":\"order/42:b\"");
    assertThat(send("PUT", timer, timer("PT1H"), "Origin", "https://evil.example").statusCode())
        .isEqualTo(403);
    String payload = "{\"timers\":[" + " ".repeat(15 << 20) + "]}";
    assertThat(send("POST", "/v1/namespaces/origin/timers:batch", payload).statusCode())
        .isNotEqualTo(413);
  }

  @Test
  void eventsArriveWhileTheStreamIsOpen() throws Exception {
    HttpRequest events =
        HttpRequest.newBuilder(URI.create(url + "/v1/events?types=timer&namespace=events")).build();
    try (Stream<String> lines = client.send(events, BodyHandlers.ofLines()).body()) {
      assertThat(send("PUT", timerOf("events"), timer("PT1H")).statusCode()).isEqualTo(201);
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
        HttpRequest.newBuilder(URI.create(url + "/v1/namespaces/claims/queues/q/firings:claim"))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"wait\":\"PT1M\"}"))
            .build();
    CompletableFuture<?> abandoned = client.sendAsync(claim, BodyHandlers.ofString());
    awaitClaims(1);
    abandoned.cancel(true);
    awaitClaims(0);

    var claimed = client.sendAsync(claim, BodyHandlers.ofString());
    awaitClaims(1);
    assertThat(send("PUT", timerOf("claims"), timer("PT0S")).statusCode()).isEqualTo(201);
    assertThat(claimed.get().body()).contains("\"id\":\"order/42:b\"");
  }

  private void awaitClaims(int count) {
    Await.until(
        count + " waiting claims",
        () -> server.get("/metrics").contains("\ntimewheel_waiting_claims " + count + ".0\n"));
  }

  @Test
  void theAuditLogHasTheClientAndNotTheProxy() throws Exception {
    Logger logger = (Logger) LoggerFactory.getLogger(LogOutput.AUDIT);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.list = new CopyOnWriteArrayList<>(); // other classes change timers at the same time
    log.start();
    logger.addAppender(log);
    // Another address of this machine stands for another machine. The server ignores its header.
    try (Socket socket = new Socket()) {
      socket.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 2}), 0));
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), nginx.tlsPort()));
      Socket tls = trust.getSocketFactory().createSocket(socket, "localhost", -1, true);
      String request =
          "DELETE /timers"
              + timerOf("audit")
              + " HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.1\r\n"
              + "Connection: close\r\n\r\n";
      tls.getOutputStream().write(request.getBytes(US_ASCII));
      String answer = new String(tls.getInputStream().readAllBytes(), US_ASCII);
      assertThat(answer).startsWith("HTTP/1.1 404 ");
      assertThat(log.list)
          .filteredOn(line -> line.getFormattedMessage().contains("/namespaces/audit/"))
          .singleElement()
          .satisfies(line -> assertThat(line.getFormattedMessage()).contains("127.0.0.2"));
    } finally {
      logger.detachAppender(log);
    }
  }

  @Test
  @ExtendWith(InBrowser.class)
  void theConsoleReceivesEventsAndEditsATimer(Browser browser) throws Exception {
    String address = "http://127.0.0.1:" + nginx.plainPort() + "/timers/#";
    String timers = "/v1/namespaces/shop/timers/";
    browser.complaints();
    browser.size(1280, 900);
    browser.go(address + "/timers?ns=shop");
    browser.awaitText("main", "No timers wait");
    browser.awaitText(".live", "Live");

    // The list is read again only after an event.
    server.put(timers + "order%2F42", "{\"after\":\"PT480H\",\"target\":{\"queue\":\"orders\"}}");
    browser.awaitText(".rows", "order/42");
    server.put(timers + "order-43", "{\"after\":\"PT480H\",\"target\":{\"queue\":\"orders\"}}");
    browser.awaitText(".rows", "order-43");

    browser.go(address + "/edit/shop/order%2F42");
    browser.awaitText("h1", "Edit order/42");
    browser.click("input[placeholder=orders]");
    browser.press("-paid");
    browser.click("button[type=submit]");
    browser.awaitText("main", "into the queue orders-paid");
    assertThat(server.get(timers + "order%2F42")).contains("\"queue\":\"orders-paid\"");

    assertThat(browser.complaints()).isEmpty();
    browser.go("about:blank");
  }
}
