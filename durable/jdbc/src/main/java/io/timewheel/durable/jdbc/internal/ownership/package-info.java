// SPDX-License-Identifier: Apache-2.0

/**
 * Node leases, and the shards that a node owns. The entry is {@link
 * io.timewheel.durable.jdbc.internal.ownership.Ownership}, which plans the shards, with {@code
 * NodeLease} and the statements in {@code OwnershipRows}. {@code Epoch} identifies the owner of a
 * shard, {@code DatabaseClock} estimates the time of the database from a {@code DatabaseTime}, and
 * {@code ClusterPauses} applies pauses on all nodes. {@code LeaseThreads} runs both {@code
 * Ownership} and {@code ClusterPauses}.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.ownership;

import org.jspecify.annotations.NullMarked;
