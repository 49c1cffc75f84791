// SPDX-License-Identifier: Apache-2.0

/**
 * Write batches: changes of many callers that one transaction commits. The entry is {@link
 * io.timewheel.durable.jdbc.internal.write.BatchWriter}, which commits them. {@code WriteBatch} is
 * one commit, and {@code WriteTry} one try of it, with its {@code BatchedTimer}s and its {@code
 * BatchFacts}. {@code CellReads} reads, locks or assumes their records, {@code TimerWrites} writes
 * the changed ones, and {@code Fence} verifies the epochs of their shards. {@code Novelty} and
 * {@code HeldTimers} retain findings of earlier batches; {@code WriteContext} contains the parts
 * that all batches share. {@code DirectWrites} schedules new timers without a batch, in one round
 * trip. {@code QueueLeases} claims ready timers for consumers and handlers.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.write;

import org.jspecify.annotations.NullMarked;
