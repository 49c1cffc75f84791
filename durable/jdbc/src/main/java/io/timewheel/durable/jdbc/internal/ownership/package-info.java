// SPDX-License-Identifier: Apache-2.0

/**
 * Node leases, and the shards that a node owns. The entry is {@link
 * io.timewheel.durable.jdbc.internal.ownership.Ownership}, with its statements in {@code
 * OwnershipRows}. {@code Epoch} identifies the owner of a shard, {@code DatabaseTime} tracks the
 * clock of the database, and {@code ClusterPauses} applies pauses on all nodes. {@code
 * LeaseThreads} runs both {@code Ownership} and {@code ClusterPauses}.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.ownership;

import org.jspecify.annotations.NullMarked;
