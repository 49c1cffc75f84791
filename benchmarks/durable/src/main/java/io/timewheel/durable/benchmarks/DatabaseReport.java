// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import static io.timewheel.durable.benchmarks.DatabaseSection.BYTES;
import static io.timewheel.durable.benchmarks.DatabaseSection.EFFECTS;
import static io.timewheel.durable.benchmarks.DatabaseSection.FIRE;
import static io.timewheel.durable.benchmarks.DatabaseSection.LAG;
import static io.timewheel.durable.benchmarks.DatabaseSection.NODES_SCHEDULE;
import static io.timewheel.durable.benchmarks.DatabaseSection.RECUR;
import static io.timewheel.durable.benchmarks.DatabaseSection.SCHEDULE;
import static io.timewheel.durable.benchmarks.DatabaseSection.SNAPSHOT;
import static io.timewheel.durable.benchmarks.DatabaseSubject.BARE;
import static io.timewheel.durable.benchmarks.DatabaseSubject.BARE_BATCH;
import static io.timewheel.durable.benchmarks.DatabaseSubject.DBOS;
import static io.timewheel.durable.benchmarks.DatabaseSubject.DBOS_BEST;
import static io.timewheel.durable.benchmarks.DatabaseSubject.DB_SCHEDULER;
import static io.timewheel.durable.benchmarks.DatabaseSubject.DB_SCHEDULER_BEST;
import static io.timewheel.durable.benchmarks.DatabaseSubject.EFFECTS_BATCH;
import static io.timewheel.durable.benchmarks.DatabaseSubject.EFFECTS_JDBC_BATCH;
import static io.timewheel.durable.benchmarks.DatabaseSubject.JOBRUNR;
import static io.timewheel.durable.benchmarks.DatabaseSubject.JOBRUNR_BEST;
import static io.timewheel.durable.benchmarks.DatabaseSubject.OURS;
import static io.timewheel.durable.benchmarks.DatabaseSubject.QUARTZ;
import static io.timewheel.durable.benchmarks.DatabaseSubject.QUARTZ_BEST;
import static io.timewheel.durable.benchmarks.ServerPlace.Server.MARIADB;
import static io.timewheel.durable.benchmarks.ServerPlace.Server.POSTGRESQL;

import io.timewheel.durable.benchmarks.ServerPlace.Server;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/** Writes the page of a shared database, in Markdown. */
final class DatabaseReport {
  private static final String HEAD =
      """
      # Durable timers on a shared database, measured

      Generated from `benchmarks/durable/results/database.json`; do not edit. To measure again and replace it:

      ```
      benchmarks/durable/database --write
      ```

      `--help` lists the options, and the command for a single measurement. Absolute figures hold for one machine, whose processors the server and its clients share: compare within a table only. \
      [Benchmarks](../benchmarks.md#bare-sql) has bare SQL on the same tables.

      """;

  private static final String HOW =
      """
      ## How

      * Each measurement has its own JVM and its own server. Every second round runs in reverse order. Figures are medians (least–greatest) if there is more than one round. `×` is the ratio by which our first row is better; below 1 it is worse. CPU is server + client, per timer or in cores.
      * A warm-up lasts at least six seconds, and up to thirty while the JVM's compiler uses more than a tenth of a processor.
      * PostgreSQL and MariaDB have their default durability; `shared_buffers` and InnoDB's pool 512 MB, `max_wal_size` 8 GB, InnoDB's log 2 GB, so that no checkpoint runs during a measurement.
      * A timer has an ID of 16 characters and a payload of 64 bytes. *Schedule*: due within the next month. *Fire*: all due at one moment, with an empty handler, until the last completion is recorded (JobRunr retains finished jobs, ours for a day, the others delete them). The same number fires before as a warm-up. The figure is the median of three such bursts (of one for *Nodes*). The results contain the number where 50,000 would take too long. *Recur*: at a fixed rate. *Effects*: each handler inserts a row in the transaction that completes its timer. *Lag*: from due to the first line of the handler, by the client's clock, at random times. Ours fires by the database's clock, so some timers are early by the client's clock. *Bytes*: tables and indexes. *Snapshot*: a REPEATABLE READ transaction with a snapshot from before the first timer was stored. *Nodes*: schedulers with their own pools, in one JVM.
      * **Ours**: the defaults, with 8 connections per node and those of its handlers.
      * **db-scheduler**: the defaults (10 threads, every 10 s) and `reWriteBatchedInserts` on PostgreSQL; tuned, the fastest of several settings: 20 threads and `pollUsingLockAndFetch(4.0, 20.0)` (on MariaDB 50 and `pollUsingFetch(3.0, 6.0)`), every 100 ms, immediate execution.
      * **Quartz**: `JobStoreTX`, clustered, triggers of one durable job, its own script; tuned: 50 threads, triggers acquired in batches of 50 within the lock.
      * **JobRunr**: the defaults (every 15 s); tuned: every 5 s, its shortest interval, 64 workers, 5,000 scheduled jobs at a time. It has no call that schedules a list.
      * **DBOS Transact**: a delayed workflow without steps on a queue, with its defaults (it reads a queue every second); tuned: every 100 ms, 64 workflows at a time. It has no call that enqueues a list.
      * **Bare JDBC**: one INSERT for each call in autocommit mode, a JDBC batch for a list, on one table with an index by time. For effects, a transaction inserts the row of the ledger and deletes the timer. It claims and retains nothing.
      * Peers schedule with their tuned settings. A peer without a row was not measured.
      """;

