// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The measurements: their order and sizes. */
final class Plan {
  private static final int BATCH = 1_000;

  /**
   * One row of one column of a table.
   *
   * @param heapMegabytes the heap of its JVM
   * @param rounds the largest number of rounds in which it is measured
   */
  record Cell(
      Workload workload,
      String variant,
      SubjectKind subject,
      Parameters parameters,
      int heapMegabytes,
      int rounds) {
    String name() {
      return workload.id() + ", " + variant + ", " + subject.id();
    }
  }

  private final boolean quick;
  private final long churnMinutes;
  private final List<Cell> cells = new ArrayList<>();

  private Plan(boolean quick, long churnMinutes) {
    this.quick = quick;
    this.churnMinutes = churnMinutes;
  }

  static List<Cell> of(boolean quick, long churnMinutes) {
    Plan plan = new Plan(quick, churnMinutes);
    plan.schedule();
    plan.fire();
    plan.lag();
    plan.reopen();
    plan.window();
    plan.churn();
    return plan.cells;
  }

  /**
   * Adds the schedule workloads. Compared subjects are next to each other, because a machine slows
   * down within a round.
   */
  private void schedule() {
    for (int callers : new int[] {1, 8, 64}) {
      for (SubjectKind subject : SubjectKind.values()) {
        if (!subject.isFloor() || subject == SubjectKind.ROCKSDB) {
          schedule(subject, callers, 1);
        }
      }
    }
    for (int callers : new int[] {1, 8}) {
      for (SubjectKind subject : SubjectKind.values()) {
        if (callers == 1 || !subject.isFloor() || subject == SubjectKind.ROCKSDB) {
          schedule(subject, callers, BATCH);
        }
      }
    }
  }

  private void schedule(SubjectKind subject, int callers, int batch) {
    String variant =
        callers
            + (callers == 1 ? " caller" : " callers")
            + (batch == 1 ? "" : ", batches of 1,000");
    String parameters =
        "callers=%d,batch=%d,warmupMillis=%d,millis=%d"
            .formatted(callers, batch, quick ? 2_000 : 5_000, quick ? 3_000 : 10_000);
    add(Workload.SCHEDULE, variant, subject, parameters);
  }

  private void fire() {
    for (SubjectKind subject : SubjectKind.timers()) {
      boolean peer = subject.isPeer();
      int timers = (peer ? 20_000 : 200_000) / (quick ? 4 : 1);
      add(
          Workload.FIRE,
          "due at once",
          subject,
          "timers=%d,leadMillis=%d,limitMillis=120000"
              .formatted(timers, peer ? (quick ? 8_000 : 30_000) : 8_000));
    }
  }

  private void lag() {
    for (int perSecond : new int[] {200, 5_000}) {
      for (SubjectKind subject :
          List.of(SubjectKind.OURS, SubjectKind.QUARTZ, SubjectKind.DB_SCHEDULER)) {
        add(
            Workload.LAG,
            String.format(Locale.ROOT, "%,d a second", perSecond),
            subject,
            "perSecond=%d,warmupMillis=5000,millis=%d,leadMillis=%d,limitMillis=10000"
                .formatted(perSecond, quick ? 5_000 : 20_000, subject.isPeer() ? 30_000 : 5_000));
      }
    }
  }

  private void reopen() {
    for (SubjectKind subject :
        List.of(SubjectKind.OURS, SubjectKind.QUARTZ, SubjectKind.DB_SCHEDULER)) {
      reopen(subject, "100,000 stored", 100_000);
    }
    reopen(SubjectKind.OURS, quick ? "1 M stored" : "10 M stored", quick ? 1_000_000 : 10_000_000);
  }

  private void reopen(SubjectKind subject, String variant, long timers) {
    cells.add(
        new Cell(
            Workload.REOPEN,
            variant,
            subject,
            Parameters.parse("timers=" + timers + ",limitMillis=60000"),
            256,
            timers > 1_000_000 ? 1 : rounds(subject)));
  }

  private void window() {
    add(Workload.WINDOW, "due within a minute", SubjectKind.OURS, "timers=100000,inMillis=55000");
    add(Workload.WINDOW, "due in a year", SubjectKind.OURS, "timers=100000,inMillis=31536000000");
  }

  private void churn() {
    cells.add(
        new Cell(
            Workload.CHURN,
            churnMinutes + " min",
            SubjectKind.OURS,
            Parameters.parse("perSecond=10000,seconds=" + 60 * churnMinutes),
            1_024,
            1));
  }

  private void add(Workload workload, String variant, SubjectKind subject, String parameters) {
    cells.add(
        new Cell(workload, variant, subject, Parameters.parse(parameters), 1_024, rounds(subject)));
  }

  /** Returns the number of rounds. A subject that is several times slower needs no median. */
  private int rounds(SubjectKind subject) {
    boolean near = !subject.isPeer() && (!subject.isFloor() || subject == SubjectKind.ROCKSDB);
    return quick || !near ? 1 : 3;
  }
}
