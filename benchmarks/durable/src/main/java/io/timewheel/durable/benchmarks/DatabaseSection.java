// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.util.List;
import java.util.Locale;

/** The tables of a shared database. */
@SuppressWarnings("ImmutableEnumChecker") // a form is a record of immutable lists
enum DatabaseSection {
  SCHEDULE(
      "Schedule: timers/s, committed",
      true,
      "perSecond",
      "{perSecond}/s",
      "{serverMicros} + {cpuMicros} µs of CPU each",
      "p50 {p50Millis} ms, p99 {p99Millis} ms"),
  FIRE(
      "Fire: timers/s, recorded",
      true,
      "perSecond",
      "{perSecond}/s",
      "{serverMicros} + {cpuMicros} µs of CPU each"),
  RECUR(
      "Recur: occurrences/s, recorded",
      true,
      "perSecond",
      "{perSecond}/s of {offeredPerSecond}",
      "{serverMicros} + {cpuMicros} µs of CPU each"),
  EFFECTS(
      "Effects that happen exactly once: rows/s in a ledger",
      true,
      "perSecond",
      "{perSecond}/s",
      "{serverMicros} + {cpuMicros} µs of CPU each"),
  LAG(
      "Lag of due timers",
      false,
      "p99Millis",
      "p99 {p99Millis} ms",
      "p50 {p50Millis} ms, max {maxMillis} ms",
      "{serverCores} + {clientCores} cores",
      "unfired: {unfired}, early: {early}"),
  BYTES("Bytes", false, "bytesPerTimer", "{bytesPerTimer} bytes a timer"),
  SNAPSHOT(
      "An old snapshot held open: lag at 2,000 a second",
      false,
      "p99Millis",
      "p99 {p99Millis} ms",
      "p50 {p50Millis} ms, max {maxMillis} ms",
      "{serverCores} + {clientCores} cores"),
  NODES_FIRE(
      "Nodes: 50,000 due at once",
      true,
      "perSecond",
      "{perSecond}/s",
      "{serverMicros} + {cpuMicros} µs of CPU each"),
  NODES_SCHEDULE(
      "Nodes: schedules by 64 callers",
      true,
      "perSecond",
      "{perSecond}/s",
      "{serverMicros} + {cpuMicros} µs of CPU each");

  private final Tables.Form form;

  DatabaseSection(String heading, boolean higherIsBetter, String primary, String... lines) {
    form = new Tables.Form(heading, higherIsBetter, primary, List.of(lines));
  }

  String id() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Returns the name of the workload among results. */
  String on(ServerPlace.Server server) {
    return server == ServerPlace.Server.POSTGRESQL ? id() : server.id() + "-" + id();
  }

  Tables.Form form(ServerPlace.Server server) {
    return server == ServerPlace.Server.POSTGRESQL
        ? form
        : new Tables.Form(
            "MariaDB: " + form.heading(), form.higherIsBetter(), form.primary(), form.lines());
  }
}
