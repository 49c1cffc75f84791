// SPDX-License-Identifier: Apache-2.0

/**
 * The location of the timers. The entry is {@link io.timewheel.server.store.StoreLocation}, a
 * directory or a {@code SharedDatabase}, which opens the store. {@code StoreReads} limits the reads
 * of requests, {@code HistogramScans} shares reads that count, {@code StoreCopies} names and
 * deletes copies of the directory, and {@code TemporaryFiles} deletes files with the process.
 */
@NullMarked
package io.timewheel.server.store;

import org.jspecify.annotations.NullMarked;
