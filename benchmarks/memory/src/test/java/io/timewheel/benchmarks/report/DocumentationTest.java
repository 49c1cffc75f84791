// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.timewheel.benchmarks.results.Results;
import io.timewheel.benchmarks.workloads.Workload;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DocumentationTest {
  /** The committed documentation. */
  private static final Documentation COMMITTED = Documentation.around(Path.of(""));

  private static final Path LATEST =
      COMMITTED.root().resolve("benchmarks/memory/results/latest.json");

  @TempDir Path root;
  private Path readme;
  private Path page;
  private Path tables;

  @BeforeEach
  void copyTheTexts() throws IOException {
    readme = root.resolve("README.md");
    page = root.resolve("docs/internals/benchmarks.md");
    tables = root.resolve("docs/internals/benchmarks/tables.md");
    Files.createDirectories(root.resolve("docs/internals"));
    Files.copy(COMMITTED.root().resolve("README.md"), readme);
    Files.copy(COMMITTED.root().resolve("docs/internals/benchmarks.md"), page);
  }

  private static Results latest() {
    return Files.exists(LATEST) ? Results.read(LATEST) : null;
  }

  private String report(String... args) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    Report.run(List.of(args), root.resolve("docs"), out);
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static void replace(Path file, String what, String by) throws IOException {
    String text = Files.readString(file);
    assertThat(text).contains(what);
    Files.writeString(file, text.replace(what, by));
  }

  /** Checks the committed documents. The other tests verify that this check can fail. */
  @Test
  void figuresInTheDocumentationAreThoseOfTheLatestRecording() throws IOException {
    assertThat(COMMITTED.actual())
        .as(
            "to fix it: benchmarks/memory/run, or Report benchmarks/memory/results/latest.json"
                + " --write")
        .isEqualTo(COMMITTED.expected(latest()));
  }

  @Test
  void withoutARecordingThereAreNoFigures() throws IOException {
    Documentation documentation = new Documentation(root);
    documentation.write(Results.read(Recordings.imaginary()));
    assertThat(documentation.actual()).isNotEqualTo(documentation.expected(null));

    documentation.write(null);

    assertThat(documentation.actual()).isEqualTo(documentation.expected(null));
    assertThat(Files.readString(readme))
        .contains("<!-- figures: begin -->\nNot recorded yet.\n<!-- figures: end -->");
    assertThat(Files.readString(tables)).endsWith("\n\nNot recorded yet.\n");
  }

  @Test
  void anEditedFigureIsFound() throws IOException {
    Results recording = Results.read(Recordings.imaginary());
    Documentation documentation = new Documentation(root);
    documentation.write(recording);
    assertThat(documentation.actual()).isEqualTo(documentation.expected(recording));

    Map<Path, String> figures =
        Map.of(
            page,
            "Recorded on 2",
            readme,
            "Recorded on 2",
            tables,
            "| **Timewheel hierarchical** | 20 (10–22) |");
    for (Map.Entry<Path, String> figure : figures.entrySet()) {
      replace(figure.getKey(), figure.getValue(), figure.getValue().replace('2', '3'));
      assertThat(documentation.actual()).isNotEqualTo(documentation.expected(recording));
      documentation.write(recording);
      assertThat(documentation.actual()).isEqualTo(documentation.expected(recording));
    }
  }

  @Test
  void handWrittenTextIsPreserved() throws IOException {
    String before = Files.readString(page);
    String introduction = before.substring(0, before.indexOf("<!-- "));
    String end = before.substring(before.lastIndexOf("<!-- "));

    new Documentation(root).write(Results.read(Recordings.imaginary()));

    assertThat(Files.readString(page)).startsWith(introduction).endsWith(end);
  }

  @Test
  void everyWorkloadIsInTheTables() throws IOException {
    new Documentation(root).write(Results.read(Recordings.imaginary()));

    String text = Files.readString(tables);
    assertThat(text).contains("\n## Targets\n\n", "| 2 times (1.25–2) | met |");
    assertThat(text).contains("\n## idle\n\n### idle, 6M pending\n");
    for (Workload workload : Workload.values()) {
      assertThat(text).contains("\n## " + workload.id() + "\n\n");
    }
    assertThat(text).contains("Not part of this recording.");
  }

  @Test
  void everyWorkloadIsExplained() throws IOException {
    String text = Files.readString(page);
    for (Workload workload : Workload.values()) {
      assertThat(text).contains("| [" + workload.id() + "](benchmarks/tables.md#" + workload.id());
    }
  }

  @Test
  void quickRunIsLabelledWhereverItsFiguresAre() throws IOException {
    Results quick =
        Recordings.of("timewheel")
            .values("churn", "1 thread", "timewheel", "opsPerSecond", 1e6)
            .results("quick");

    new Documentation(root).write(quick);

    assertThat(Files.readString(readme)).contains("This is a quick run");
    assertThat(Files.readString(page)).contains("This is a quick run");
    assertThat(Files.readString(tables)).contains("This is a quick run");
  }

  @Test
  void missingOrDuplicateMarkersAreRefusedWithoutChanges() throws IOException {
    Results recording = Results.read(Recordings.imaginary());
    Documentation documentation = new Documentation(root);

    replace(page, "<!-- headline: end -->", "");
    Map<Path, String> before = documentation.actual();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> documentation.write(recording))
        .withMessage("docs/internals/benchmarks.md has no \"<!-- headline: end -->\"");
    assertThat(documentation.actual()).isEqualTo(before);

    replace(page, "<!-- headline: begin -->", "<!-- headline: end --><!-- headline: begin -->");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> documentation.write(recording))
        .withMessage(
            "docs/internals/benchmarks.md has \"<!-- headline: end -->\" before \"<!-- headline:"
                + " begin -->\"");

    replace(readme, "<!-- figures: begin -->", "<!-- figures: begin --><!-- figures: begin -->");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> documentation.write(recording))
        .withMessage("README.md has \"<!-- figures: begin -->\" twice");
  }

  @Test
  void reportPrintsAllTablesAndChangesNothing() throws IOException {
    Map<Path, String> before = new Documentation(root).actual();

    assertThat(report(Recordings.imaginary().toString()))
        .contains("2 processors (Imaginary CPU), 8 GB, Linux 6.1", "`-Xmx4g`", "Took 1:30 h")
        .contains("| churn (start + cancel), 1 thread, against Netty 4.2 |")
        .contains("### churn, 1 thread", "### idle, 6M pending", "### idle, 0 pending");

    assertThat(new Documentation(root).actual()).isEqualTo(before);
  }

  @Test
  void reportWritesIntoTheCheckoutThatItIsRunIn() throws IOException {
    Results recording = Results.read(Recordings.imaginary());

    assertThat(report(Recordings.imaginary().toString(), "--write")).contains(root.toString());

    Documentation documentation = new Documentation(root);
    assertThat(documentation.actual()).isEqualTo(documentation.expected(recording));
    try (Stream<Path> files = Files.walk(root)) {
      assertThat(files.map(Path::toString)).noneMatch(file -> file.endsWith(".new"));
    }
  }

  @Test
  void wrongArgumentsAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> report())
        .withMessageContaining("--write");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> report("a.json", "--wrote"))
        .withMessage("arguments: <recording.json> [--write]");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> report("none.json"))
        .withMessageStartingWith("no file ");
  }
}
