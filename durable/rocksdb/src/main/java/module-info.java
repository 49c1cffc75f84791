// SPDX-License-Identifier: Apache-2.0

/** Stores durable timers in a directory, in an embedded RocksDB. */
@SuppressWarnings("requires-automatic") // RocksDB's jar has no module of its own
module io.timewheel.durable.rocksdb {
  requires transitive io.timewheel.durable;
  requires rocksdbjni;
  requires tools.jackson.core;
  requires static org.jspecify;

  exports io.timewheel.durable.rocksdb;
}
