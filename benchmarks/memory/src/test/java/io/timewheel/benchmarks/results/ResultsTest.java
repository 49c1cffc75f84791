// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.results;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultsTest {
  @TempDir Path directory;

  private static Results example(int format) {
    return example(format, null);
  }

  private static Results of(String commit) {
    return example(Results.FORMAT, commit);
  }

  private static Results example(int format, @Nullable String commit) {
    return new Results(
        format,
        "quick",
        Instant.parse("2026-01-01T00:00:00Z"),
        Instant.parse("2026-01-01T00:09:59.5Z"),
        new Machine(2, "A model", 1L << 34, "An OS"),
        new Jdk("17.0.15+6", "A vendor", "A VM"),
        List.of("-Xmx1g"),
        commit,
        List.of(new SubjectInfo("timewheel", "Timewheel", "0.1", "1 ms")),
        List.of(
            new Run("churn", "1 thread", "timewheel", 0, 3, Map.of("bytesPerOp", 40.0), null, null),
            new Run("churn", "2 threads", "timewheel", 1, 0, null, "no threads", null),
            new Run("load", "10M", "timewheel", 1, 0, null, null, "out of memory")));
  }

  @Test
  void readsWrittenResults() throws IOException {
    Path file = directory.resolve("new").resolve("results.json");

    example(Results.FORMAT).write(file);

    assertThat(Results.read(file)).isEqualTo(example(Results.FORMAT));
    assertThat(file.getParent()).isDirectoryContaining(path -> path.equals(file));
    try (var files = Files.list(file.getParent())) {
      assertThat(files).hasSize(1);
    }
  }

  @Test
  void writesTheDocumentedNames() throws IOException {
    Path file = directory.resolve("results.json");

    example(Results.FORMAT).write(file);

    assertThat(Files.readString(file))
        .contains("\"format\" : 1", "\"started\" : \"2026-01-01T00:00:00Z\"", "\"commit\" : null")
        .contains("\"metrics\" : {", "\"bytesPerOp\" : 40.0")
        .contains("\"absent\" : \"no threads\"", "\"failed\" : \"out of memory\"")
        .doesNotContain("\"failed\" : null", "\"absent\" : null", "\"metrics\" : null");
  }

  @Test
  void keepsEarlierResultsOfOtherVariants() {
    Run again =
        new Run("churn", "1 thread", "timewheel", 0, 0, Map.of("bytesPerOp", 41.0), null, null);
    Results now = of("new");
    Results earlier = of("old, older").with(again, now.finished());

    Results both = now.into(earlier, List.of("load, 10M"));

    assertThat(both.runs())
        .containsExactly(
            now.runs().get(0),
            now.runs().get(1),
            again,
            now.runs().get(0),
            now.runs().get(1),
            now.runs().get(2));
    assertThat(both.commit()).isEqualTo("new, old, older");
    assertThat(both.flags()).containsExactly("-Xmx1g");
  }

  @Test
  void doesNotMixIncomparableResults() {
    Results now = example(Results.FORMAT);
    Results elsewhere =
        new Results(
            now.format(),
            now.mode(),
            now.started(),
            now.finished(),
            new Machine(4, "A model", 1L << 34, "An OS"),
            now.jdk(),
            now.flags(),
            now.commit(),
            now.subjects(),
            now.runs());

    assertThatThrownBy(() -> now.into(elsewhere, List.of("load")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("machine: ");
  }

  @Test
  void refusesAnotherFormat() throws IOException {
    Path file = directory.resolve("results.json");
    example(2).write(file);

    assertThatThrownBy(() -> Results.read(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(": 2 (expected: 1)");
  }
}
