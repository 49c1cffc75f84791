// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/** Writes the tables of results, in Markdown. */
final class Report {
  private static final String HEAD =
      """
      # Durable timers, measured

      Generated from `benchmarks/durable/results/latest.json`; do not edit. To measure again and replace it:

      ```
      benchmarks/durable/run --out benchmarks/durable/results/latest.json --write
      ```

      `--quick` is one short round, `--help` lists the options. Absolute figures hold for one machine and its disk: \
      compare within a table only.

      """;

  private static final String HOW =
      """
      ## Where it loses, and why

      * **Callers that wait one by one.** A synced write waits for the disk, and each caller stores one timer per sync. Peers on H2 do not wait for the disk. With few callers and a slow disk, they are faster. Use `scheduleAll` or `scheduleAsync`, or another mode.
      * **One thread commits.** RocksDB alone shares batches among its callers. Each firing needs two commits: one for the claim and one for the completion. The thread is busy while a quarter of the processors is idle, and spends more than half of its time in RocksDB. A slow machine affects this figure first: recordings of this page had 37,000 to 53,000 fires/s. A second thread fires a tenth more, and slows callers by up to half: [ADR 0010](../adr/0010-durable-timers.md).

      ## How

      * Each measurement has its own JVM and an empty directory. Every second round runs in reverse order. Figures are medians over two rounds (least–greatest). Measurements of other schedulers, SQLite, MVStore, 10 M timers and churn have one round. `×` is the ratio by which our first row is better, compared round by round; below 1 it is worse.
      * A timer has an ID of 16 characters and a payload of 64 bytes. Latencies are those of the call, until it returns after the commit.
      * **Ours** in its three modes: synced (the default: a call returns once the timer is on the disk), every 100 ms, and left to the operating system. All other settings are the defaults.
      * **Quartz**: `JobStoreTX`, triggers of one durable job, 32 threads, `batchTriggerAcquisitionMaxCount` 32, `acquireTriggersWithinLock`, HikariCP, its script for H2 with the indexes of that for PostgreSQL.
      * **db-scheduler**: 32 threads, a poll every 50 ms and after half of each batch of 192, immediate start of due tasks, HikariCP, its table and indexes. Its faster mode, lock-and-fetch, does not support H2.
      * Both on H2 with `WRITE_DELAY=0`: a commit is written before it returns, but H2 never waits for the disk. Their commits survive the process, but not a power cut. Only our mode of the operating system promises as little.
      * **Bare stores** write and sync the same batches, and do nothing else. RocksDB stores keys and values as long as ours. SQLite and MVStore store a row and an index by time.
      * *Schedule*: due within the next month. *Fire*: all due at one moment, with an empty handler. *Lag*: from the due time to the first line of the handler, at random times. *Reopen*: in a JVM with `-Xmx256m`, until the call returns and until the first timer that is scheduled then fires. *Window*: heap in addition to that of a thousand timers. *Churn*: 10,000 timers/s for ten seconds later, of which nine of ten are cancelled after five seconds.
      """;

  private final Tables tables;

  private Report(Results results) {
    Map<String, String> titles = new LinkedHashMap<>();
    for (SubjectKind subject : SubjectKind.values()) {
      titles.put(subject.id(), subject.title());
    }
    tables = new Tables(results, titles, SubjectKind.OURS.id());
  }

  /** Returns the page of the documentation. */
  static String page(Results results) {
    return HEAD + text(results) + HOW;
  }

  static String text(Results results) {
    return new Report(results).text();
  }

  private String text() {
    StringBuilder text = new StringBuilder();
    text.append(tables.head());
    text.append(targets());
    for (Workload workload : Workload.values()) {
      if (workload != Workload.ASYNC && workload != Workload.RECUR) {
        text.append(tables.table(workload.id(), form(workload)));
      }
    }
    return text.toString();
  }

  // Targets

  private String targets() {
    StringBuilder rows = new StringBuilder("| Target |  | Measured |  |\n|---|---|---|---|\n");
    String ours = SubjectKind.OURS.id();
    schedules(rows);
    for (String variant : List.of("1 caller, batches of 1,000", "8 callers, batches of 1,000")) {
      Tables.atLeast(
          rows,
          "of RocksDB's own batches, " + variant.replaceFirst(",.*", ""),
          0.6,
          Tables.median(
              tables.ratios("schedule", variant, ours, SubjectKind.ROCKSDB.id(), "perSecond")));
    }
    Tables.atLeast(
        rows, "fires/s", 50_000, tables.figure("fire", "due at once", ours, "perSecond"));
    Tables.atMost(
        rows,
        "lag at 5,000/s, p99, ms",
        20,
        tables.figure("lag", "5,000 a second", ours, "p99Millis"));
    Tables.atMost(
        rows,
        "10 M reopened, s",
        5,
        Tables.scaled(tables.figure("reopen", "10 M stored", ours, "openMillis"), 1e-3));
    Tables.atMost(
        rows,
        "10 M reopened, heap, MB",
        256,
        tables.figure("reopen", "10 M stored", ours, "heapMegabytes"));
    return rows + "\n";
  }

  /**
   * Adds the targets for schedules. Waiting callers and batches are different loads, so each has
   * its own target.
   */
  private void schedules(StringBuilder rows) {
    for (String variant :
        List.of("64 callers", "1 caller, batches of 1,000", "8 callers, batches of 1,000")) {
      Tables.atLeast(rows, "durable schedules/s, synced, " + variant, 100_000, perSecond(variant));
    }
  }

  private OptionalDouble perSecond(String variant) {
    return tables.figure("schedule", variant, SubjectKind.OURS.id(), "perSecond");
  }

  // Tables

  private static Tables.Form form(Workload workload) {
    return switch (workload) {
      case SCHEDULE ->
          new Tables.Form(
              "Schedule: timers/s, committed",
              true,
              "perSecond",
              List.of(
                  "{perSecond}/s",
                  "{cpuMicros} µs of CPU each",
                  "p50 {p50Millis} ms, p99 {p99Millis} ms"));
      case FIRE ->
          new Tables.Form(
              "Fire", true, "perSecond", List.of("{perSecond}/s", "{cpuMicros} µs of CPU each"));
      case LAG ->
          new Tables.Form(
              "Lag of due timers",
              false,
              "p99Millis",
              List.of(
                  "p99 {p99Millis} ms",
                  "p50 {p50Millis} ms, max {maxMillis} ms",
                  "unfired: {unfired}, early: {early}"));
      case ASYNC, RECUR -> throw new IllegalArgumentException(workload + " has no table here");
      case FILL -> new Tables.Form("Fill", true, "perSecond", List.of("{perSecond}/s"));
      case REOPEN ->
          new Tables.Form(
              "Reopen",
              false,
              "openMillis",
              List.of(
                  "open {openMillis} ms, first fired {firedMillis} ms",
                  "heap {heapMegabytes} MB, resident {residentMegabytes} MB",
                  "disk {diskBytesPerTimer} bytes a timer"));
      case WINDOW ->
          new Tables.Form(
              "Window: heap of waiting timers",
              false,
              "heapBytesPerTimer",
              List.of("{heapBytesPerTimer} bytes a timer"));
      case CHURN ->
          new Tables.Form(
              "Churn",
              false,
              "debtMegabytesMax",
              List.of(
                  "{perSecond}/s, {firedOfExpected} of the expected timers fired",
                  "compaction debt: max {debtMegabytesMax} MB, end {debtMegabytesEnd} MB",
                  "files: max {diskMegabytesMax} MB, end {diskMegabytesEnd} MB"));
    };
  }
}
