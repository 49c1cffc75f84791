// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import io.timewheel.durable.benchmarks.ServerPlace.Server;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalDouble;

/** The page of a shared database, in Markdown. */
final class DatabaseReport {
  private static final String HEAD =
      """
      # Durable timers on a shared database, measured

      Generated from `durable/benchmarks/results/database.json`; do not edit. To measure again and replace it:

      ```
      durable/benchmarks/database --write
      ```

      `--help` lists the options, and how to measure one of them alone. Absolute figures are those of one machine, whose processors the server and its clients share: compare within a table only. \
      Bare SQL on the same tables is measured in [database.md](database.md).

      """;

  private static final String HOW =
      """
      ## How

      * A JVM and a server of its own for each measurement, every second round backwards, medians (least–greatest) where there was more than one round. `×` is how many times better our first row is; below 1 it is worse. CPU is that of the server + that of the client, for each timer or in cores.
      * PostgreSQL and MariaDB in their own durability; `shared_buffers` and InnoDB's pool 512 MB, `max_wal_size` 8 GB, InnoDB's log 2 GB, so that no checkpoint falls into what is measured.
      * A timer has an id of 16 characters and a payload of 64 bytes. *Schedule*: due within the next month. *Fire*: all due at one moment, a handler that does nothing, until the last is recorded as done (JobRunr keeps those, ours for a day, the others delete them); as many have fired before, as often as it took to fill six seconds. How many, where there is no time for 50,000, is among the parameters of the results. *Recur*: at a fixed rate. *Effects*: each handler inserts a row in the transaction that finishes its timer. *Lag*: from due to the first line of the handler, by the client's clock, times at random; ours fires by the database's clock, which is why some are early by it. *Bytes*: tables and indexes. *Snapshot*: a REPEATABLE READ transaction that has read, from before the first timer was stored. *Nodes*: timers with pools of their own, in one JVM.
      * **Ours**: as it comes, with 8 connections a node and those of its handlers.
      * **db-scheduler**: as it comes (10 threads, every 10 s), but for `reWriteBatchedInserts` on PostgreSQL; tuned, the fastest of those tried: 20 threads and `pollUsingLockAndFetch(4.0, 20.0)` (on MariaDB 50 and `pollUsingFetch(3.0, 6.0)`), every 100 ms, immediate execution.
      * **Quartz**: `JobStoreTX`, clustered, triggers of one durable job, its own script; tuned: 50 threads, triggers acquired in batches of 50 within the lock.
      * **JobRunr**: as it comes (every 15 s); tuned: every 5 s, the least it takes, 64 workers, 5,000 scheduled jobs at a time. It has no call that schedules a list.
      * Peers schedule with their tuned settings. What a peer has no row for was not measured.
      """;

  private static final double OF_MARIADB = 0.7;

  private final Tables tables;

  private DatabaseReport(Results results) {
    Map<String, String> titles = new LinkedHashMap<>();
    for (DatabaseSubject subject : DatabaseSubject.values()) {
      titles.put(subject.id(), subject.title());
    }
    tables = new Tables(results, titles, DatabaseSubject.OURS.id());
  }

  /** The page of the documentation. */
  static String page(Results results) {
    return HEAD + text(results) + HOW;
  }

  static String text(Results results) {
    return new DatabaseReport(results).text();
  }

  private String text() {
    StringBuilder text = new StringBuilder(tables.head());
    text.append("| Target |  | Measured |  |\n|---|---|---|---|\n");
    rates(text, Server.POSTGRESQL, 1);
    postgresql(text);
    rates(text, Server.MARIADB, OF_MARIADB);
    text.append("\n");
    for (Server server : Server.values()) {
      for (DatabaseSection section : DatabaseSection.values()) {
        text.append(tables.table(section.on(server), section.form(server)));
      }
    }
    return text.toString();
  }

