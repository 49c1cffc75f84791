// SPDX-License-Identifier: Apache-2.0

/** Durable timers: safe in a store when they are acknowledged, fired at least once. */
@SuppressWarnings("module") // the sister module is not there when this one is compiled
module io.timewheel.durable {
  requires transitive io.timewheel.core;
  requires static jdk.jfr; // its events are left out where it is missing
  requires static org.jspecify;

  exports io.timewheel.durable;
  exports io.timewheel.durable.model;
  exports io.timewheel.durable.spi;
  exports io.timewheel.durable.internal.time to
      io.timewheel.durable.rocksdb; // an import checks recurrences
}
