// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.io.IOException;
import java.util.List;
import java.util.TreeMap;

/**
 * Measures durable timers on a shared database: each workload in a JVM of its own, on a server of
 * its own. Prints figures.
 */
final class DatabaseBenchmarks {
  private static final String HELP =
      """
      durable/benchmarks/database [options]
        --only SECTIONS    schedule,fire,recur,effects,lag
        --subjects NAMES   timewheel,effects,effects-batch,effects-jdbc-batch
        --variants TEXT    only variants that contain this, such as "64 callers"
        --server NAME      postgresql (the default) or mariadb
        --seconds N        how long what has no end of its own is measured (5)
        --rounds N         at most so many (3)
      One of them alone: durable/benchmarks/database --only fire --rounds 1
      """;

  private DatabaseBenchmarks() {}

  public static void main(String[] args) throws Exception {
    Options options = Options.parse(HELP, List.of("help"), args);
    if (options.has("help")) {
      System.out.print(HELP);
      return;
    }
    List<DatabasePlan.Cell> cells =
        DatabasePlan.of(options.number("seconds", 5)).stream()
            .filter(cell -> chosen(cell, options))
            .toList();
    for (int round = 1; round <= options.number("rounds", 3); round++) {
      for (DatabasePlan.Cell cell : cells) {
        if (round <= cell.rounds()) {
          System.err.printf("round %d: %s%n", round, cell.name());
          System.err.println("  " + run(cell, options.text("server", "postgresql")));
        }
      }
    }
  }

  private static boolean chosen(DatabasePlan.Cell cell, Options options) {
    return options.names("only", cell.section())
        && options.names("subjects", cell.subject().id())
        && cell.variant().contains(options.text("variants", ""));
  }

  private static String run(DatabasePlan.Cell cell, String server) throws InterruptedException {
    try {
      return new TreeMap<>(
              Child.run(
                  DatabaseMeasurement.class,
                  1_024,
                  List.of(
                      cell.workload().id(),
                      cell.subject().id(),
                      server,
                      cell.parameters().toString())))
          .toString();
    } catch (IOException e) {
      return "failed: " + e.getMessage();
    }
  }
}