  private static final String AT_ONCE = "due at once";

  private static final Figure P99_LAG =
      new Figure(POSTGRESQL, LAG, "200 a second", OURS, List.of("p99Millis"));
  private static final Figure STORED_BYTES =
      new Figure(POSTGRESQL, BYTES, "stored", OURS, List.of("bytesPerTimer"));

  /** A peer of the comparison. Some workloads were measured without tuning only. */
  private record Peer(String name, DatabaseSubject tuned, DatabaseSubject untuned) {}

  private static final List<Peer> PEERS =
      List.of(
          new Peer("db-scheduler", DB_SCHEDULER_BEST, DB_SCHEDULER),
          new Peer("Quartz", QUARTZ_BEST, QUARTZ),
          new Peer("JobRunr", JOBRUNR_BEST, JOBRUNR),
          new Peer("DBOS Transact", DBOS_BEST, DBOS));

  private final Tables tables;

  private DatabaseReport(Results results) {
    Map<String, String> titles = new LinkedHashMap<>();
    for (DatabaseSubject subject : DatabaseSubject.values()) {
      titles.put(subject.id(), subject.title());
    }
    tables = new Tables(results, titles, OURS.id());
  }

  /** Returns the page of the documentation. */
  static String page(Results results) {
    return HEAD + text(results) + HOW;
  }

  static String text(Results results) {
    return new DatabaseReport(results).text();
  }

  /** Returns the table of the README and of the page that compares schedulers. */
  static String comparison(Results results) {
    return new DatabaseReport(results).comparison();
  }

  /** A figure of one subject: the median of its rounds. */
  private record Figure(
      Server server,
      DatabaseSection section,
      String variant,
      DatabaseSubject subject,
      List<String> names) {
    Figure of(DatabaseSubject other) {
      return new Figure(server, section, variant, other, names);
    }

    Figure of(Server other) {
      return new Figure(other, section, variant, subject, names);
    }

    Figure of(String other) {
      return new Figure(server, section, other, subject, names);
    }
  }

  private static Figure rate(Server server, DatabaseSection section, String variant) {
    return new Figure(server, section, variant, OURS, List.of("perSecond"));
  }

  private String text() {
    StringBuilder text = new StringBuilder(tables.head());
    text.append("| Ratio |  | Measured |  |\n|---|---|---|---|\n");
    targets(text);
    text.append("\n");
    for (Server server : Server.values()) {
      for (DatabaseSection section : DatabaseSection.values()) {
        text.append(tables.table(section.on(server), section.form(server)));
      }
    }
    return text.toString();
  }

  private String comparison() {
    StringBuilder text = new StringBuilder("| PostgreSQL, one node, peers tuned | Timewheel |");
    PEERS.forEach(peer -> text.append(" ").append(peer.name()).append(" |"));
    text.append("\n|---|--:|").append("--:|".repeat(PEERS.size())).append("\n");
    for (String callers : List.of("1 caller", "8 callers", "64 callers")) {
      compare(text, "schedules/s, " + callers, rate(POSTGRESQL, SCHEDULE, callers));
    }
    compare(text, "fires/s, all due at once", rate(POSTGRESQL, FIRE, AT_ONCE));
    compare(text, "p99 lag at 200 timers/s, ms", P99_LAG);
    compare(text, "bytes a timer", STORED_BYTES);
    return text.toString();
  }

  private void compare(StringBuilder rows, String title, Figure ours) {
    boolean higherIsBetter = ours.section().form(ours.server()).higherIsBetter();
    double our = value(ours).orElseThrow();
    boolean lost = false;
    StringBuilder others = new StringBuilder();
    for (Peer peer : PEERS) {
      OptionalDouble tuned = value(ours.of(peer.tuned()));
      OptionalDouble other = tuned.isPresent() ? tuned : value(ours.of(peer.untuned()));
      if (other.isEmpty()) { // too slow for the measurement
        others.append(" – |");
        continue;
      }
      others.append(" ").append(Tables.number(other.getAsDouble())).append(" |");
      lost |= higherIsBetter == other.getAsDouble() > our;
    }
    rows.append(
        "| %s | %s%s |%s\n"
            .formatted(title, Tables.number(our), lost ? ", **we lose**" : "", others));
  }

