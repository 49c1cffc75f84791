// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.timewheel.server.cli.Main;
import io.timewheel.server.settings.Ingress;
import io.timewheel.server.settings.TlsFiles;
import io.timewheel.server.settings.WatchedFile;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;

/**
 * Tests a server whose port has a certificate. Only this class verifies a changed certificate and
 * slow handshakes.
 */
class HttpsTest {
  @TempDir private Path directory;
  private final Logger logger = (Logger) LoggerFactory.getLogger(WatchedFile.class);
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private TlsFixture fixture;
  private SSLContext trust;
  private Running running;

  @BeforeEach
  void start() throws Exception {
    log.start();
    logger.addAppender(log);
    fixture = new TlsFixture(directory);
    trust = fixture.trust();
    var ingress = fixture.ingress("/timers");
    running = new Running(config -> IngressTest.with(config, ingress));
  }

  @AfterEach
  void stop() {
    running.close();
    logger.detachAppender(log);
  }

  private String url() {
    return "https://localhost:" + running.server.port() + "/timers";
  }

  private String send(HttpRequest.Builder request) throws Exception {
    HttpClient client = HttpClient.newBuilder().sslContext(trust).build();
    return client.send(request.build(), BodyHandlers.ofString()).body();
  }

  @Test
  void servesTheApi() throws Exception {
    String timer = url() + "/v1/namespaces/shop/timers/a";
    assertThat(
            send(
                HttpRequest.newBuilder(URI.create(timer))
                    .header("Content-Type", "application/json")
                    .header("Origin", "https://localhost:" + running.server.port())
                    .PUT(
                        BodyPublishers.ofString(
                            "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}"))))
        .contains("\"state\":\"scheduled\"");
    assertThat(send(HttpRequest.newBuilder(URI.create(url() + "/healthz")))).contains("ok");
  }

