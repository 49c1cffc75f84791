// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import io.timewheel.benchmarks.report.Charts.Chart;
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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The files of a checkout that show figures: the README, {@code docs/BENCHMARKS.md} and the plots.
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
    Path readme = root.resolve("README.md");
    Path page = root.resolve("docs/BENCHMARKS.md");
    Sections readmeSections = new Sections("README.md", Files.readString(readme));
    Sections pageSections = new Sections("docs/BENCHMARKS.md", Files.readString(page));
    if (recording == null) {
      readmeSections.replace("figures", NOT_RECORDED);
      pageSections.replace("run", NOT_RECORDED);
      pageSections.replace("figures", NOT_RECORDED);
      for (Workload workload : Workload.values()) {
        pageSections.replace(workload.id(), NOT_RECORDED);
      }
    } else {
      Text text = new Text(new Measurements(recording));
      readmeSections.replace("figures", text.headline());
      pageSections.replace("run", text.circumstances());
      pageSections.replace("figures", text.promises());
      for (Workload workload : Workload.values()) {
        pageSections.replace(workload.id(), text.section(workload));
      }
      text.charts().forEach(chart -> files.put(plot(chart), chart.svg()));
    }
    files.put(readme, readmeSections.text());
    files.put(page, pageSections.text());
    return files;
  }

  /** Returns the files as they are. */
  Map<Path, String> actual() throws IOException {
    Map<Path, String> files = new TreeMap<>();
    for (Path file : Stream.concat(texts(), plots().stream()).toList()) {
      files.put(file, Files.readString(file));
    }
    return files;
  }

  /** Makes the files what they must be, each at once or not at all, and removes other plots. */
  void write(@Nullable Results recording) throws IOException {
    // All of it is made before any of it is written: an error leaves the documentation alone.
    Map<Path, String> expected = expected(recording);
    for (Map.Entry<Path, String> file : expected.entrySet()) {
      write(file.getKey(), file.getValue());
    }
    for (Path plot : plots()) {
      if (!expected.containsKey(plot)) {
        Files.delete(plot);
      }
    }
  }

  private Stream<Path> texts() {
    return Stream.of(root.resolve("README.md"), root.resolve("docs/BENCHMARKS.md"));
  }

  private Path plot(Chart chart) {
    return root.resolve("docs/benchmarks").resolve(chart.name() + ".svg");
  }

  private List<Path> plots() throws IOException {
    Path directory = root.resolve("docs/benchmarks");
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(".svg")).sorted().toList();
    }
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
