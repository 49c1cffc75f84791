// SPDX-License-Identifier: Apache-2.0

/**
 * Decides batches of changes for every store: records and facts in, outcomes and a delta out.
 *
 * <p>A store reads a {@link io.timewheel.durable.spi.batch.Cell} for each timer of a batch. The
 * {@link io.timewheel.durable.spi.batch.Decision} applies the changes to the cells, and collects
 * the counters and answers that the store writes together with the changed records. Nothing here
 * reads a clock, does I/O or takes a lock.
 */
@NullMarked
package io.timewheel.durable.spi.batch;

import org.jspecify.annotations.NullMarked;
