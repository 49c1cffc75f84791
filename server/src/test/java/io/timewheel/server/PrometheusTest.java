// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Running.Answer;
import io.timewheel.server.security.Tokens;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The metrics and the rules, held to Debian's Prometheus. */
@Timeout(300)
class PrometheusTest {
  private static final Path DIST = Path.of("dist").toAbsolutePath();
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

  /** Runs promtool in the directory of the rules; it reports nothing that is wrong. */
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

  /** A server with a timer in a queue, a claimed one, and one that has failed. */
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
  void theAlertsFireAsIntended() throws Exception {
    String test = Path.of("src/test/resources/alerts-test.yml").toAbsolutePath().toString();
    assertThat(promtool(null, "test", "rules", test)).contains("SUCCESS");
  }
}
