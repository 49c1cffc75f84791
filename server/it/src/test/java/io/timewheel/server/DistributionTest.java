// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.TimerState;
import io.timewheel.server.cli.Main;
import io.timewheel.server.settings.Settings;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The files that operators copy refer only to existing metrics. */
class DistributionTest {
  /** The prefix of the metrics of a shared database. */
  static final String SHARED = "timewheel_durable_jdbc_";

  private static final Path FILES = Path.of("../dist");

  /** {@return the metrics that the alerts use} */
  static List<String> asked() throws IOException {
    return Pattern.compile("timewheel_\\w+")
        .matcher(Files.readString(FILES.resolve("alerts.yml")))
        .results()
        .map(MatchResult::group)
        .toList();
  }

  @Test
  void everyMetricOfTheAlertsIsMeasured() throws Exception {
    TreeSet<String> measured = new TreeSet<>();
    try (Running running = new Running()) {
      // The meters of states and queues begin with the first ready timer.
      running.scheduler.schedule(TimerSpec.of("shop", "a").after(Duration.ZERO).queue("q"));
      Await.until(() -> running.scheduler.counts().get("shop").get(TimerState.READY) != null);
      running
          .get("/metrics")
          .response()
          .body()
          .lines()
          .filter(line -> !line.startsWith("#"))
          .map(line -> line.split("[{ ]", 2)[0])
          .forEach(measured::add);
    }
    assertThat(asked())
        .filteredOn(metric -> !metric.startsWith(SHARED))
        .isNotEmpty()
        .isSubsetOf(measured);
  }

  @Test
  void everyAlertHasASeverity() throws IOException {
    String rules = Files.readString(FILES.resolve("alerts.yml"));
    assertThat(Pattern.compile("- alert: ").splitAsStream(rules).skip(1))
        .isNotEmpty()
        .allSatisfy(
            rule -> assertThat(rule).containsPattern("labels: \\{severity: (critical|warning)}\n"));
  }

  @Test
  void everySettingIsOne() throws Exception {
    Path file = FILES.resolve("timewheel.properties");
    CommandLine line = Main.commandLine(Map.of(Settings.FILE, file.toString()));
    StringWriter out = new StringWriter();
    line.setOut(new PrintWriter(out));
    assertThat(line.execute("config")).isZero();
    assertThat(out.toString()).contains("/etc/timewheel/tokens").contains("timers.example");
  }

  @Test
  void aServerWithoutMemoryEndsAndIsStartedAgain() throws IOException {
    for (Path start :
        List.of(
            Path.of("../../timewheel"),
            FILES.resolve("Containerfile"),
            FILES.resolve("timewheel.service"))) {
      assertThat(start).content().contains("-XX:+ExitOnOutOfMemoryError");
    }
  }

  @Test
  void aServerIsStartedAgainUntilItsDatabaseAnswers() throws IOException {
    assertThat(FILES.resolve("timewheel.service"))
        .content()
        .contains("\nStartLimitIntervalSec=0\n", "\nRestart=always\n");
  }
}
