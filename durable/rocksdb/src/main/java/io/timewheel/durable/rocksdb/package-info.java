// SPDX-License-Identifier: Apache-2.0

/**
 * Stores durable timers in a directory, in an embedded RocksDB. The entry is {@link
 * io.timewheel.durable.rocksdb.RocksTimerStore}, which opens the database, delegates to it, and
 * reopens it after a failure. {@link io.timewheel.durable.rocksdb.TimerLines} exports and imports
 * the timers of any store.
 *
 * <p>The packages, in reading order; each depends only on those before it:
 *
 * <ol>
 *   <li>{@code internal.format}: encoding of keys and records
 *   <li>{@code internal.file}: the directory, the database in it, and its failures
 *   <li>{@code internal.store}: reads and writes of timers, their indexes and counters
 *   <li>{@code internal.transfer}: timers as lines of JSON
 *   <li>{@code internal.maintenance}: backup, verification, repair and copies of the whole database
 * </ol>
 */
@NullMarked
package io.timewheel.durable.rocksdb;

import org.jspecify.annotations.NullMarked;
