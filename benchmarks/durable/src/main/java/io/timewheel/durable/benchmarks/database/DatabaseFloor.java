// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks.database;

import io.timewheel.durable.benchmarks.database.FloorTables.Batch;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.DatabaseServer;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The floor of a store on PostgreSQL: only the necessary statements, on tables like those of the
 * store. Prints a table in Markdown.
 */
public final class DatabaseFloor {
  private static final int ROUNDS = 5;
  private static final int CALLERS = 64;
  private static final int OTHERS = 50_000_000;

  /** The measured operations. */
  private enum Operation {
    UPSERT("upsert of arrays, outcomes returned"),
    SCHEDULE_READ("the same in general form: lock, read, decide, insert"),
    GROUP("upsert by 64 waiting callers, group commit"),
    FIRE("fire: fenced claim; fenced delete with history"),
    FIRE_READ("the same in general form: read FOR UPDATE, decide, write back"),
    CLAIM("claim alone"),
    FINISH("delete with history alone"),
    FINISH_UNFENCED("delete with history, without the fence");

    private final String title;

    Operation(String title) {
      this.title = title;
    }
  }

  /** One line of the table. Batches have at most this size. */
  private record Case(Operation operation, int batch, int connections) {}

  /**
   * One measurement: timers per second, and microseconds of the server and of the client per timer.
   */
  private record Measured(double perSecond, double serverMicros, double clientMicros) {}

  private final Database database;
  private final DatabaseServer server;

  DatabaseFloor(DatabaseServer server) {
    this.server = server;
    database = server.administration().with("prepareThreshold", 1);
  }

  public static void main(String[] args) throws Exception {
    int timers = args.length > 0 ? Integer.parseInt(args[0].replace("_", "")) : 100_000;
    try (DatabaseServer server = DatabaseServer.postgresql()) {
      server.set("shared_buffers", "512MB").set("max_wal_size", "8GB");
      System.out.print(new DatabaseFloor(server.start()).measure(timers, ROUNDS));
    }
  }

  private static List<Case> cases() {
    List<Case> cases = new ArrayList<>();
    for (int batch : new int[] {100, 1_000}) {
      for (int connections : new int[] {1, 2, 4}) {
        cases.add(new Case(Operation.UPSERT, batch, connections));
      }
    }
    cases.add(new Case(Operation.SCHEDULE_READ, 100, 1));
    cases.add(new Case(Operation.SCHEDULE_READ, 1_000, 1));
    for (int connections : new int[] {1, 2, 4}) {
      cases.add(new Case(Operation.GROUP, CALLERS, connections));
    }
    for (Operation operation : List.of(Operation.FIRE, Operation.FIRE_READ)) {
      for (int batch : new int[] {100, 1_000}) {
        for (int connections : new int[] {1, 2}) {
          cases.add(new Case(operation, batch, connections));
        }
      }
    }
    cases.add(new Case(Operation.CLAIM, 1_000, 1));
    cases.add(new Case(Operation.FINISH, 1_000, 1));
    cases.add(new Case(Operation.FINISH_UNFENCED, 1_000, 1));
    return cases;
  }

  /** Measures all operations, and returns a table. */
  String measure(int timers, int rounds) throws Exception {
    Map<Case, List<Measured>> all = new LinkedHashMap<>();
    cases().forEach(one -> all.put(one, new ArrayList<>()));
    // A single round is a trial. The first of several rounds is a warm-up.
    for (int round = rounds == 1 ? 1 : 0; round <= rounds; round++) {
      for (Case one : all.keySet()) {
        Measured measured = measure(one, timers);
        if (round > 0) {
          all.get(one).add(measured);
        }
      }
    }
    StringBuilder table = new StringBuilder();
    table.append("| | batch | connections | thousand/s | server, µs each | client, µs each |\n");
    table.append("|---|--:|--:|--:|--:|--:|\n");
    all.forEach(
        (one, results) ->
            table.append(
                String.format(
                    "| %s | %,d | %d | %s | %.1f | %.1f |%n",
                    one.operation.title,
                    one.batch,
                    one.connections,
                    spread(results.stream().mapToDouble(Measured::perSecond).toArray()),
                    median(results.stream().mapToDouble(Measured::serverMicros).toArray()),
                    median(results.stream().mapToDouble(Measured::clientMicros).toArray()))));
    return table.toString();
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }

