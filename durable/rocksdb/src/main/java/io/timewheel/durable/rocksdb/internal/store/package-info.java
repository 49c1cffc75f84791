// SPDX-License-Identifier: Apache-2.0

/**
 * Reads and writes of timers. The entry is {@link
 * io.timewheel.durable.rocksdb.internal.store.Writer}, the only class that writes. {@link
 * io.timewheel.durable.rocksdb.internal.store.Reader} reads concurrently. {@code Cells} reads the
 * timers of a batch, {@code Answers} keeps the answers of requests, and {@code ReadyIndex} finds
 * the timers that consumers may claim. {@code Rows} writes the entries of a record in each family,
 * and {@code Counts} counts timers by state. {@code FrontBounds} tracks where each index begins,
 * {@code Histogram} counts timers by their time, and {@code Purge} deletes finished timers.
 */
@NullMarked
package io.timewheel.durable.rocksdb.internal.store;

import org.jspecify.annotations.NullMarked;
