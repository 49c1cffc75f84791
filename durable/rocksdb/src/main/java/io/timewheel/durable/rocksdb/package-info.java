// SPDX-License-Identifier: Apache-2.0

/** The store of durable timers in a directory: RocksDB, embedded in the process. */
@NullMarked
package io.timewheel.durable.rocksdb;

import org.jspecify.annotations.NullMarked;
