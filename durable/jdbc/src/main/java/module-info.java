// SPDX-License-Identifier: Apache-2.0

/** The store of durable timers in a database that any number of nodes share. */
module io.timewheel.durable.jdbc {
  requires transitive io.timewheel.durable;
  requires transitive java.sql;
  requires static org.jspecify;

  exports io.timewheel.durable.jdbc;
}
