// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import io.timewheel.benchmarks.results.Results;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The files of a checkout that contain figures: the README and {@code
 * docs/internals/benchmarks.md}, each with a generated part, and {@code
 * docs/internals/benchmarks/tables.md}, which is generated completely.
 *
 * <p>Their contents follow from the recording, or its absence, and from their hand-written parts.
 * Writing them and checking them is the same computation.
 */
final class Documentation {
  private static final String NOT_RECORDED = "Not recorded yet.";

  private static final String TABLES_HEAD =
      """
      # The tables of the benchmarks

      Generated from `benchmarks/memory/results/latest.json`; do not edit. [Benchmarks](../benchmarks.md) \
      describes the workloads and the method.

      """;

  private final Path root;

  /** Reads the checkout with the given root. */
  Documentation(Path root) {
    this.root = root;
  }

  /** Returns the checkout that contains the directory. */
  static Documentation around(Path directory) {
    for (Path root = directory.toAbsolutePath(); root != null; root = root.getParent()) {
      if (Files.exists(root.resolve("docs/internals/benchmarks.md"))) {
        return new Documentation(root);
      }
    }
    throw new IllegalArgumentException(
        directory + " is not in a checkout: no docs/internals/benchmarks.md above it");
  }

  Path root() {
    return root;
  }

  /**
   * Returns the expected contents of the files for the latest recording, or for none if it is null.
   */
  Map<Path, String> expected(@Nullable Results recording) throws IOException {
    Sections readmeSections = new Sections("README.md", Files.readString(readme()));
    Sections pageSections = new Sections("docs/internals/benchmarks.md", Files.readString(page()));
    Text text = recording == null ? null : new Text(new Measurements(recording));
    readmeSections.replace("figures", text == null ? NOT_RECORDED : text.brief());
    pageSections.replace("headline", text == null ? NOT_RECORDED : text.headline());
    Map<Path, String> files = new TreeMap<>();
    files.put(readme(), readmeSections.text());
    files.put(page(), pageSections.text());
    files.put(tables(), TABLES_HEAD + (text == null ? NOT_RECORDED + "\n" : text.tables()));
    return files;
  }

  /** Returns the present contents of the files that exist. */
  Map<Path, String> actual() throws IOException {
    Map<Path, String> files = new TreeMap<>();
    for (Path file : List.of(readme(), page(), tables())) {
      if (Files.exists(file)) {
        files.put(file, Files.readString(file));
      }
    }
    return files;
  }

  /** Writes the expected contents, each file atomically. */
  void write(@Nullable Results recording) throws IOException {
    // Everything is computed before anything is written: an error leaves the documents unchanged.
    Map<Path, String> expected = expected(recording);
    for (Map.Entry<Path, String> file : expected.entrySet()) {
      write(file.getKey(), file.getValue());
    }
  }

  private Path readme() {
    return root.resolve("README.md");
  }

  private Path page() {
    return root.resolve("docs/internals/benchmarks.md");
  }

  private Path tables() {
    return root.resolve("docs/internals/benchmarks/tables.md");
  }

  private static void write(Path file, String text) throws IOException {
    Path directory = Objects.requireNonNull(file.getParent());
    Files.createDirectories(directory);
    Path temporary = directory.resolve(file.getFileName() + ".new");
    try {
      Files.writeString(temporary, text);
      Files.move(
          temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }
}
