// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.util.Arrays;

/** The subjects that are measured on a shared database. */
@SuppressWarnings("ImmutableEnumChecker") // a factory is a lambda without state
enum DatabaseSubject {
  OURS("timewheel", "**Ours**", DatabaseSubject::timewheel),
  EFFECTS("effects", "Ours, one by one, 8 handlers", Ledger::oneByOne),
  EFFECTS_BATCH("effects-batch", "Ours, `batchHandler`", Ledger::inBatches),
  EFFECTS_JDBC_BATCH(
      "effects-jdbc-batch", "Ours, `batchHandler` with JDBC batches", Ledger::inJdbcBatches),
  BARE("bare", "Bare JDBC, one by one, 8 threads", BareSubject::oneByOne),
  BARE_BATCH("bare-batch", "Bare JDBC, batches of 500", BareSubject::inBatches),
  DB_SCHEDULER("db-scheduler", "db-scheduler", DbSchedulerSubject::byDefault),
  DB_SCHEDULER_BEST("db-scheduler-best", "db-scheduler, tuned", DbSchedulerSubject::atItsBest),
  QUARTZ("quartz", "Quartz, clustered", QuartzSubject::byDefault),
  QUARTZ_BEST("quartz-best", "Quartz, clustered, tuned", QuartzSubject::atItsBest),
  JOBRUNR("jobrunr", "JobRunr", JobRunrSubject::byDefault),
  JOBRUNR_BEST("jobrunr-best", "JobRunr, tuned", JobRunrSubject::atItsBest),
  DBOS("dbos", "DBOS Transact", DbosSubject::byDefault),
  DBOS_BEST("dbos-best", "DBOS Transact, tuned", DbosSubject::atItsBest);

  /** Opens a subject on a database. */
  @FunctionalInterface
  private interface Opener {
    Subject open(ServerPlace place, int nodes, Subject.OnFire onFire) throws Exception;
  }

  private final String id;
  private final String title;
  private final Opener opener;

  DatabaseSubject(String id, String title, Opener opener) {
    this.id = id;
    this.title = title;
    this.opener = opener;
  }

  private static Subject timewheel(ServerPlace place, int nodes, Subject.OnFire onFire)
      throws Exception {
    return ClusterSubject.start(
        place,
        nodes,
        0,
        (builder, store) ->
            builder.handler(TimewheelSubject.HANDLER, firing -> onFire.fired(firing.id())));
  }

  String id() {
    return id;
  }

  /** Returns the title for a table. */
  String title() {
    return title;
  }

  /** Returns whether it is another project's scheduler. */
  boolean isPeer() {
    return compareTo(DB_SCHEDULER) >= 0;
  }

  Subject open(ServerPlace place, int nodes, Subject.OnFire onFire) throws Exception {
    return opener.open(place, nodes, onFire);
  }

  static DatabaseSubject of(String id) {
    return Arrays.stream(values())
        .filter(subject -> subject.id.equals(id))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no subject " + id));
  }
}
