// SPDX-License-Identifier: Apache-2.0

/** Stores durable timers in a database that any number of nodes share. */
@SuppressWarnings("requires-automatic") // the driver's jar has no module of its own
module io.timewheel.durable.jdbc {
  requires transitive io.timewheel.durable;
  requires transitive java.sql;
  requires static org.postgresql.jdbc; // only stores in PostgreSQL need it
  requires static org.checkerframework.checker.qual; // the driver's annotations
  requires static org.jspecify;

  exports io.timewheel.durable.jdbc;
}
