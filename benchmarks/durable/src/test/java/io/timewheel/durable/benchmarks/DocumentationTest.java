// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DocumentationTest {
  private static final Path MODULE = Path.of("").toAbsolutePath();

  @Test
  void thePageShowsTheLatestRecordingToTheDigit() throws Exception {
    Results latest = Results.read(MODULE.resolve("results/latest.json"));

    assertThat(MODULE.resolve("../../docs/internals/benchmarks/durable.md").normalize())
        .as("to write it: benchmarks/durable/run --report FILE --write")
        .hasContent(Report.page(latest));
    assertThat(latest.runs()).isNotEmpty();
  }

  /** One command records both, or neither. */
  @Test
  void thePageOfTheSharedDatabaseShowsItsRecordingToTheDigit() throws Exception {
    Path recording = MODULE.resolve("results/database.json");
    Path page = MODULE.resolve("../../docs/internals/benchmarks/cluster.md").normalize();

    if (Files.exists(recording)) {
      assertThat(page)
          .as("to write it: benchmarks/durable/database --report FILE --write")
          .hasContent(DatabaseReport.page(Results.read(recording)));
    } else {
      assertThat(page).doesNotExist();
    }
  }

  @Test
  void theReadmeAndTheComparisonShowTheFiguresOfTheSharedDatabase() throws Exception {
    String table = DatabaseReport.comparison(Results.read(MODULE.resolve("results/database.json")));

    for (String page : List.of("README.md", "docs/migrate/comparison.md")) {
      assertThat(MODULE.resolve("../../" + page).normalize()).content().contains(table);
    }
  }
}
