// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import io.timewheel.benchmarks.results.Results;
import io.timewheel.benchmarks.workloads.Workload;
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
 * The files of a checkout that show figures: the README and {@code docs/BENCHMARKS.md}.
 *
 * <p>What they must contain follows from the recording, or from there being none, and from their
 * hand-written parts; writing them and checking them is the same computation.
 */
final class Documentation {
  private static final String NOT_RECORDED = "Not recorded yet.";

  private final Path root;

  /** Looks at the checkout whose root is given. */
  Documentation(Path root) {
    this.root = root;
  }

  /** Returns the checkout that the directory is in. */
  static Documentation around(Path directory) {
    for (Path root = directory.toAbsolutePath(); root != null; root = root.getParent()) {
      if (Files.exists(root.resolve("docs/BENCHMARKS.md"))) {
        return new Documentation(root);
      }
    }
    throw new IllegalArgumentException(
        directory + " is not in a checkout: no docs/BENCHMARKS.md above it");
  }

  Path root() {
    return root;
  }

  /** Returns the files as they must be, if this is the latest recording or, if null, none is. */
  Map<Path, String> expected(@Nullable Results recording) throws IOException {
    Map<Path, String> files = new TreeMap<>();
    Sections readmeSections = new Sections("README.md", Files.readString(readme()));
    Sections pageSections = new Sections("docs/BENCHMARKS.md", Files.readString(page()));
    if (recording == null) {
      readmeSections.replace("figures", NOT_RECORDED);
      pageSections.replace("run", NOT_RECORDED);
      pageSections.replace("targets", NOT_RECORDED);
      for (Workload workload : Workload.values()) {
        pageSections.replace(workload.id(), NOT_RECORDED);
      }
    } else {
      Text text = new Text(new Measurements(recording));
      readmeSections.replace("figures", text.headline());
      pageSections.replace("run", text.circumstances());
      pageSections.replace("targets", text.targets());
      for (Workload workload : Workload.values()) {
        pageSections.replace(workload.id(), text.section(workload));
      }
    }
    files.put(readme(), readmeSections.text());
    files.put(page(), pageSections.text());
    return files;
  }

  /** Returns the files as they are. */
  Map<Path, String> actual() throws IOException {
    Map<Path, String> files = new TreeMap<>();
    for (Path file : List.of(readme(), page())) {
      files.put(file, Files.readString(file));
    }
    return files;
  }

  /** Makes the files what they must be, each at once or not at all. */
  void write(@Nullable Results recording) throws IOException {
    // All of it is made before any of it is written: an error leaves the documentation alone.
    Map<Path, String> expected = expected(recording);
    for (Map.Entry<Path, String> file : expected.entrySet()) {
      write(file.getKey(), file.getValue());
    }
  }

  private Path readme() {
    return root.resolve("README.md");
  }

  private Path page() {
    return root.resolve("docs/BENCHMARKS.md");
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
