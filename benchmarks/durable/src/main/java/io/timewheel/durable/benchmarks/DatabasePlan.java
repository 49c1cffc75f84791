// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import static io.timewheel.durable.benchmarks.DatabaseSubject.BARE;
import static io.timewheel.durable.benchmarks.DatabaseSubject.BARE_BATCH;
import static io.timewheel.durable.benchmarks.DatabaseSubject.DBOS;
import static io.timewheel.durable.benchmarks.DatabaseSubject.DBOS_BEST;
import static io.timewheel.durable.benchmarks.DatabaseSubject.DB_SCHEDULER;
import static io.timewheel.durable.benchmarks.DatabaseSubject.DB_SCHEDULER_BEST;
import static io.timewheel.durable.benchmarks.DatabaseSubject.EFFECTS;
import static io.timewheel.durable.benchmarks.DatabaseSubject.EFFECTS_BATCH;
import static io.timewheel.durable.benchmarks.DatabaseSubject.EFFECTS_JDBC_BATCH;
import static io.timewheel.durable.benchmarks.DatabaseSubject.JOBRUNR;
import static io.timewheel.durable.benchmarks.DatabaseSubject.JOBRUNR_BEST;
import static io.timewheel.durable.benchmarks.DatabaseSubject.OURS;
import static io.timewheel.durable.benchmarks.DatabaseSubject.QUARTZ;
import static io.timewheel.durable.benchmarks.DatabaseSubject.QUARTZ_BEST;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The measurements on a shared database: their order and sizes. */
final class DatabasePlan {
  /**
   * The number of rounds of the subjects that a target compares. The other peers are several times
   * slower and run one round.
   */
  static final int ROUNDS = 3;

  private static final Set<DatabaseSubject> ONCE =
      EnumSet.of(DB_SCHEDULER, QUARTZ, QUARTZ_BEST, JOBRUNR, JOBRUNR_BEST, DBOS, DBOS_BEST);

  /**
   * One row of one column of a table.
   *
   * @param rounds the largest number of rounds in which it is measured
   */
  record Cell(
      ServerPlace.Server server,
      DatabaseSection section,
      String variant,
      Workload workload,
      DatabaseSubject subject,
      Parameters parameters,
      int rounds) {
    String name() {
      return section.on(server) + ", " + variant + ", " + subject.id();
    }
  }

  private final ServerPlace.Server server;
  private final long millis;
  private final long snapshotSeconds;
  private final int rounds;
  private final List<Cell> cells = new ArrayList<>();

  private DatabasePlan(ServerPlace.Server server, long millis, long snapshotSeconds, int rounds) {
    this.server = server;
    this.millis = millis;
    this.snapshotSeconds = snapshotSeconds;
    this.rounds = rounds;
  }

  /**
   * Returns the cells of the plan.
   *
   * @param seconds the duration of workloads without an end
   * @param snapshotSeconds the duration of a held snapshot
   * @param rounds the number of rounds of Timewheel
   */
  static List<Cell> of(ServerPlace.Server server, long seconds, long snapshotSeconds, int rounds) {
    boolean all = server == ServerPlace.Server.POSTGRESQL;
    DatabasePlan plan = new DatabasePlan(server, 1_000 * seconds, snapshotSeconds, rounds);
    plan.schedule(all);
    plan.fire(all);
    plan.recur();
    plan.effects();
    plan.lag(all);
    if (all) {
      plan.bytes();
      plan.snapshot();
      plan.nodes();
    }
    return plan.cells;
  }

  private void schedule(boolean all) {
    int[] several = all ? new int[] {1, 8, 64} : new int[] {8, 64};
    for (int callers : several) {
      String variant = callers + (callers == 1 ? " caller" : " callers");
      schedule(variant, OURS, callers, 1);
      schedule(variant, BARE, callers, 1);
      schedule(variant, DB_SCHEDULER_BEST, callers, 1);
      if (all) {
        schedule(variant, QUARTZ_BEST, callers, 1);
        schedule(variant, JOBRUNR_BEST, callers, 1);
        schedule(variant, DBOS_BEST, callers, 1);
      }
    }
    add(
        DatabaseSection.SCHEDULE,
        "asynchronous",
        Workload.ASYNC,
        OURS,
        "warmupMillis=6000,millis=" + millis);
    String lists = "lists of 1,000";
    schedule(lists, OURS, 2, 1_000);
    schedule(lists, BARE, 2, 1_000);
    schedule(lists, DB_SCHEDULER_BEST, 2, 1_000);
    if (all) {
      schedule(lists, QUARTZ_BEST, 2, 1_000);
    }
  }

  private void schedule(String variant, DatabaseSubject subject, int callers, int batch) {
    add(
        DatabaseSection.SCHEDULE,
        variant,
        Workload.SCHEDULE,
        subject,
        "callers=%d,batch=%d,warmupMillis=6000,millis=%d".formatted(callers, batch, millis));
  }