  private OptionalDouble figure(
      DatabaseSection section,
      Server server,
      String variant,
      DatabaseSubject subject,
      String name) {
    return tables.figure(section.on(server), variant, subject.id(), name);
  }

  private void rates(StringBuilder rows, Server server, double factor) {
    DatabaseSubject ours = DatabaseSubject.OURS;
    DatabaseSection schedule = DatabaseSection.SCHEDULE;
    rate(rows, "schedules/s, 8 callers", 13_000, factor, schedule, server, "8 callers", ours);
    rate(rows, "schedules/s, 64 callers", 35_000, factor, schedule, server, "64 callers", ours);
    rate(rows, "schedules/s, asynchronous", 70_000, factor, schedule, server, "asynchronous", ours);
    rate(rows, "schedules/s, in lists", 126_000, factor, schedule, server, "lists of 1,000", ours);
    rate(rows, "fires/s", 40_000, factor, DatabaseSection.FIRE, server, "due at once", ours);
    rate(
        rows,
        "occurrences/s",
        35_000,
        factor,
        DatabaseSection.RECUR,
        server,
        "40,000 every second",
        ours);
    effects(rows, "one by one", 6_000, factor, server, DatabaseSubject.EFFECTS);
    effects(rows, "in batches", 30_000, factor, server, DatabaseSubject.EFFECTS_BATCH);
    effects(rows, "as JDBC batches", 70_000, factor, server, DatabaseSubject.EFFECTS_JDBC_BATCH);
  }

  private void effects(
      StringBuilder rows,
      String how,
      double target,
      double factor,
      Server server,
      DatabaseSubject subject) {
    String name = "effects/s, " + how;
    rate(rows, name, target, factor, DatabaseSection.EFFECTS, server, "due at once", subject);
  }

  private void rate(
      StringBuilder rows,
      String name,
      double target,
      double factor,
      DatabaseSection section,
      Server server,
      String variant,
      DatabaseSubject subject) {
    Tables.atLeast(
        rows,
        server == Server.POSTGRESQL ? name : "MariaDB: " + name,
        target * factor,
        figure(section, server, variant, subject, "perSecond"));
  }

  private void postgresql(StringBuilder rows) {
    Tables.atMost(
        rows,
        "server's CPU for a fire, µs",
        30,
        ours(DatabaseSection.FIRE, "due at once", "serverMicros"));
    for (String variant : new String[] {"200 a second", "2,000 a second"}) {
      Tables.atMost(
          rows,
          "lag at " + variant + ", p99, ms",
          5,
          ours(DatabaseSection.LAG, variant, "p99Millis"));
    }
    Tables.atMost(
        rows,
        "cores at 200 a second, server and client",
        0.07,
        sum(
            ours(DatabaseSection.LAG, "200 a second", "serverCores"),
            ours(DatabaseSection.LAG, "200 a second", "clientCores")));
    for (String figure : new String[] {"p99Millis", "serverCores"}) {
      Tables.atMost(
          rows,
          "with an old snapshot, "
              + (figure.equals("p99Millis") ? "lag p99" : "cores of the server")
              + ", times that without",
          2,
          ratio(
              ours(DatabaseSection.SNAPSHOT, "held open", figure),
              ours(DatabaseSection.SNAPSHOT, "without", figure)));
    }
  }

  private OptionalDouble ours(DatabaseSection section, String variant, String name) {
    return figure(section, Server.POSTGRESQL, variant, DatabaseSubject.OURS, name);
  }

  private static OptionalDouble sum(OptionalDouble one, OptionalDouble other) {
    return one.isPresent() && other.isPresent()
        ? OptionalDouble.of(one.getAsDouble() + other.getAsDouble())
        : OptionalDouble.empty();
  }

  private static OptionalDouble ratio(OptionalDouble one, OptionalDouble other) {
    return one.isPresent() && other.isPresent()
        ? OptionalDouble.of(one.getAsDouble() / other.getAsDouble())
        : OptionalDouble.empty();
  }
}
