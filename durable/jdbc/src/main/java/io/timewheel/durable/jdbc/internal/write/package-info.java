// SPDX-License-Identifier: Apache-2.0

/**
 * Write batches: changes of many callers that one transaction commits. The entry is {@link
 * io.timewheel.durable.jdbc.internal.write.BatchWriter}, which commits them. {@code WriteBatch} is
 * the protocol of one batch, with its {@code BatchedTimer}s and its {@code BatchFacts}. {@code
 * TimerWrites} writes the changed timers, and {@code Fence} verifies the epochs of their shards.
 * {@code Novelty} and {@code HeldTimers} retain findings of earlier batches. {@code DirectWrites}
 * schedules new timers without a batch, in one round trip. {@code QueueLeases} claims ready timers
 * for consumers.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.write;

import org.jspecify.annotations.NullMarked;
