// SPDX-License-Identifier: Apache-2.0

/**
 * Reads and writes of timers. The entry is {@link
 * io.timewheel.durable.rocksdb.internal.store.Writer}, the only one that writes; {@link
 * io.timewheel.durable.rocksdb.internal.store.Reader} reads meanwhile. {@code Rows} makes the
 * entries of a record in each family, {@code Counts} adds up states, {@code FrontBounds} keeps
 * where each index begins, {@code Histogram} counts timers by their time, and {@code Purge} deletes
 * finished timers.
 */
@NullMarked
package io.timewheel.durable.rocksdb.internal.store;

import org.jspecify.annotations.NullMarked;
