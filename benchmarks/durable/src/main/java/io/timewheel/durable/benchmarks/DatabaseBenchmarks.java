// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * Measures durable timers and their peers on a shared database. Each subject runs in its own JVM
 * and on its own server. Every second round runs in reverse order. Prints tables, and writes every
 * measurement to a file.
 */
final class DatabaseBenchmarks {
  private static final Path RESULTS = Path.of("benchmarks/durable/results/database.json");
  private static final Path PAGE = Path.of("docs/internals/benchmarks/cluster.md");
  private static final String HELP =
      """
      benchmarks/durable/database [options]
        --only SECTIONS    schedule,fire,recur,effects,lag,bytes,snapshot,nodes-fire,nodes-schedule
        --subjects NAMES   timewheel,effects,effects-batch,effects-jdbc-batch,bare,bare-batch,
                           db-scheduler,db-scheduler-best,quartz,quartz-best,jobrunr,jobrunr-best,
                           dbos,dbos-best
        --variants TEXT    only variants that contain this, such as "64 callers"
        --server NAME      postgresql or mariadb (both)
        --seconds N        duration of workloads without an end (5)
        --snapshot-seconds N  duration of an open snapshot (60)
        --rounds N         rounds of rows with a target; other rows have one (3)
        --out FILE         write results here (benchmarks/durable/target/database.json)
        --report FILE      measure nothing; print the tables of a file
        --write            replace benchmarks/durable/results/database.json
                           and docs/internals/benchmarks/cluster.md
      A single measurement: benchmarks/durable/database --server postgresql --only fire --subjects timewheel --rounds 1
      """;

  private final List<Results.Run> runs = new ArrayList<>();

  private DatabaseBenchmarks() {}

  public static void main(String[] args) throws Exception {
    Options options = Options.parse(HELP, List.of("help", "write"), args);
    if (options.has("help")) {
      System.out.print(HELP);
      return;
    }
    Results results =
        options.has("report")
            ? Results.read(Path.of(options.text("report", "")))
            : new DatabaseBenchmarks().measure(options);
    System.out.print(DatabaseReport.text(results));
    if (options.has("write")) {
      results.write(RESULTS);
      Files.writeString(PAGE, DatabaseReport.page(results));
    }
  }

  private Results measure(Options options) throws IOException, InterruptedException {
    int rounds = options.number("rounds", DatabasePlan.ROUNDS);
    List<DatabasePlan.Cell> cells = new ArrayList<>();
    for (ServerPlace.Server server : ServerPlace.Server.values()) {
      if (options.names("server", server.id())) {
        cells.addAll(
            DatabasePlan.of(
                server,
                options.number("seconds", 5),
                options.number("snapshot-seconds", 60),
                rounds));
      }
    }
    cells.removeIf(cell -> !chosen(cell, options));
    Path out = Path.of(options.text("out", "benchmarks/durable/target/database.json"));
    String commit = Surroundings.commit();
    Results results = null;
    for (int round = 1; round <= rounds; round++) {
      List<DatabasePlan.Cell> order = new ArrayList<>(cells);
      if (round % 2 == 0) {
        Collections.reverse(order);
      }
      for (DatabasePlan.Cell cell : order) {
        if (round <= cell.rounds()) {
          run(cell, round);
          results = new Results("full", Instant.now(), Surroundings.machine(), commit, runs);
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

  private static boolean chosen(DatabasePlan.Cell cell, Options options) {
    return options.names("only", cell.section().id())
        && options.names("subjects", cell.subject().id())
        && cell.variant().contains(options.text("variants", ""));
  }

  private void run(DatabasePlan.Cell cell, int round) throws InterruptedException {
    double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    System.err.printf("round %d: %s%n", round, cell.name());
    Map<String, Double> figures = Map.of();
    String failure = null;
    try {
      figures =
          Child.run(
              DatabaseMeasurement.class,
              1_024,
              List.of(
                  cell.workload().id(),
                  cell.subject().id(),
                  cell.server().id(),
                  cell.parameters().toString()));
    } catch (IOException e) {
      failure = e.getMessage();
    }
    Results.Run run =
        new Results.Run(
            round,
            cell.section().on(cell.server()),
            cell.variant(),
            cell.subject().id(),
            cell.parameters().toString(),
            load,
            figures,
            failure);
    System.err.println("  " + (failure == null ? run.figures() : failure));
    runs.add(run);
  }
}