  private void targets(StringBuilder rows) {
    String than = ", of db-scheduler tuned";
    schedule(rows, POSTGRESQL, "1 caller", 1.1);
    schedule(rows, POSTGRESQL, "8 callers", 1.2);
    schedule(rows, POSTGRESQL, "64 callers", 3.3);
    schedule(rows, POSTGRESQL, "lists of 1,000", 1);
    schedule(rows, MARIADB, "8 callers", 1);
    schedule(rows, MARIADB, "lists of 1,000", 0.8);
    Figure nodes = rate(POSTGRESQL, NODES_SCHEDULE, "4 nodes");
    atLeast(rows, "schedules/s, 64 callers on 4 nodes, of 1 node", 0.8, nodes, nodes.of("1 node"));

    Figure fires = rate(POSTGRESQL, FIRE, AT_ONCE);
    atLeast(rows, "fires/s" + than, 4, fires, fires.of(DB_SCHEDULER_BEST));
    atLeast(rows, "MariaDB: fires/s, of PostgreSQL", 0.7, fires.of(MARIADB), fires);
    Figure runs = rate(POSTGRESQL, RECUR, "40,000 every second");
    atLeast(rows, "runs/s of recurring timers, of fires/s", 0.8, runs, fires);
    Figure effects = rate(POSTGRESQL, EFFECTS, AT_ONCE);
    atLeast(
        rows,
        "effects/s, one by one, of bare JDBC",
        0.7,
        effects.of(DatabaseSubject.EFFECTS),
        effects.of(BARE));
    atLeast(
        rows,
        "effects/s, batches of 500, of bare JDBC",
        0.45,
        effects.of(EFFECTS_BATCH),
        effects.of(BARE_BATCH));
    atLeast(
        rows,
        "effects/s, batches of 500 as JDBC batches, of fires/s",
        0.8,
        effects.of(EFFECTS_JDBC_BATCH),
        fires);

    atMost(rows, "lag at 200 a second, p99" + than, 0.1, P99_LAG, P99_LAG.of(DB_SCHEDULER_BEST));
    Figure cores =
        new Figure(POSTGRESQL, LAG, "200 a second", OURS, List.of("serverCores", "clientCores"));
    atMost(rows, "cores at 200 a second" + than, 1, cores, cores.of(DB_SCHEDULER_BEST));
    atMost(
        rows, "bytes a timer, of db-scheduler", 1.35, STORED_BYTES, STORED_BYTES.of(DB_SCHEDULER));
    Figure snapshotLag = new Figure(POSTGRESQL, SNAPSHOT, "held open", OURS, List.of("p99Millis"));
    atMost(
        rows,
        "lag with an old snapshot, p99, of without",
        2,
        snapshotLag,
        snapshotLag.of("without"));
    Figure snapshotCores =
        new Figure(POSTGRESQL, SNAPSHOT, "held open", OURS, List.of("serverCores"));
    atMost(
        rows,
        "server's cores with an old snapshot, of without",
        2,
        snapshotCores,
        snapshotCores.of("without"));
  }

  private void schedule(StringBuilder rows, Server server, String variant, double target) {
    Figure ours = rate(server, SCHEDULE, variant);
    atLeast(
        rows,
        (server == MARIADB ? "MariaDB: " : "")
            + "schedules/s, "
            + variant
            + ", of db-scheduler tuned",
        target,
        ours,
        ours.of(DB_SCHEDULER_BEST));
  }

  private void atLeast(StringBuilder rows, String name, double target, Figure one, Figure other) {
    Tables.atLeast(rows, name, target, ratio(one, other));
  }

  private void atMost(StringBuilder rows, String name, double target, Figure one, Figure other) {
    Tables.atMost(rows, name, target, ratio(one, other));
  }

  private OptionalDouble ratio(Figure one, Figure other) {
    OptionalDouble numerator = value(one);
    OptionalDouble denominator = value(other);
    return numerator.isPresent() && denominator.isPresent()
        ? OptionalDouble.of(numerator.getAsDouble() / denominator.getAsDouble())
        : OptionalDouble.empty();
  }

  /** Returns the sum of the figures with these names. */
  private OptionalDouble value(Figure figure) {
    double sum = 0;
    for (String name : figure.names()) {
      OptionalDouble value =
          tables.figure(
              figure.section().on(figure.server()), figure.variant(), figure.subject().id(), name);
      if (value.isEmpty()) {
        return value;
      }
      sum += value.getAsDouble();
    }
    return OptionalDouble.of(sum);
  }
}