  @Test
  void aWaitingClaimIsAnsweredAndAnAbandonedOneIsDropped() throws Exception {
    HttpClient client = HttpClient.newBuilder().sslContext(trust).build();
    HttpRequest claim =
        HttpRequest.newBuilder(URI.create(url() + "/v1/namespaces/shop/queues/q/firings:claim"))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"wait\":\"PT1M\"}"))
            .build();
    CompletableFuture<?> abandoned = client.sendAsync(claim, BodyHandlers.ofString());
    await(() -> running.server.waitingClaims() == 1);
    abandoned.cancel(true);
    await(() -> running.server.waitingClaims() == 0);

    var claimed = client.sendAsync(claim, BodyHandlers.ofString());
    await(() -> running.server.waitingClaims() == 1);
    scheduleNow();
    assertThat(claimed.get().body()).contains("\"id\":\"now\"");
  }

  private String status(String host) throws Exception {
    try (Socket socket =
        trust
            .getSocketFactory()
            .createSocket(InetAddress.getLoopbackAddress(), running.server.port())) {
      String head = "GET /timers/healthz HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
      socket.getOutputStream().write(head.getBytes(US_ASCII));
      return new String(socket.getInputStream().readNBytes(12), US_ASCII);
    }
  }

  @Test
  void theCertificateDoesNotLimitTheHost() throws Exception {
    assertThat(status("192.0.2.7:7400")).isEqualTo("HTTP/1.1 200");
    assertThat(status("[2001:db8::7]")).isEqualTo("HTTP/1.1 200");
    assertThat(status("other.example")).isEqualTo("HTTP/1.1 421");
  }

  private void scheduleNow() throws Exception {
    send(
        HttpRequest.newBuilder(URI.create(url() + "/v1/namespaces/shop/timers/now"))
            .header("Content-Type", "application/json")
            .PUT(BodyPublishers.ofString("{\"after\":\"PT0S\",\"target\":{\"queue\":\"q\"}}")));
  }

  private static void await(BooleanSupplier so) {
    Await.until(so::getAsBoolean);
  }

  /** {@return the kind of key in the certificate of a new connection} */
  private String servedKind() throws IOException {
    try (Socket socket =
        trust
            .getSocketFactory()
            .createSocket(InetAddress.getByName("localhost"), running.server.port())) {
      SSLSocket tls = (SSLSocket) socket;
      tls.startHandshake();
      return tls.getSession().getPeerCertificates()[0].getPublicKey().getAlgorithm();
    }
  }

  @Test
  void aChangedCertificateIsServedAndAnInvalidPairIsNot() throws Exception {
    assertThat(servedKind()).isEqualTo("RSA");

    fixture.copy("ec.crt", "server.crt");
    fixture.copy("ec-sec1.key", "server.key");
    Await.until(() -> servedKind().equals("EC"));

    fixture.copy("rsa.key", "server.key");
    await(() -> logged("stays in use", "server.key: the private key does not belong"));
    assertThat(servedKind()).isEqualTo("EC");
    assertThat(send(HttpRequest.newBuilder(URI.create(url() + "/healthz")))).contains("ok");

    fixture.copy("rsa.crt", "server.crt");
    Await.until(() -> servedKind().equals("RSA"));
  }

  private boolean logged(String... parts) {
    return List.copyOf(log.list).stream()
        .map(ILoggingEvent::getFormattedMessage)
        .anyMatch(line -> List.of(parts).stream().allMatch(line::contains));
  }

  @Test
  void aPairThatCannotBeServedKeepsTheServerFromStarting() {
    assertThatThrownBy(
            () ->
                new Running(
                    config ->
                        IngressTest.with(
                            config,
                            new Ingress(
                                "",
                                List.of(),
                                new TlsFiles(
                                    directory.resolve("no.crt"), directory.resolve("no.key"))))))
        .hasMessageContaining("no.crt: there is no such file");
  }

  private Socket connect() throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), running.server.port());
  }

  @Test
  void aHandshakeThatTakesTooLongIsCutOff() throws Exception {
    Socket slow = connect();
    slow.getOutputStream().write(new byte[] {0x16, 0x03, 0x01});
    await(() -> running.server.connections().count() == 1);

    long nowNanos = System.nanoTime();
    running.server.connections().sweep(nowNanos);
    slow.getOutputStream().write(0x02);
    running.server.connections().sweep(nowNanos + TimeUnit.SECONDS.toNanos(20));
    assertThat(running.server.connections().count()).isOne();
    running.server.connections().sweep(nowNanos + TimeUnit.SECONDS.toNanos(40));

    await(() -> running.server.connections().count() == 0);
  }

  @Test
  void aConnectionInUseDoesNotCountAsSlow() throws Exception {
    try (Socket socket = trust.getSocketFactory().createSocket(connect(), "localhost", -1, true)) {
      long nowNanos = System.nanoTime();
      for (int i = 0; i < 20; i++) {
        socket
            .getOutputStream()
            .write("GET /timers/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(US_ASCII));
        int read = 0;
        while (read != '}') {
          read = socket.getInputStream().read();
          assertThat(read).as("end of the connection").isNotNegative();
        }
        assertThat(running.server.connections().count()).isOne();
        running.server.connections().sweep(nowNanos);
        nowNanos += TimeUnit.SECONDS.toNanos(20);
      }
    }
  }

  private int command(StringWriter text, String... words) throws IOException {
    CommandLine line = Main.commandLine(Map.of());
    line.setOut(new PrintWriter(text));
    line.setErr(new PrintWriter(text));
    return line.execute(words);
  }

  @Test
  void aCommandTrustsTheAuthorityOfAFile() throws IOException {
    StringWriter text = new StringWriter();
    String ca = fixture.file("ca.crt").toString();

    assertThat(command(text, "stats", "--server", url(), "--ca-cert", ca)).as("%s", text).isZero();
    assertThat(text.toString()).contains("node-1");
  }

  @Test
  void aCommandNamesTheSettingForAnUnknownAuthority() throws IOException {
    StringWriter text = new StringWriter();

    assertThat(command(text, "stats", "--server", url())).isEqualTo(5);
    assertThat(text.toString()).contains("--ca-cert");
  }

  @Test
  void aCommandRefusesAFileWithoutAnAuthority() throws IOException {
    StringWriter text = new StringWriter();
    String key = fixture.file("rsa.key").toString();

    assertThat(command(text, "stats", "--server", url(), "--ca-cert", key)).isEqualTo(1);
    assertThat(text.toString()).contains("--ca-cert: " + key + ": has no certificate");
  }
}
