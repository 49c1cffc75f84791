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
 * Does to a cluster whatever can happen to it: nodes on one database are killed, suspended, cut off
 * from it, and have clocks that are wrong; the server is restarted and crashed. Then everything
 * must fire, and what all nodes were told and saw is judged.
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

  /** What happens. */
  enum Fault {
    /** A node is killed; another one comes soon. */
    KILL,
    /** A node stands still for longer than its lease, and comes back. */
    ZOMBIE,
    /** A node stands still for a moment. */
    PAUSE,
    /** A node leaves in good order; another one comes soon. */
    LEAVE,
    /** One more node comes, or one too many leaves. */
    RESIZE,
    /** The server ends connections. */
    TERMINATE,
    /** The network of a node is slow. */
    DELAY,
    /** The connections of a node are cut. */
    CUT,
    /** The connections of a node are cut, and new ones for a while too. */
    REFUSE,
    /** The network of a node carries nothing, and says so to nobody. */
    SILENCE,
    /** The server is told that the connections of a node are gone; the node is not. */
    LOSE_SERVER,
    /** The node is told that its connections are gone; the server is not. */
    LOSE_NODE,
    /** The server is stopped and started. */
    RESTART,
    /** The server is killed and started. */
    CRASH
  }

  /**
   * What to do.
   *
   * @param seconds how long in all
   * @param lifeSeconds how long on one database, before everything must fire
   * @param nodes how many nodes there are, more or less
   * @param skewMillis how wrong the clocks of nodes may be
   * @param faults what happens
   * @param seed of all random numbers
   * @param fault what is broken on purpose
   * @param directory where logs are made; those of a life without violations are deleted
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

  /** What came of it. */
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
                  "%,d nodes in %,d lives: %s%n%,d schedules acknowledged, %,d attempts begun (%,d"
                      + " of them late, by nodes that had stood still), %,d successes recorded, %,d"
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
      // What half-open connections hold is beside what is in use.
      server.sync(false).set("max_connections", 300).start();
      report = new Cluster(plan, System.out::println).run(server);
    }
    System.out.println(report);
    System.exit(report.violations.isEmpty() ? 0 : 1);
  }

  /** Runs on a server, which is restarted now and then, and runs in the end. */
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
      Story story = new Story();
      try (ClusterLife nodes = new ClusterLife(plan, server, directory, random.nextLong(), life)) {
        nodes.run();
        story.read(nodes.log());
      }
      life.violations.addAll(story.judge(ClusterLife.CLOCK_ERROR_MILLIS));
      all.violations.addAll(life.violations);
      life.faults.forEach((fault, times) -> all.faults.merge(fault, times, Integer::sum));
      all.addTakeOvers(life.takeOverMillis);
      all.nodes += life.nodes;
      all.acknowledged += story.acknowledged();
      all.begun += story.begun();
      all.completed += story.completed();
      all.effects += story.effects();
      all.overtaken += story.overtaken();
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
