// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Measures durable timers and their peers. Each subject runs in its own JVM. Every second round
 * runs in reverse order. Prints tables, and writes every measurement to a file.
 */
final class DurableBenchmarks {
  private static final String HELP =
      """
      benchmarks/durable/run [options]
        --quick            run one short round
        --only WORKLOADS   schedule,fire,lag,reopen,window,churn
        --subjects NAMES   see docs/internals/benchmarks/durable.md
        --variants TEXT    run only variants that contain this
        --rounds N         run at most this many rounds
        --churn-minutes N  duration of churn (2)
        --dir DIRECTORY    measure the disk of this directory, in its folder "stores"
        --into FILE        add results to this file
        --out FILE         write results here (benchmarks/durable/results/<time>.json)
        --report FILE      measure nothing; print the tables of a file
        --write            write the tables to docs/internals/benchmarks/durable.md too
      """;

  private static final int FILL_MEGABYTES = 1_024;

  private final Path directory;
  private final List<Results.Run> runs = new ArrayList<>();

  private DurableBenchmarks(Path directory) {
    this.directory = directory;
  }

  public static void main(String[] args) throws Exception {
    Options options = parse(args);
    if (options.has("help")) {
      System.out.print(HELP);
      return;
    }
    Results results =
        options.has("report")
            ? Results.read(Path.of(options.text("report", "")))
            : measure(options);
    System.out.print(Report.text(results));
    if (options.has("write")) {
      Files.writeString(Path.of("docs/internals/benchmarks/durable.md"), Report.page(results));
    }
  }

  static Options parse(String... args) {
    return Options.parse(HELP, List.of("quick", "help", "write"), args);
  }

  private static Results measure(Options options) throws IOException, InterruptedException {
    boolean quick = options.has("quick");
    long minutes = options.number("churn-minutes", quick ? 1 : 2);
    List<Plan.Cell> cells =
        Plan.of(quick, minutes).stream().filter(cell -> chosen(cell, options)).toList();
    int rounds = options.number("rounds", 3);
    Path directory = stores(options.text("dir", "benchmarks/durable/target"));
    Path out =
        Path.of(
            options.text(
                options.has("into") ? "into" : "out",
                "benchmarks/durable/results/"
                    + Instant.now().toString().replace(':', '-')
                    + ".json"));
    DurableBenchmarks benchmarks = new DurableBenchmarks(directory);
    Results before = options.has("into") ? Results.read(Path.of(options.text("into", ""))) : null;
    if (before != null) {
      benchmarks.runs.addAll(before.runs());
    }
    String commit = Surroundings.commit();
    Results results = null;
    for (int round = 1; round <= rounds; round++) {
      List<Plan.Cell> order = new ArrayList<>(cells);
      if (round % 2 == 0) {
        Collections.reverse(order);
      }
      for (Plan.Cell cell : order) {
        if (round <= cell.rounds()) {
          benchmarks.run(cell, round);
          results =
              new Results(
                  before != null ? before.mode() : quick ? "quick" : "full",
                  Instant.now(),
                  Surroundings.machine(),
                  commit,
                  benchmarks.runs);
          results.write(out);
        }
      }
    }
    if (results == null) {
      throw new IllegalArgumentException("nothing to measure");
    }
    System.err.println("written to " + out);
    return results;
  }

  private static boolean chosen(Plan.Cell cell, Options options) {
    return options.names("only", cell.workload().id())
        && options.names("subjects", cell.subject().id())
        && cell.variant().contains(options.text("variants", ""));
  }

  private void run(Plan.Cell cell, int round) throws IOException, InterruptedException {
    double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    System.err.printf("round %d: %s%n", round, cell.name());
    Map<String, Double> figures = Map.of();
    String failure = null;
    delete(directory);
    Files.createDirectories(directory);
    try {
      if (cell.workload() == Workload.REOPEN) {
        start(Workload.FILL, cell, FILL_MEGABYTES);
      }
      figures = start(cell.workload(), cell, cell.heapMegabytes());
    } catch (IOException e) {
      failure = e.getMessage();
    } finally {
      delete(directory);
    }
    System.err.println("  " + (failure == null ? figures : failure));
    runs.add(
        new Results.Run(
            round,
            cell.workload().id(),
            cell.variant(),
            cell.subject().id(),
            cell.parameters().toString(),
            load,
            figures,
            failure));
  }

  private Map<String, Double> start(Workload workload, Plan.Cell cell, int heapMegabytes)
      throws IOException, InterruptedException {
    return Child.run(
        Measurement.class,
        heapMegabytes,
        List.of(
            workload.id(),
            cell.subject().id(),
            directory.toString(),
            cell.parameters().toString()));
  }

  /** Returns a separate folder, because its files are deleted before and after each measurement. */
  static Path stores(String directory) {
    return Path.of(directory).resolve("stores");
  }

  static void delete(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(file);
        }
      }
    }
  }
}
