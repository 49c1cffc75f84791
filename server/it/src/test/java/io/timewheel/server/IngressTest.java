// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.settings.Ingress;
import io.timewheel.server.settings.LogOutput;
import io.timewheel.server.settings.ServerConfig;
import java.net.URI;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/**
 * Tests a server behind a proxy: the base path, and the addresses of clients. Only this class
 * verifies which forwarded address is trusted.
 */
class IngressTest {
  private static final String TIMER = "/v1/namespaces/shop/timers/order%2F42";
  private static final String LATER = "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}";
  private static final Pattern ADDRESS = Pattern.compile("(?:src|href)=\"([^\"#]+)\"");

  private Running running;

  @AfterEach
  void stop() {
    if (running != null) {
      running.close();
    }
  }

  private void start(String basePath, String... trustedProxies) {
    Ingress ingress =
        new Ingress(basePath, List.of(trustedProxies).stream().map(Cidr::parse).toList(), null);
    running = new Running(config -> with(config, ingress));
  }

  static ServerConfig with(ServerConfig config, Ingress ingress) {
    return new ServerConfig(
        config.listen(),
        config.port(),
        config.hosts(),
        ingress,
        config.maxConnections(),
        config.maxWaitingClaims(),
        config.maxStreams(),
        config.maxBodyBytes(),
        config.maxBodyTime(),
        config.work());
  }

  @Test
  void allPathsFollowTheBasePath() {
    start("/tools/timers");

    assertThat(running.get("/tools/timers/healthz").status()).isEqualTo(200);
    assertThat(running.put("/tools/timers" + TIMER, LATER).status()).isEqualTo(201);
    assertThat(running.get("/tools/timers" + TIMER).text("id")).isEqualTo("order/42");
    for (String path :
        List.of("/healthz", TIMER, "/", "/tools/timersx/healthz", "/tools/timers%2Fhealthz")) {
      assertThat(running.get(path).status()).as(path).isEqualTo(404);
    }
  }

  @Test
  void everyFileOfTheConsoleIsFoundBelowTheBasePath() {
    start("/timers");
    Running.Answer redirect = running.get("/timers", "Sec-Fetch-Site", "none");
    assertThat(redirect.status()).isEqualTo(308);
    assertThat(redirect.header("Location")).isEqualTo("/timers/");

    URI page = URI.create("/timers/");
    String html = running.get("/timers/").response().body();
    List<String> addresses = ADDRESS.matcher(html).results().map(found -> found.group(1)).toList();
    assertThat(addresses).hasSizeGreaterThan(4);
    for (String address : addresses) {
      assertThat(running.get(page.resolve(address).toString()).status()).as(address).isEqualTo(200);
    }
  }

  @Test
  void anotherSiteMayOpenTheConsoleBelowTheBasePath() {
    start("/timers");
    String[] link = {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"};

    assertThat(running.get("/timers/", link).status()).isEqualTo(200);
    assertThat(running.get("/timers", link).status()).isEqualTo(308);
    assertThat(running.get("/timers/v1/stats", link).status()).isEqualTo(403);
    assertThat(running.get("/", link).status()).isEqualTo(403);
  }

  @ParameterizedTest
  @ValueSource(strings = {"timers", "//", "/a//b", "/..", "/a/../b", "/a b", "/a?b", "/%41"})
  void refusesABasePathThatAProxyCouldWriteDifferently(String path) {
    assertThatThrownBy(() -> new Ingress(path, List.of(), null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("such as /timers");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/timers", "/timers/"})
  void aSlashAtTheEndOfTheBasePathMakesNoDifference(String path) {
    assertThat(new Ingress(path, List.of(), null).basePath()).isEqualTo("/timers");
  }

  private String auditedAddress(String... headers) {
    Logger logger = (Logger) LoggerFactory.getLogger(LogOutput.AUDIT);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    logger.addAppender(log);
    try {
      assertThat(running.put(TIMER, LATER, headers).status()).isBetween(200, 201);
      return Running.MAPPER.readTree(log.list.get(0).getFormattedMessage()).get("from").asString();
    } finally {
      logger.detachAppender(log);
    }
  }

  @Test
  void onlyATrustedProxyNamesTheClient() {
    start("");
    assertThat(auditedAddress("X-Forwarded-For", "192.0.2.7")).isEqualTo("127.0.0.1");
    running.close();
    start("", "10.0.0.0/8");
    assertThat(auditedAddress("X-Forwarded-For", "192.0.2.7")).isEqualTo("127.0.0.1");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "192.0.2.7                          | 192.0.2.7",
        "192.0.2.7:4711                     | 192.0.2.7",
        "2001:db8::7                        | 2001:db8:0:0:0:0:0:7",
        "[2001:db8::7]:4711                 | 2001:db8:0:0:0:0:0:7",
        "203.0.113.9, 192.0.2.7             | 192.0.2.7",
        "203.0.113.9, 192.0.2.7, 10.1.2.3   | 192.0.2.7",
        "10.9.9.9, 10.1.2.3                 | 10.9.9.9",
        "192.0.2.7, unknown                 | 127.0.0.1",
        "192.0.2.7, evil.example, 10.1.2.3  | 10.1.2.3",
        "192.0.2.7,                         | 127.0.0.1",
        "192.0.2.300                        | 127.0.0.1"
      })
  void theClientIsTheLastAddressThatIsNoTrustedProxy(String forwarded, String client) {
    start("", "127.0.0.1", "10.0.0.0/8");
    assertThat(auditedAddress("X-Forwarded-For", forwarded)).isEqualTo(client);
  }

  @Test
  void aProxyIsToldNotToBufferEvents() throws Exception {
    start("");
    String answer =
        running.raw("HEAD /v1/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assertThat(answer).contains("X-Accel-Buffering: no");
  }
}
