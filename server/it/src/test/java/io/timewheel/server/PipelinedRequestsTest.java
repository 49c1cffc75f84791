// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.TimerSpec;
import io.timewheel.server.settings.Ingress;
import io.timewheel.testing.Await;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests requests that a client sends on the connection of a claim that still waits. */
class PipelinedRequestsTest {
  private static final String CLAIM_BODY = "{\"wait\":\"PT1M\"}";
  private static final String CLAIM =
      "POST /v1/namespaces/shop/queues/q/firings:claim HTTP/1.1\r\nHost: localhost\r\n"
          + "X-Request-Id: claim\r\nContent-Type: application/json\r\nContent-Length: "
          + CLAIM_BODY.length()
          + "\r\n\r\n"
          + CLAIM_BODY;
  private static final Pattern ANSWER =
      Pattern.compile("HTTP/1.1 (\\d+) [^\\r]*\\r\\n(?:[^\\r]+\\r\\n)*?X-Request-Id: (\\S+)\\r\\n");

  /**
   * The number of requests: much more than fits into the buffers of a connection, in clear text and
   * in TLS.
   */
  private static final int REQUESTS = 500;

  @TempDir private Path directory;

  private static String request(int number, String more) {
    return "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: r-%d\r\n%s\r\n"
        .formatted(number, more);
  }

  private Running start(boolean tls) throws Exception {
    Ingress ingress = tls ? new TlsFixture(directory).ingress("") : Ingress.DIRECT;
    // The clock is stopped, so that no claim ends by itself.
    return new Running(
        config -> IngressTest.with(config, ingress), InstantSource.fixed(Instant.now()));
  }

  private Socket connect(Running running, boolean tls) throws Exception {
    Socket socket =
        tls
            ? new TlsFixture(directory)
                .trust()
                .getSocketFactory()
                .createSocket(InetAddress.getByName("localhost"), running.server.port())
            : new Socket(InetAddress.getLoopbackAddress(), running.server.port());
    socket.setSoTimeout(60_000); // so that a failure ends
    return socket;
  }

  private static void awaitClaims(Running running, int count) {
    Await.until(() -> running.server.waitingClaims() == count);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void areAnsweredInOrderAfterTheClaim(boolean tls) throws Exception {
    StringBuilder ahead = new StringBuilder();
    List<String> expected = new ArrayList<>(List.of("claim"));
    IntStream.range(0, REQUESTS)
        .forEach(
            i -> {
              ahead.append(request(i, i == REQUESTS - 1 ? "Connection: close\r\n" : ""));
              expected.add("r-" + i);
            });
    try (Running running = start(tls);
        Socket socket = connect(running, tls)) {
      socket.getOutputStream().write((CLAIM + ahead).getBytes(US_ASCII));
      awaitClaims(running, 1);
      // Each request gives the server another chance to read too early.
      try (Socket other = connect(running, tls)) {
        InputStream in = other.getInputStream();
        for (int i = 0; i < 100; i++) {
          other.getOutputStream().write(request(i, "").getBytes(US_ASCII));
          while (in.read() != '}') {
            // to the end of the answer
          }
        }
      }
      assertThat(running.server.waitingClaims()).isOne();
      schedule(running);

      String answers = new String(socket.getInputStream().readAllBytes(), US_ASCII);
      List<MatchResult> found = ANSWER.matcher(answers).results().toList();
      assertThat(found).extracting(each -> each.group(2)).containsExactlyElementsOf(expected);
      assertThat(found).extracting(each -> each.group(1)).containsOnly("200");
      assertThat(answers).contains("\"id\":\"now\"");
    }
  }

  private static void schedule(Running running) {
    running.scheduler.schedule(TimerSpec.of("shop", "now").queue("q").after(Duration.ZERO));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theClaimOfAClientThatSendsEarlyAndDisconnectsIsDropped(boolean tls) throws Exception {
    try (Running running = start(tls)) {
      try (Socket socket = connect(running, tls)) {
        socket.getOutputStream().write((CLAIM + request(1, "")).getBytes(US_ASCII));
        awaitClaims(running, 1);
        socket.getOutputStream().write(request(2, "").getBytes(US_ASCII));
      }
      awaitClaims(running, 0);
    }
  }
}
