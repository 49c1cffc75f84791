// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Running.Answer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests malicious requests, which hide another request, access the data of others, or consume many
 * resources.
 */
class HostileRequestsTest {
  private static final String TIMER = "/v1/namespaces/shop/timers/a";

  private static Running running;

  @BeforeAll
  static void start() {
    running = new Running();
  }

  @AfterAll
  static void stop() {
    running.close();
  }

  @Test
  void deepJsonIs400() {
    String deep = "[".repeat(100_000) + "]".repeat(100_000);
    Answer answer = running.put(TIMER, "{\"payload\":" + deep + "}");
    assertThat(answer.status()).isEqualTo(400);
  }

  @Test
  void badUtf8Is400() {
    // raw() sends each of these as a single byte
    String body = "{\"after\":\"PT1H\",\"target\":{\"queue\":\"\u00C0\u00AF\"}}";
    assertThat(
            running.raw(
                "PUT "
                    + TIMER
                    + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    + "Content-Type: application/json\r\nContent-Length: "
                    + body.length()
                    + "\r\n\r\n"
                    + body))
        .startsWith("HTTP/1.1 400 ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: 4\r\nContent-Length: 5",
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 4",
        "Content-Length: 4, 5",
        "Content-Length: +4",
        "Content-Length: 0x4",
        "Transfer-Encoding: xchunked",
        "X\u0000: a",
        "Content-Length: -1",
        "Content-Length: 4x",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: x, chunked",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked,",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
        "X: a\r\n folded",
        "X : a",
        "Host: second"
      })
  void aRequestThatTwoServersCouldReadDifferentlyIs400(String headers) {
    String answer =
        running.raw(
            "POST "
                + TIMER
                + ":run HTTP/1.1\r\nHost: localhost\r\n"
                + "Content-Type: application/json\r\nConnection: close\r\n"
                + headers
                + "\r\n\r\n{}  GET /healthz HTTP/1.1\r\n\r\n");
    assertThat(answer).startsWith("HTTP/1.1 400 ").doesNotContain("\"ok\"");
  }

  /** A proxy of HTTP/1.0 does not know chunks, and sees another end of the body. */
  @Test
  void aChunkedRequestOfHttp10Is400() {
    String answer =
        running.raw(
            "POST "
                + TIMER
                + ":run HTTP/1.0\r\nHost: localhost\r\n"
                + "Content-Type: application/json\r\nConnection: keep-alive\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
                + "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assertThat(answer).startsWith("HTTP/1.1 400 ").doesNotContain("\"ok\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0x2\r\n{}\r\n0\r\n\r\n",
        "-2\r\n{}\r\n0\r\n\r\n",
        "ffffffffffffffff2\r\n{}\r\n0\r\n\r\n",
        "\r\n{}\r\n0\r\n\r\n",
        "2\r\n{}XX0\r\n\r\n"
      })
  void anAmbiguousChunkIsNeverFollowedByARequest(String chunks) {
    String answer =
        running.raw(
            "POST "
                + TIMER
                + ":run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                + chunks
                + "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assertThat(answer).matches("(?s)HTTP/1\\.1 4\\d\\d .*").doesNotContain("\"ok\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/healthz/",
        "//healthz",
        "/./healthz",
        "/%2e/healthz",
        "/v1/../healthz",
        "/healthz;a=b",
        "/healthz%00",
        "/healthz%2f",
        "/HEALTHZ",
        "/console/../healthz",
        "/console/%2e%2e/healthz",
        "/console/..%5cmain.js",
        "/console/main.js%00.html",
        "/console//main.js",
        "/v1/namespaces/shop/timers/..",
        "/v1/namespaces/shop/timers/%2e%2e",
        "/v1/namespaces/../timers/a",
        "/v1/namespaces/shop/timers/a%0d%0aSet-Cookie:%20b",
        "/v1/namespaces/shop/timers/%ff",
        "/v1/namespaces/shop/timers/%c0%ae",
        "/v1/namespaces/shop/timers/%ed%a0%80",
        "/v1/namespaces/shop/timers/%",
        "/v1/namespaces/shop/timers/%zz"
      })
  void aMaliciousPathIsNotFound(String path) {
    assertThat(
            running.raw(
                "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
        .matches("(?s)HTTP/1\\.1 (400|404|421) .*")
        .doesNotContain("Set-Cookie", "\"ok\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"retry\":{\"maxAttempts\":1e999999999}}",
        "{\"retry\":{\"maxAttempts\":99999999999999999999999999}}",
        "{\"after\":\"PT99999999999999999999H\"}",
        "{\"at\":\"+999999999999-01-01T00:00:00Z\"}",
        "{\"after\":[[[[[[]]]]]]}",
        "{\"target\":{\"queue\":\"a\\u0000b\"},\"after\":\"PT1H\"}"
      })
  void extremeValuesAreRefused(String body) {
    assertThat(running.put(TIMER, body).status()).isBetween(400, 422);
  }

  @Test
  void anIfMatchOfBlanksInABatchIsRefused() {
    String blanks = " ".repeat(200_000);

    Answer answer =
        running.post(
            "/v1/namespaces/shop/timers:batch",
            "{\"timers\":[{\"id\":\"a\",\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"},\"ifMatch\":\"a"
                + blanks
                + "b\"}]}");

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.response().body()).contains("\"status\":400", "If-Match");
  }

  @Test
  void anIfMatchOfBlanksIsRefused() {
    Answer answer =
        running.send("DELETE", TIMER, "", "If-Match", "\"1\"" + " ".repeat(15_000) + "b");
    assertThat(answer.status()).isEqualTo(400);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "1", "[]", "null"})
  void anArrayOfMillionsIsRefused(String element) {
    String elements = (element + ",").repeat((15 << 20) / (element.length() + 1)) + element;

    Answer timers =
        running.post("/v1/namespaces/shop/timers:batch", "{\"timers\":[" + elements + "]}");
    Answer firings =
        running.post("/v1/namespaces/shop/firings:ack", "{\"firings\":[" + elements + "]}");

    assertThat(timers.status()).isEqualTo(422);
    assertThat(timers.response().body()).contains("timers: more than 1000 (expected: 1 to 1000)");
    assertThat(firings.status()).isEqualTo(422);
    assertThat(firings.response().body()).contains("firings: more than 1000 (expected: 1 to 1000)");
  }

  @Test
  void aPrefixOfControlCharactersIs400() {
    String bulk = "{\"filter\":{\"prefix\":\"a\\u0000\"},\"force\":true}";
    assertThat(running.get("/v1/namespaces/shop/timers?prefix=a%00").status()).isEqualTo(400);
    assertThat(running.post("/v1/namespaces/shop/timers:cancel", bulk).status()).isEqualTo(400);
  }

  @Test
  void anEndlessBodyEndsItsConnection() throws IOException {
    String head =
        "PUT "
            + TIMER
            + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n";
    byte[] chunk = ("100000\r\n" + " ".repeat(1 << 20) + "\r\n").getBytes(US_ASCII);
    int sent = 0;
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), running.server.port())) {
      socket.getOutputStream().write(head.getBytes(US_ASCII));
      for (; sent < 1_000; sent++) {
        socket.getOutputStream().write(chunk);
      }
    } catch (IOException e) {
      // the server has closed the connection
    }
    assertThat(sent).as("megabytes of a body that is refused").isBetween(60, 200);
  }
}
