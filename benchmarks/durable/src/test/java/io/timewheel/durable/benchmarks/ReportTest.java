// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ReportTest {
  private final List<Results.Run> runs = new ArrayList<>();

  private void run(int round, String subject, double perSecond) {
    run(
        round,
        subject,
        Map.of("perSecond", perSecond, "cpuMicros", 5.0, "p50Millis", 2.0, "p99Millis", 3.0),
        null);
  }

  private void run(
      int round, String subject, Map<String, Double> figures, @Nullable String failure) {
    runs.add(
        new Results.Run(
            round, "schedule", "64 callers", subject, "callers=64", 1.5, figures, failure));
  }

  private Results results() {
    return new Results("full", Instant.EPOCH, "a machine", "0123", runs);
  }

  @Test
  void showsTheMedianAndItsSpread() {
    run(1, "timewheel", 100_000);
    run(2, "timewheel", 300_000);
    run(3, "timewheel", 200_000);

    assertThat(Report.text(results()))
        .contains("| 200,000 (100,000–300,000)/s<br>5 µs of CPU each<br>p50 2 ms");
  }

  @Test
  void comparesRoundByRound() {
    run(1, "timewheel", 100);
    run(1, "quartz", 10); // 10
    run(2, "quartz", 1_000); // 0.2
    run(2, "timewheel", 200);
    run(3, "timewheel", 900);
    run(3, "quartz", 300); // 3

    assertThat(Report.text(results()))
        .containsPattern("Quartz.* \\| 300 \\(10–1,000\\)/s<br>.*<br>×3 \\|");
  }

  @Test
  void showsWhetherATargetIsMetOrWasNotMeasured() {
    run(1, "timewheel", 99_999);

    assertThat(Report.text(results()))
        .contains("synced, 64 callers | at least 100,000 | 99,999 | **NOT met** |")
        .contains("synced, 1 caller, batches of 1,000 | at least 100,000 |  | not measured |")
        .contains("fires/s | at least 50,000 |  | not measured |");
  }

  @Test
  void aTargetThatIsReachedIsMet() {
    run(1, "timewheel", 100_000);

    assertThat(Report.text(results()))
        .contains("synced, 64 callers | at least 100,000 | 100,000 | met |");
  }

  @Test
  void showsFailures() {
    run(1, "timewheel", 1);
    run(1, "quartz", Map.of(), "no | luck");

    assertThat(Report.text(results())).contains("| failed: no / luck |");
  }

  @Test
  void aFileContainsAllRuns(@TempDir Path directory) throws Exception {
    run(1, "timewheel", 1.25);
    run(1, "quartz", Map.of(), "no luck");
    Path file = directory.resolve("below/results.json");

    results().write(file);

    assertThat(Results.read(file)).isEqualTo(results());
  }

  private void fires(String section, DatabaseSubject subject, double perSecond) {
    Map<String, Double> figures = Map.of("perSecond", perSecond);
    runs.add(
        new Results.Run(1, section, "due at once", subject.id(), "timers=9", 1.5, figures, null));
  }

  @Test
  void targetsOnADatabaseAreRatios() {
    fires("fire", DatabaseSubject.OURS, 30_000);
    fires("fire", DatabaseSubject.DB_SCHEDULER_BEST, 10_000);
    fires("mariadb-fire", DatabaseSubject.OURS, 21_000);

    assertThat(DatabaseReport.text(results()))
        .contains("| fires/s, of db-scheduler tuned | at least 4 | 3 | **NOT met** |")
        .contains("| MariaDB: fires/s, of PostgreSQL | at least 0.70 | 0.70 | met |")
        .contains("| bytes a timer, of db-scheduler | at most 1.35 |  | not measured |")
        .contains("## MariaDB: Fire");
  }

  @Test
  void omitsALineIfASubjectLacksItsFigure() {
    run(1, "timewheel", Map.of("perSecond", 5.0, "cpuMicros", 5.0), null);

    assertThat(Report.text(results())).contains("| 5/s<br>5 µs of CPU each |");
  }

  @Test
  void numbersHaveThreeDigits() {
    assertThat(List.of(0.0126, 0.126, 1.0, 12.34, 123.4, 12_345.6))
        .extracting(Tables::number)
        .containsExactly("0.013", "0.13", "1", "12.3", "123", "12,346");
  }

  @Test
  void optionsAreCheckedBeforeAnythingIsMeasured() {
    Options options = DurableBenchmarks.parse("--quick", "--only", "fire");
    assertThat(options.has("quick")).isTrue();
    assertThat(options.names("only", "fire")).isTrue();
    assertThat(options.names("only", "lag")).isFalse();
    assertThatThrownBy(() -> DurableBenchmarks.parse("--quik")).hasMessageContaining("--quik");
    assertThatThrownBy(() -> DurableBenchmarks.parse("--only")).hasMessageContaining("--only");
  }

  @Test
  void deletesNothingButItsOwnStores(@TempDir Path directory) throws Exception {
    Path other = Files.writeString(directory.resolve("other"), "of the user");
    Path stores = Files.createDirectories(DurableBenchmarks.stores(directory.toString()));
    DurableBenchmarks.delete(stores);
    assertThat(stores).doesNotExist();
    assertThat(other).exists();
  }
}
