// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.TimerState;
import io.timewheel.server.Running.Answer;
import io.timewheel.server.security.Tokens;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Checks the metrics, the rules and the dashboard with Debian's Prometheus. Only this class
 * evaluates the rules and the queries of the dashboard.
 */
@Timeout(300)
class PrometheusTest {
  private static final Path DIST = Path.of("../dist").toAbsolutePath();
  private static final String TIMER = "/v1/namespaces/shop/timers/";

  @TempDir private Path directory;

  private static String binary(String name) {
    Path path = Path.of("/usr/bin", name);
    if (!Files.isExecutable(path)) {
      String why = "SKIPPED, not tested: there is no " + path + "; install the package prometheus";
      System.err.println(why);
      Assumptions.abort(why);
    }
    return path.toString();
  }

  /** Runs promtool in the directory of the rules. It must report no problem. */
  private static String promtool(Path input, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(binary("promtool")));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).directory(DIST.toFile());
    if (input != null) {
      builder.redirectInput(input.toFile());
    }
    Process process = builder.redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }

  /** Returns a server with a timer in a queue, a claimed one, and a failed one. */
  private Running traffic() throws Exception {
    Path file = directory.resolve("tokens");
    String admin = Tokens.add(file, "admin", "admin", Set.of());
    Files.writeString(directory.resolve("scrape"), Tokens.add(file, "scrape", "metrics", Set.of()));
    Running running = new Running(config -> config, Tokens.open(file));
    String bearer = "Bearer " + admin;
    for (String id : List.of("a", "b", "c")) {
      Answer put =
          running.put(
              TIMER + id,
              "{\"after\":\"PT0S\",\"target\":{\"queue\":\"q\"},\"retry\":{\"maxAttempts\":1}}",
              "Authorization",
              bearer);
      assertThat(put.status()).isEqualTo(201);
    }
    for (String verb : List.of("ack", "nack")) {
      JsonNode firing =
          running
              .post(
                  "/v1/namespaces/shop/queues/q/firings:claim",
                  "{\"max\":1,\"wait\":\"PT1M\"}",
                  "Authorization",
                  bearer)
              .json()
              .at("/firings/0");
      Answer ended =
          running.post(
              "/v1/namespaces/shop/firings/" + firing.get("fireId").asString() + ":" + verb,
              "{\"leaseToken\":\"" + firing.get("leaseToken").asString() + "\"}",
              "Authorization",
              bearer);
      assertThat(ended.status()).isEqualTo(200);
    }
    Await.until(
        () -> running.scheduler.counts().get("shop").getOrDefault(TimerState.READY, 0L) == 1);
    return running;
  }

  private String metrics(Running running) throws IOException {
    String token = Files.readString(directory.resolve("scrape"));
    Answer answer = running.get("/metrics", "Authorization", "Bearer " + token);
    assertThat(answer.status()).isEqualTo(200);
    return answer.response().body();
  }

  @Test
  void theMetricsFollowTheConventions() throws Exception {
    try (Running running = traffic()) {
      Path file = Files.writeString(directory.resolve("metrics"), metrics(running));
      assertThat(promtool(file, "check", "metrics")).isEmpty();
    }
  }

  @Test
  void theMetricsAreThoseOfTheContract() throws Exception {
    try (Running running = traffic()) {
      String text = metrics(running);
      assertThat(text.lines())
          .contains(
              "timewheel_attempts_total{result=\"succeeded\"} 1.0",
              "timewheel_attempts_total{result=\"failed\"} 1.0",
              "timewheel_lag_seconds_count{target=\"queue\"} 3",
              "timewheel_lag_seconds_count{target=\"webhook\"} 0",
              "timewheel_timers{state=\"completed\"} 1.0",
              "timewheel_timers{state=\"failed\"} 1.0",
              "timewheel_timers{state=\"ready\"} 1.0",
              "timewheel_waiting_claims 0.0");
      assertThat(text)
          .contains("\ntimewheel_build_info{")
          .contains("\ntimewheel_lag_seconds_bucket{target=\"queue\",le=\"+Inf\"} 3\n")
          .containsPattern(
              "\ntimewheel_http_requests_seconds_count\\{method=\"PUT\",route=\"[^\"]+\","
                  + "status=\"201\"} 3\n")
          .contains("\njvm_memory_used_bytes{")
          .contains("\nprocess_cpu_usage ");
      assertThat(text.lines().filter(line -> line.contains("le=\"")))
          .allMatch(line -> line.matches("timewheel_[a-z_]+_bucket\\{.*"));
    }
  }

  @Test
  void theRulesAreValid() throws Exception {
    assertThat(promtool(null, "check", "rules", "alerts.yml")).contains("SUCCESS");
  }

  @Test
  void theConfigurationOfTheGuideIsValid() throws Exception {
    String guide = Files.readString(Path.of("../../docs/operate/metrics.md"));
    Matcher block = Pattern.compile("(?s)```yaml\n(.*?)```").matcher(guide);
    assertThat(block.find()).isTrue();
    Path config =
        Files.writeString(
            directory.resolve("prometheus.yml"),
            block.group(1).replace("alerts.yml", DIST.resolve("alerts.yml").toString()));
    assertThat(promtool(null, "check", "config", "--syntax-only", config.toString()))
        .contains("SUCCESS");
    assertThat(Files.readString(DIST.resolve("alerts.yml"))).contains("up{job=\"timewheel\"}");
    assertThat(block.group(1)).contains("job_name: timewheel ");
  }

  @Test
  void theAlertsFireAsIntended() throws Exception {
    String test = Path.of("src/test/resources/alerts-test.yml").toAbsolutePath().toString();
    assertThat(promtool(null, "test", "rules", test)).contains("SUCCESS");
  }

  /** Runs Prometheus, which scrapes a server, and sends it the queries of the dashboard. */
  @Test
  void everyExpressionOfTheDashboardHasAnAnswer() throws Exception {
    String prometheus = binary("prometheus");
    try (Running running = traffic()) {
      int port;
      try (ServerSocket free = new ServerSocket(0)) {
        port = free.getLocalPort();
      }
      Path config =
          Files.writeString(
              directory.resolve("prometheus.yml"),
              """
              global: {scrape_interval: 1s, evaluation_interval: 1s}
              rule_files: ["%s"]
              scrape_configs:
                - job_name: timewheel
                  authorization: {credentials_file: "%s"}
                  static_configs: [{targets: ["127.0.0.1:%d"]}]
              """
                  .formatted(
                      DIST.resolve("alerts.yml"),
                      directory.resolve("scrape"),
                      running.server.port()));
      Path log = directory.resolve("prometheus.log");
      Process process =
          new ProcessBuilder(
                  prometheus,
                  "--config.file=" + config,
                  "--storage.tsdb.path=" + directory.resolve("data"),
                  "--web.listen-address=127.0.0.1:" + port)
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
      try {
        while (!Files.readString(log).contains("Server is ready to receive web requests")) {
          assertThat(process.isAlive()).as(Files.readString(log)).isTrue();
        }
        String base = "http://127.0.0.1:" + port + "/api/v1/query?query=";
        // A rate needs two scrapes.
        while (ask(base, "count_over_time(timewheel_build_info[1m]) >= 3").isEmpty()) {
          assertThat(metrics(running)).isNotEmpty(); // and a counter that grows
        }
        List<String> expressions = expressions();
        assertThat(expressions).hasSizeGreaterThan(10);
        for (String expression : expressions) {
          assertThat(ask(base, expression).isEmpty() && !expression.contains("webhook"))
              .as("no answer: %s", expression)
              .isFalse();
        }
      } finally {
        process.destroyForcibly().waitFor();
      }
    }
  }

  private static List<String> expressions() throws IOException {
    List<String> expressions = new ArrayList<>();
    JsonNode dashboard =
        Running.MAPPER.readTree(Files.readString(DIST.resolve("grafana-dashboard.json")));
    for (JsonNode panel : dashboard.get("panels")) {
      for (JsonNode target : panel.get("targets")) {
        String expression = target.get("expr").asString();
        expressions.add(
            expression.replace("$instance", ".*").replace("[$__rate_interval]", "[1m]"));
      }
    }
    return expressions;
  }

  private final HttpClient client = HttpClient.newHttpClient();

  /** {@return the result of an expression, which Prometheus must accept} */
  private JsonNode ask(String base, String expression) throws Exception {
    URI uri = URI.create(base + URLEncoder.encode(expression, UTF_8));
    JsonNode answer =
        Running.MAPPER.readTree(
            client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body());
    assertThat(answer.get("status").asString()).as(expression + " " + answer).isEqualTo("success");
    return answer.at("/data/result");
  }

  @Test
  void queuesHaveTheirOwnMetrics() throws Exception {
    try (Running running = traffic()) {
      assertThat(metrics(running))
          .contains("\ntimewheel_queue_ready{namespace=\"shop\",queue=\"q\"} 1.0\n")
          .contains("\ntimewheel_queue_oldest_ready_seconds{namespace=\"shop\",queue=\"q\"} ")
          .contains("\ntimewheel_queues_hidden 0.0\n");
    }
  }

  @Test
  void theMetricsOfQueuesAreBoundedInNumber() throws Exception {
    try (Running running = traffic()) {
      int queues = 250;
      for (int i = 0; i < queues; i++) {
        running.scheduler.schedule(
            TimerSpec.of("many", "t" + i).after(Duration.ZERO).queue("q" + i));
      }
      Await.until(
          () ->
              running.scheduler.counts().get("many").getOrDefault(TimerState.READY, 0L) >= queues);
      String text = metrics(running);
      assertThat(text.lines().filter(line -> line.startsWith("timewheel_queue_ready{")))
          .hasSize(200);
      assertThat(text).contains("\ntimewheel_queues_hidden 51.0\n");
    }
  }
}
