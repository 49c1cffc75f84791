// SPDX-License-Identifier: Apache-2.0

/** The store of durable timers in a directory: RocksDB, embedded in the process. */
@SuppressWarnings("requires-automatic") // RocksDB's jar has no module of its own
module io.timewheel.durable.rocksdb {
  requires transitive io.timewheel.durable;
  requires rocksdbjni;
  requires tools.jackson.core;
  requires static org.jspecify;

  exports io.timewheel.durable.rocksdb;
}