  private static String spread(double[] values) {
    double median = median(values);
    return String.format(
        "%.0f (%.0f–%.0f)", median / 1_000, values[0] / 1_000, values[values.length - 1] / 1_000);
  }

  private Measured measure(Case one, int timers) throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    List<FloorTables> tables = new ArrayList<>();
    try {
      for (int i = 0; i < one.connections; i++) {
        tables.add(new FloorTables(database.connect()));
      }
      prepare(one, timers, tables.get(0));
      long serverBefore = Cpu.ofServer(server);
      long clientBefore = Cpu.ofThisJvm();
      long begin = System.nanoTime();
      if (one.operation == Operation.GROUP) {
        GroupCommit.run(tables, CALLERS, timers, threads);
      } else {
        all(threads, tables, timers, one);
      }
      double seconds = (System.nanoTime() - begin) / 1e9;
      return new Measured(
          timers / seconds,
          (Cpu.ofServer(server) - serverBefore) / 1e3 / timers,
          (Cpu.ofThisJvm() - clientBefore) / 1e3 / timers);
    } finally {
      threads.shutdownNow();
      for (FloorTables table : tables) {
        table.connection().close();
      }
    }
  }

  /** Prepares the tables for an operation. */
  private void prepare(Case one, int timers, FloorTables tables) throws SQLException {
    tables.create();
    int chunk = 1_000;
    for (int first = 0; first < timers; first += chunk) {
      Batch batch = Batch.of(first, chunk);
      switch (one.operation) {
        // Otherwise a plan for an empty table would scan the whole table after it has grown.
        case UPSERT, SCHEDULE_READ, GROUP -> tables.upsert(Batch.of(OTHERS + first, chunk));
        case FIRE, FIRE_READ, CLAIM -> tables.upsert(batch);
        case FINISH, FINISH_UNFENCED -> {
          tables.upsert(batch);
          tables.claim(batch);
        }
      }
      tables.connection().commit();
    }
    tables.settle();
  }

  /** Runs an operation. Each connection works on its own part of the timers. */
  private static void all(ExecutorService threads, List<FloorTables> tables, int timers, Case one)
      throws Exception {
    int part = timers / tables.size();
    List<Future<?>> parts = new ArrayList<>();
    for (int i = 0; i < tables.size(); i++) {
      FloorTables own = tables.get(i);
      int begin = i * part;
      Callable<Void> work =
          () -> {
            for (int first = begin; first < begin + part; first += one.batch) {
              operate(one.operation, own, Batch.of(first, one.batch));
            }
            return null;
          };
      parts.add(threads.submit(work));
    }
    for (Future<?> future : parts) {
      future.get();
    }
  }

  private static void operate(Operation operation, FloorTables tables, Batch batch)
      throws SQLException {
    switch (operation) {
      case UPSERT, GROUP -> tables.upsert(batch);
      case SCHEDULE_READ -> {
        tables.lock(batch);
        tables.insert(FloorTables.newRows(batch));
      }
      case FIRE -> {
        tables.claim(batch);
        tables.fence(batch);
        tables.connection().commit();
        tables.finish(batch);
        tables.fence(batch);
      }
      case FIRE_READ -> {
        Rows claimed = tables.lock(batch);
        claimed.begin();
        tables.update(claimed);
        tables.fence(batch);
        tables.connection().commit();
        Rows ended = tables.lock(batch);
        ended.succeed();
        tables.delete(ended);
        tables.fence(batch);
      }
      case CLAIM -> {
        tables.claim(batch);
        tables.fence(batch);
      }
      case FINISH -> {
        tables.finish(batch);
        tables.fence(batch);
      }
      case FINISH_UNFENCED -> tables.finish(batch);
    }
    tables.connection().commit();
  }
}
