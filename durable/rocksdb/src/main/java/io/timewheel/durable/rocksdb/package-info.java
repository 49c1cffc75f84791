// SPDX-License-Identifier: Apache-2.0

/**
 * The store of durable timers in a directory: RocksDB, embedded in the process. Its entry is {@link
 * io.timewheel.durable.rocksdb.RocksTimerStore}, which opens the database, passes each call on, and
 * opens the database again after a failure.
 *
 * <p>The packages below, in the order in which to read them; each knows only those before it:
 *
 * <ol>
 *   <li>{@code internal.format}: keys and records as bytes
 *   <li>{@code internal.file}: the directory, the database in it, and its failures
 *   <li>{@code internal.store}: reads and writes of timers, their indexes and counts
 *   <li>{@code internal.transfer}: timers as lines of JSON
 *   <li>{@code internal.maintenance}: checks, repairs and exports of the whole database
 * </ol>
 */
@NullMarked
package io.timewheel.durable.rocksdb;

import org.jspecify.annotations.NullMarked;
