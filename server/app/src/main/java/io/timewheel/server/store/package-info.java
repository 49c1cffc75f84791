// SPDX-License-Identifier: Apache-2.0

/**
 * The location of the timers. The entry is {@link io.timewheel.server.store.StoreLocation}, a
 * directory or a {@code SharedDatabase}, which opens the store. {@code StoreReads} limits the reads
 * of requests, and {@code HistogramScans} shares the reads of histograms. {@code StoreCopies} names
 * and deletes copies of the directory, and {@code TemporaryFiles} deletes files at the end of the
 * process.
 */
@NullMarked
package io.timewheel.server.store;

import org.jspecify.annotations.NullMarked;
