// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.jdbc.testing.DatabaseServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Injects faults into a cluster on one database. Nodes are killed, suspended and disconnected, and
 * have wrong clocks. The database server is restarted and killed. Then every timer must fire.
 * {@link LogChecker} judges the results and observations of all nodes.
 */
public final class Cluster {
  private static final String USAGE =
      "--database postgresql or mariadb (postgresql), --minutes N (1), --life SECONDS on one"
          + " database (120), --nodes N (4), --skew MILLIS of clocks (300000), --faults NAME,NAME"
          + " (all), --seed N, --fault NAME of a broken store, --directory PATH";
  private static final Set<String> NAMES =
      Set.of(
          "database", "minutes", "life", "nodes", "skew", "faults", "seed", "fault", "directory");

  private final Plan plan;
  private final Consumer<String> progress;

  /** The kinds of faults. */
  enum Fault {
    /** A node is killed, and another one joins soon. */
    KILL,
    /** A node stalls for longer than its node lease, and continues. */
    ZOMBIE,
    /** A node stalls briefly. */
    PAUSE,
    /** A node leaves cleanly, and another one joins soon. */
    LEAVE,
    /** One more node joins, or one of too many leaves. */
    RESIZE,
    /** The server closes connections. */
    TERMINATE,
    /** The network of a node is slow. */
    DELAY,
    /** The connections of a node are cut. */
    CUT,
    /** The connections of a node are cut, and new ones are refused for a while. */
    REFUSE,
    /** The network of a node drops all data without an error. */
    SILENCE,
    /** The server sees the connections of a node closed. The node does not. */
    LOSE_SERVER,
    /** The node sees its connections closed. The server does not. */
    LOSE_NODE,
    /** The server is stopped and started. */
    RESTART,
    /** The server is killed and started. */
    CRASH
  }

  /**
   * The plan of a run.
   *
   * @param seconds the duration of the run
   * @param lifeSeconds the duration on one database, before every timer must fire
   * @param nodes the approximate number of nodes
   * @param skewMillis the largest error of the clocks of nodes
   * @param faults the kinds of faults
   * @param seed the seed of all random numbers
   * @param fault the fault that is injected on purpose
   * @param directory the directory of the logs; those of a life without violations are deleted
   */
  record Plan(
      int seconds,
      int lifeSeconds,
      int nodes,
      int skewMillis,
      Set<Fault> faults,
      long seed,
      String fault,
      Path directory) {}

  /** The result of a run. */
  static final class Report {
    final List<String> violations = new ArrayList<>();
    final Map<Fault, Integer> faults = new EnumMap<>(Fault.class);
    final Map<String, List<Long>> takeOverMillis = new TreeMap<>();
    int lives;
    int nodes;
    long acknowledged;
    long begun;
    long completed;
    long effects;
    long overtaken;

    void addTakeOvers(Map<String, List<Long>> millisByKind) {
      millisByKind.forEach(
          (kind, millis) ->
              takeOverMillis.computeIfAbsent(kind, same -> new ArrayList<>()).addAll(millis));
    }

    @Override
    public String toString() {
      StringBuilder text =
          new StringBuilder(
              String.format(
                  "%,d nodes in %,d lives: %s%n%,d schedules committed, %,d attempts started (%,d"
                      + " of them late, by nodes that had stalled), %,d successes recorded, %,d"
                      + " effects of handlers in transactions; %d violations",
                  nodes,
                  lives,
                  faults,
                  acknowledged,
                  begun,
                  overtaken,
                  completed,
                  effects,
                  violations.size()));
      takeOverMillis.forEach(
          (kind, millis) ->
              text.append(String.format("%n  %s: %s", kind, TakeOvers.distribution(millis))));
      return text.toString();
    }
  }

  Cluster(Plan plan, Consumer<String> progress) {
    this.plan = plan;
    this.progress = progress;
  }

  public static void main(String[] args) throws Exception {
    Options options = Options.parse(args, USAGE, NAMES);
    Set<Fault> faults = EnumSet.noneOf(Fault.class);
    for (String name : options.text("faults", "").split(",", -1)) {
      if (!name.isEmpty()) {
        faults.add(Fault.valueOf(name));
      }
    }
    Plan plan =
        new Plan(
            (int) TimeUnit.MINUTES.toSeconds(options.number("minutes", 1)),
            (int) options.number("life", 120),
            (int) options.number("nodes", 4),
            (int) options.number("skew", 300_000),
            faults.isEmpty() ? EnumSet.allOf(Fault.class) : faults,
            options.number("seed", System.nanoTime()),
            options.text("fault", Log.NONE),
            Path.of(options.text("directory", "target/cluster")));
    DatabaseKind kind = DatabaseKind.named(options.text("database", "postgresql"));
    System.out.println(kind + ", " + plan);
    Report report;
    try (DatabaseServer server = kind.server()) {
      // Half-open connections count in addition to the connections in use.
      server.sync(false).set("max_connections", 300).start();
      report = new Cluster(plan, System.out::println).run(server);
    }
    System.out.println(report);
    System.exit(report.violations.isEmpty() ? 0 : 1);
  }

  /** Runs on a server, which is restarted several times, and runs at the end. */
  Report run(DatabaseServer server) throws IOException, InterruptedException {
    Files.createDirectories(plan.directory);
    Random random = new Random(plan.seed);
    Report all = new Report();
    long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(plan.seconds);
    while (System.nanoTime() < endNanos) {
      Path directory = plan.directory.resolve("life-" + all.lives++).toAbsolutePath();
      Directories.delete(directory);
      Files.createDirectories(directory);
      Report life = new Report();
      LogChecker checker = new LogChecker();
      try (ClusterLife nodes = new ClusterLife(plan, server, directory, random.nextLong(), life)) {
        nodes.run();
        checker.read(nodes.log());
      }
      life.violations.addAll(checker.judge(ClusterLife.CLOCK_ERROR_MILLIS));
      all.violations.addAll(life.violations);
      life.faults.forEach((fault, times) -> all.faults.merge(fault, times, Integer::sum));
      all.addTakeOvers(life.takeOverMillis);
      all.nodes += life.nodes;
      all.acknowledged += checker.acknowledged();
      all.begun += checker.begun();
      all.completed += checker.completed();
      all.effects += checker.effects();
      all.overtaken += checker.overtaken();
      progress.accept("life " + (all.lives - 1) + ", so far " + all);
      life.violations.stream().limit(20).forEach(progress);
      if (life.violations.isEmpty()) {
        Directories.delete(directory);
      } else {
        Files.write(directory.resolve("violations"), life.violations);
      }
    }
    return all;
  }
}
