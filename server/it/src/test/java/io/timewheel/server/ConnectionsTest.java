// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.http.Connections;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.settings.Ingress;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests hundreds and thousands of connections, slow connections, and connections above the limit.
 * Only this class verifies the limits of connections.
 */
class ConnectionsTest {
  private static final String GET = "GET /v1/namespaces HTTP/1.1\r\nHost: localhost\r\n";
  private static final String HEALTH = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

  private static final String CLAIM =
      String.join(
          "\r\n",
          "POST /v1/namespaces/a/queues/q/firings:claim HTTP/1.1",
          "Host: localhost",
          "Content-Length: 0",
          "",
          "");

  /**
   * The number of idle connections. Each needs two file descriptors of this process. The load run
   * opens ten thousand.
   */
  private static final int IDLE = 2_000;

  /** The first byte of a slow body. */
  private static final String SLOW_BODY =
      String.join(
          "\r\n",
          "PUT /v1/namespaces/a/timers/b HTTP/1.1",
          "Host: localhost",
          "Content-Type: application/json",
          "Content-Length: 100",
          "",
          "{");

  private final List<AutoCloseable> open = new ArrayList<>();
  private Running running;

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
    running.close();
  }

  private Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), running.server.port());
    socket.setSoTimeout(60_000);
    open.add(socket);
    return socket;
  }

  private static void send(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(US_ASCII));
  }

  private static String statusLine(Socket socket) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = socket.getInputStream().read();
        c >= 0 && c != '\r';
        c = socket.getInputStream().read()) {
      line.append((char) c);
    }
    return line.toString();
  }

  @Test
  void hundredsOfSlowRequestsAreCutOffAndOthersAreNot() throws Exception {
    running = new Running();
    long nowNanos = System.nanoTime();
    Socket silent = connect();
    send(silent, HEALTH);
    assertThat(statusLine(silent)).contains("200");
    Socket waiting = connect();
    send(waiting, CLAIM);
    List<Socket> slow = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      Socket socket = connect();
      send(socket, i % 2 == 0 ? GET : "");
      slow.add(socket);
    }
    Connections connections = running.server.connections();
    Await.until(() -> connections.count() == 102); // accepted one by one
    for (int round = 0; connections.count() > 2; round++) {
      for (int i = 0; i < slow.size(); i++) {
        try {
          send(slow.get(i), i % 2 == 0 ? "X" : "\r\n"); // a blank line before a request is allowed
        } catch (IOException e) {
          // closed by the server
        }
      }
      nowNanos += TimeUnit.SECONDS.toNanos(Connections.SWEEP_SECONDS);
      connections.sweep(nowNanos);
      if (round < Connections.MAX_HEAD_SECONDS / Connections.SWEEP_SECONDS) {
        assertThat(connections.count()).isEqualTo(102);
      }
    }
    send(silent, HEALTH);
    assertThat(silent.getInputStream().read()).isPositive();
    Await.until(() -> running.server.waitingClaims() == 1);
  }

  @Test
  void slowBodiesByTheHundredHoldNoThreadEach() throws Exception {
    running = new Running();
    int slow = 300; // several times the number of threads
    for (int i = 0; i < slow; i++) {
      send(connect(), SLOW_BODY);
    }
    Await.until(() -> running.server.connections().count() >= slow); // accepted one by one
    Socket another = connect();
    send(another, HEALTH);
    assertThat(statusLine(another)).contains("200");
  }

  @Test
  void aBodyThatTakesTooLongIsCutOff() throws Exception {
    running =
        new Running(
            config ->
                new ServerConfig(
                    config.listen(),
                    config.port(),
                    config.hosts(),
                    config.ingress(),
                    config.maxConnections(),
                    config.maxWaitingClaims(),
                    config.maxStreams(),
                    config.maxBodyBytes(),
                    Duration.ofMillis(200),
                    config.work()));
    Socket read = connect();
    send(read, SLOW_BODY);
    Socket refused = connect();
    send(refused, SLOW_BODY.replace("application/json", "text/plain")); // read fully
    for (Socket socket : List.of(read, refused)) {
      assertThat(statusLine(socket)).doesNotContain("200", "201"); // until the server closes it
    }
    Socket another = connect();
    send(another, HEALTH);
    assertThat(statusLine(another)).contains("200");
  }

  @Test
  void thousandsOfIdleConnectionsBlockNoRequest() throws Exception {
    running = new Running();
    for (int i = 0; i < IDLE; i++) {
      connect();
    }
    Socket another = connect(); // accepted after them
    send(another, HEALTH);
    assertThat(statusLine(another)).contains("200");
  }

  @Test
  void aRequestThatArrivesInPartsIsServed() throws Exception {
    running = new Running();
    Socket socket = connect();
    long nowNanos = System.nanoTime();
    for (int i = 0; i < 100; i++) {
      send(socket, HEALTH.substring(0, 20));
      running.server.connections().sweep(nowNanos);
      nowNanos += TimeUnit.SECONDS.toNanos(Connections.SWEEP_SECONDS);
      send(socket, HEALTH.substring(20));
      assertThat(statusLine(socket)).contains("200");
      String rest = "";
      while (!rest.endsWith("}")) {
        rest += (char) socket.getInputStream().read();
      }
    }
  }

  private void start(int maxConnections, Ingress ingress) {
    running =
        new Running(
            config ->
                new ServerConfig(
                    config.listen(),
                    config.port(),
                    config.hosts(),
                    ingress,
                    maxConnections,
                    config.maxWaitingClaims(),
                    config.maxStreams(),
                    config.maxBodyBytes(),
                    config.maxBodyTime(),
                    config.work()));
  }

  /** Connects from another address of this machine. */
  private Socket connectFrom(String address) throws IOException {
    Socket socket =
        new Socket(
            InetAddress.getLoopbackAddress(),
            running.server.port(),
            InetAddress.getByName(address),
            0);
    socket.setSoTimeout(60_000);
    open.add(socket);
    return socket;
  }

  private String statusOfRequest(Socket socket) throws IOException {
    send(socket, GET + "\r\n");
    return statusLine(socket);
  }

  @Test
  void oneAddressLeavesConnectionsToTheOthers() throws Exception {
    start(8, Ingress.DIRECT);
    Socket first = connectFrom("127.0.0.1");
    assertThat(statusOfRequest(first)).contains("200");
    for (int i = 0; i < 6; i++) {
      assertThat(statusOfRequest(connectFrom("127.0.0.1"))).contains("200");
    }
    assertThat(statusOfRequest(connectFrom("127.0.0.1"))).contains("429");
    assertThat(statusOfRequest(connectFrom("127.0.0.2"))).contains("200");
    first.close();
    Await.until(() -> running.server.connections().count() <= 7); // 429 closes one, too
    assertThat(statusOfRequest(connectFrom("127.0.0.1"))).contains("200");
  }

  /** Opens more connections from one address than receive an answer 429. */
  private void fillFromOneAddress() throws IOException {
    int most = 7 + 875;
    for (int i = 0; i < most + 100; i++) {
      connectFrom("127.0.0.1");
    }
    assertThat(connectFrom("127.0.0.1").getInputStream().read()).isNegative();
    assertThat(running.server.connections().count()).isLessThanOrEqualTo(most);
  }

  @Test
  void oneAddressLeavesConnectionsAboveTheLimitToTheOthers() throws Exception {
    start(8, Ingress.DIRECT);
    fillFromOneAddress();
    assertThat(statusOfRequest(connectFrom("127.0.0.2"))).contains("200");
  }

  @Test
  void oneAddressLeavesConnectionsWithTlsToTheOthers(@TempDir Path directory) throws Exception {
    TlsFixture fixture = new TlsFixture(directory);
    start(8, fixture.ingress(""));
    fillFromOneAddress();
    SSLSocketFactory tls = fixture.trust().getSocketFactory();
    try (Socket other = tls.createSocket(connectFrom("127.0.0.2"), "localhost", 0, true)) {
      assertThat(statusOfRequest(other)).contains("200");
    }
  }

  @Test
  void aTrustedProxyMayHaveAllConnections() throws Exception {
    start(8, new Ingress("", List.of(Cidr.parse("127.0.0.2/32")), null));
    for (int i = 0; i < 8; i++) {
      assertThat(statusOfRequest(connectFrom("127.0.0.2"))).contains("200");
    }
    assertThat(statusOfRequest(connectFrom("127.0.0.2"))).contains("429");
  }

  @Test
  void aConnectionAboveTheLimitIsAnswered429() throws Exception {
    start(3, Ingress.DIRECT); // one address may have 2
    Socket first = connect();
    send(first, GET + "\r\n");
    assertThat(statusLine(first)).contains("200");
    Socket second = connect();
    send(second, GET + "\r\n");
    assertThat(statusLine(second)).contains("200");
    Socket third = connect();
    send(third, HEALTH);
    assertThat(statusLine(third)).contains("200");
    Socket fourth = connect();
    send(fourth, GET + "\r\n");
    String answer = new String(fourth.getInputStream().readAllBytes(), US_ASCII);
    assertThat(answer)
        .startsWith("HTTP/1.1 429 ")
        .contains("Retry-After: 1")
        .contains("too_many_connections")
        .contains("too many connections (limit of one client: 2)");
    first.close();
    Await.until(() -> running.server.connections().count() < 3);
    second.close();
    third.close();
    Await.until(() -> running.server.connections().count() == 0);
    Socket later = connect();
    send(later, GET + "\r\n");
    assertThat(statusLine(later)).contains("200");
  }
}
