// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What is measured on a shared database, in which order, and how much of it. */
final class DatabasePlan {
  /**
   * One row of one column of a table.
   *
   * @param section the table
   * @param rounds in how many rounds it is measured, at most
   */
  record Cell(
      String section,
      String variant,
      Workload workload,
      DatabaseSubject subject,
      Parameters parameters,
      int rounds) {
    String name() {
      return section + ", " + variant + ", " + subject.id();
    }
  }

  private final long millis;
  private final List<Cell> cells = new ArrayList<>();

  private DatabasePlan(long millis) {
    this.millis = millis;
  }

  /** {@code seconds}: how long what has no end of its own is measured. */
  static List<Cell> of(long seconds) {
    DatabasePlan plan = new DatabasePlan(1_000 * seconds);
    plan.schedule();
    plan.fire();
    plan.recur();
    plan.effects();
    plan.lag();
    return plan.cells;
  }

  private void schedule() {
    for (int callers : new int[] {1, 8, 64}) {
      schedule(callers + (callers == 1 ? " caller" : " callers"), callers, 1);
    }
    add(
        "schedule",
        "asynchronous",
        Workload.ASYNC,
        DatabaseSubject.OURS,
        "warmupMillis=3000,millis=" + millis);
    schedule("lists of 1,000", 2, 1_000);
  }

  private void schedule(String variant, int callers, int batch) {
    add(
        "schedule",
        variant,
        Workload.SCHEDULE,
        DatabaseSubject.OURS,
        "callers=%d,batch=%d,warmupMillis=3000,millis=%d".formatted(callers, batch, millis));
  }

  private void fire() {
    add(
        "fire",
        "50,000 due at once",
        Workload.FIRE,
        DatabaseSubject.OURS,
        "timers=50000,leadMillis=4000,limitMillis=300000");
  }

  private void recur() {
    add(
        "recur",
        "40,000 every second",
        Workload.RECUR,
        DatabaseSubject.OURS,
        "timers=40000,everyMillis=1000,leadMillis=3000,warmupMillis=3000,millis=" + millis);
  }

  private void effects() {
    effects(DatabaseSubject.EFFECTS, 30_000);
    effects(DatabaseSubject.EFFECTS_BATCH, 50_000);
    effects(DatabaseSubject.EFFECTS_JDBC_BATCH, 50_000);
  }

  private void effects(DatabaseSubject subject, int timers) {
    add(
        "effects",
        "due at once",
        Workload.FIRE,
        subject,
        "timers=" + timers + ",leadMillis=4000,limitMillis=300000");
  }

  private void lag() {
    for (int perSecond : new int[] {200, 2_000}) {
      add(
          "lag",
          String.format(Locale.ROOT, "%,d a second", perSecond),
          Workload.LAG,
          DatabaseSubject.OURS,
          "perSecond=%d,warmupMillis=5000,millis=%d,leadMillis=15000,limitMillis=10000"
              .formatted(perSecond, 2 * millis));
    }
  }

  private void add(
      String section, String variant, Workload workload, DatabaseSubject subject, String text) {
    cells.add(new Cell(section, variant, workload, subject, Parameters.parse(text), 3));
  }
}