  /** Fires as many timers as fit into the time, because the figure is a rate. */
  private void fire(boolean all) {
    burst(DatabaseSection.FIRE, "due at once", OURS, 50_000);
    burst(DatabaseSection.FIRE, "due at once", DB_SCHEDULER, all ? 50_000 : 10_000);
    burst(DatabaseSection.FIRE, "due at once", DB_SCHEDULER_BEST, all ? 50_000 : 10_000);
    if (all) {
      burst(DatabaseSection.FIRE, "due at once", QUARTZ, 1_000);
      burst(DatabaseSection.FIRE, "due at once", QUARTZ_BEST, 2_000);
      burst(DatabaseSection.FIRE, "due at once", JOBRUNR, 5_000);
      burst(DatabaseSection.FIRE, "due at once", JOBRUNR_BEST, 5_000);
      burst(DatabaseSection.FIRE, "due at once", DBOS, 2_000);
      burst(DatabaseSection.FIRE, "due at once", DBOS_BEST, 5_000);
    }
  }

  private void burst(DatabaseSection section, String variant, DatabaseSubject subject, int timers) {
    String parameters =
        "timers=" + timers + ",bursts=3,warmupMillis=6000,leadMillis=4000,limitMillis=300000";
    add(section, variant, Workload.FIRE, subject, parameters);
  }

  private void recur() {
    add(
        DatabaseSection.RECUR,
        "40,000 every second",
        Workload.RECUR,
        OURS,
        "timers=40000,everyMillis=1000,leadMillis=3000,warmupMillis=6000,millis=" + millis);
  }

  private void effects() {
    burst(DatabaseSection.EFFECTS, "due at once", EFFECTS, 20_000);
    burst(DatabaseSection.EFFECTS, "due at once", EFFECTS_BATCH, 50_000);
    burst(DatabaseSection.EFFECTS, "due at once", EFFECTS_JDBC_BATCH, 50_000);
    burst(DatabaseSection.EFFECTS, "due at once", BARE, 20_000);
    burst(DatabaseSection.EFFECTS, "due at once", BARE_BATCH, 50_000);
  }

  private void lag(boolean all) {
    List<DatabaseSubject> slow =
        all
            ? List.of(
                OURS,
                DB_SCHEDULER,
                DB_SCHEDULER_BEST,
                QUARTZ,
                QUARTZ_BEST,
                JOBRUNR,
                JOBRUNR_BEST,
                DBOS,
                DBOS_BEST)
            : List.of(OURS, DB_SCHEDULER_BEST);
    slow.forEach(subject -> lag(200, subject));
    lag(2_000, OURS);
    lag(2_000, DB_SCHEDULER_BEST);
  }

  private void lag(int perSecond, DatabaseSubject subject) {
    add(
        DatabaseSection.LAG,
        String.format(Locale.ROOT, "%,d a second", perSecond),
        Workload.LAG,
        subject,
        "perSecond=%d,warmupMillis=%d,millis=%d,leadMillis=%d,limitMillis=10000"
            .formatted(
                perSecond,
                perSecond < 1_000 ? 30_000 : 5_000, // some thousands, to warm up the compiler
                2 * millis,
                subject.isPeer() ? 15_000 : 5_000));
  }

  private void bytes() {
    bytes(OURS, 500_000);
    bytes(DB_SCHEDULER, 500_000);
    bytes(QUARTZ, 20_000);
    bytes(JOBRUNR, 20_000);
    bytes(DBOS, 20_000);
  }

  private void bytes(DatabaseSubject subject, int timers) {
    add(DatabaseSection.BYTES, "stored", Workload.FILL, subject, "timers=" + timers);
  }

  private void snapshot() {
    for (boolean held : new boolean[] {false, true}) {
      add(
          DatabaseSection.SNAPSHOT,
          held ? "held open" : "without",
          Workload.LAG,
          OURS,
          "perSecond=2000,warmupMillis=5000,millis=%d,leadMillis=30000,limitMillis=10000,snapshot=%d"
              .formatted(1_000 * snapshotSeconds, held ? 1 : 0),
          1);
    }
  }

  private void nodes() {
    for (int nodes = 1; nodes <= 4; nodes++) {
      String variant = nodes + (nodes == 1 ? " node" : " nodes");
      add(
          DatabaseSection.NODES_FIRE,
          variant,
          Workload.FIRE,
          OURS,
          "timers=50000,warmupMillis=6000,leadMillis=4000,limitMillis=300000,nodes=" + nodes,
          1);
      add(
          DatabaseSection.NODES_SCHEDULE,
          variant,
          Workload.SCHEDULE,
          OURS,
          "callers=64,batch=1,warmupMillis=6000,millis=%d,nodes=%d".formatted(millis, nodes));
    }
  }

  private void add(
      DatabaseSection section,
      String variant,
      Workload workload,
      DatabaseSubject subject,
      String parameters) {
    add(section, variant, workload, subject, parameters, ONCE.contains(subject) ? 1 : rounds);
  }

  private void add(
      DatabaseSection section,
      String variant,
      Workload workload,
      DatabaseSubject subject,
      String parameters,
      int rounds) {
    cells.add(
        new Cell(
            server, section, variant, workload, subject, Parameters.parse(parameters), rounds));
  }
}
