// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.timewheel.server.resource.TimerResource;
import io.timewheel.server.security.AuditLog;
import io.timewheel.server.security.Tokens;
import io.timewheel.server.settings.LogOutput;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/** Tests the lines of the audit log. */
class AuditLogTest {
  private static final String SECRET = "hunter2";
  private static final String TIMER =
      "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"},\"payload\":\""
          + SECRET
          + "\",\"headers\":{\"key\":\""
          + SECRET
          + "\"}}";

  @TempDir private Path directory;
  private final Logger logger = (Logger) LoggerFactory.getLogger(LogOutput.AUDIT);
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private Running running;
  private String token;

  @BeforeEach
  void start() throws Exception {
    log.start();
    logger.addAppender(log);
    Path file = directory.resolve("tokens");
    token = Tokens.add(file, "shop-backend", "produce,consume,operate", Set.of());
    running = new Running(config -> config, Tokens.open(file));
  }

  @AfterEach
  void stop() {
    running.close();
    logger.detachAppender(log);
  }

  private Running.Answer send(String method, String path, String body, String... headers) {
    String[] all = Arrays.copyOf(headers, headers.length + 2);
    all[headers.length] = "Authorization";
    all[headers.length + 1] = "Bearer " + token;
    return running.send(method, path, body, all);
  }

  private List<String> lines() {
    return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  private JsonNode last() {
    List<String> lines = lines();
    assertThat(lines).isNotEmpty();
    return Running.MAPPER.readTree(lines.get(lines.size() - 1));
  }

  @Test
  void recordsCallerOperationTimeAndTimer() {
    send("PUT", "/v1/namespaces/shop/timers/order%2F42", TIMER, "X-Request-Id", "r-7");

    JsonNode line = last();
    assertThat(line.get("who").asString()).isEqualTo("shop-backend");
    assertThat(line.get("did").asString()).isEqualTo("PUT " + TimerResource.TIMER);
    assertThat(line.get("namespace").asString()).isEqualTo("shop");
    assertThat(line.get("id").asString()).isEqualTo("order/42");
    assertThat(line.get("status").asInt()).isEqualTo(201);
    assertThat(line.get("request").asString()).isEqualTo("r-7");
    assertThat(line.get("from").asString()).isEqualTo("127.0.0.1");
    assertThat(Instant.parse(line.get("at").asString())).isNotNull();
  }

  @Test
  void containsNoSecret() {
    send("PUT", "/v1/namespaces/shop/timers/a", TIMER);
    send("PUT", "/v1/namespaces/shop/timers/a?token=" + SECRET, TIMER);
    running.put("/v1/namespaces/shop/timers/a", TIMER, "Authorization", "Bearer " + SECRET);

    assertThat(lines()).hasSize(3).noneMatch(line -> line.contains(SECRET));
    assertThat(lines()).noneMatch(line -> line.contains(token));
  }

  @Test
  void containsRefusedRequests() {
    running.send("DELETE", "/v1/namespaces/shop/timers/a", null);

    assertThat(last().get("who").asString()).isEqualTo("-");
    assertThat(last().get("status").asInt()).isEqualTo(401);
  }

  @Test
  void aRefusedRequestWritesLittleOfItsText() {
    String name = "%E2%82%AC".repeat(1_000);
    running.put("/v1/namespaces/" + "a".repeat(3_000) + "/timers/" + name, TIMER);
    send("PUT", "/v1/namespaces/" + "a".repeat(3_000) + "/timers/" + name, TIMER);
    send("PUT", "/v1/namespaces/shop/timers/" + "%01".repeat(4_000), TIMER);

    assertThat(last().get("id").asString()).endsWith("...");
    assertThat(lines()).hasSize(3).allMatch(line -> line.length() < 1_024);
    assertThat(lines().get(0)).hasSizeLessThan(600).doesNotContain("\"id\"");
  }

  @Test
  void theLongestNameIsWhole() {
    String id = "\u00e9".repeat(128);
    assertThat(send("PUT", "/v1/namespaces/shop/timers/" + "%C3%A9".repeat(128), TIMER).status())
        .isEqualTo(201);

    assertThat(last().get("id").asString()).isEqualTo(id);
  }

  @Test
  void samplesRequestsWithoutAToken() {
    AtomicLong nanos = new AtomicLong();
    AuditLog audit = new AuditLog(nanos::get);
    for (int i = 0; i < 1_000; i++) {
      audit.write(entry(401));
    }
    assertThat(lines()).hasSize(10).noneMatch(line -> line.contains("unlogged"));

    audit.write(entry(403));
    assertThat(last().get("unlogged").asInt()).isEqualTo(990);
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
    audit.write(entry(401));
    assertThat(last().get("status").asInt()).isEqualTo(401);
    assertThat(last().has("unlogged")).isFalse();
    assertThat(lines()).hasSize(12);
  }

  private static AuditLog.Entry entry(int status) {
    return new AuditLog.Entry("-", "::1", "r", "PUT /", "/", Map.of(), Map.of(), status);
  }

  @Test
  void containsNoRequestThatChangesNothing() {
    send("GET", "/v1/namespaces/shop/timers/a", null);
    send("POST", "/v1/namespaces/shop/queues/q/firings:claim", "{\"wait\":\"PT0S\"}");

    assertThat(lines()).isEmpty();
  }

  @Test
  void namesTheTimersOfABatchABulkVerbAndAClaim() {
    String path = "/v1/namespaces/shop/timers";
    String item = "\"after\":\"PT0S\",\"target\":{\"queue\":\"q\"}}";
    send("POST", path + ":batch", "{\"timers\":[{\"id\":\"a\"," + item + ",{\"id\":\"b\"}]}");
    assertThat(last().get("ids").values()).extracting(JsonNode::asString).containsExactly("a");

    JsonNode claimed =
        send("POST", "/v1/namespaces/shop/queues/q/firings:claim", "{\"wait\":\"PT30S\"}").json();
    assertThat(last().get("ids").values()).extracting(JsonNode::asString).containsExactly("a");
    String lease = claimed.at("/firings/0/leaseToken").asString();
    String fireId = claimed.at("/firings/0/fireId").asString();
    send(
        "POST",
        "/v1/namespaces/shop/firings/" + fireId + ":ack",
        "{\"leaseToken\":\"" + lease + "\"}");
    assertThat(last().get("id").asString()).isEqualTo("a");
    assertThat(lines()).noneMatch(line -> line.contains(lease));

    send("POST", path + ":cancel", "{\"filter\":{\"prefix\":\"x\"},\"expect\":0}");
    assertThat(last().get("prefix").asString()).isEqualTo("x");
    assertThat(last().get("changed").asInt()).isZero();
  }

  @Test
  void aLineIsOneLineForAnyNameInARequest() {
    send("PUT", "/v1/namespaces/shop/timers/a%0D%0A%7B%22who%22:%22admin%22%7D", TIMER);
    send("DELETE", "/v1/namespaces/shop/timers/%E2%80%A8%C2%85%1B%5B2J", null);
    send("DELETE", "/v1/namespaces/shop/timers/a", null, "X-Request-Id", "{}");

    assertThat(lines()).hasSize(3).allMatch(line -> line.matches("[ -~]+"));
    assertThat(last().get("request").asString()).matches("[0-9a-f]+");
  }
}
