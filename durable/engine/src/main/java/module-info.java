// SPDX-License-Identifier: Apache-2.0

/** Schedules durable timers, which are stored and fire at least once. */
@SuppressWarnings("module") // the module rocksdb is compiled after this one
module io.timewheel.durable {
  requires transitive io.timewheel.core;
  requires static jdk.jfr; // without it there are no events
  requires static org.jspecify;

  exports io.timewheel.durable;
  exports io.timewheel.durable.model;
  exports io.timewheel.durable.spi;
  exports io.timewheel.durable.spi.batch;
  exports io.timewheel.durable.spi.maintenance;
  exports io.timewheel.durable.spi.record;
  exports io.timewheel.durable.spi.format to
      io.timewheel.durable.jdbc,
      io.timewheel.durable.rocksdb;
  exports io.timewheel.durable.internal.time to
      io.timewheel.durable.rocksdb; // an import checks recurrences
}
